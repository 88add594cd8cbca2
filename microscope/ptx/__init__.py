"""PTX instructions in the interpreter: asynchronous copies and products, made to show bugs.

=============  ===============================================================================
file           what it holds
=============  ===============================================================================
`clocks`       who knows what has happened, and who has touched each word of shared memory last
`blocks`       shared memory by address, and the queues of a block's warps
`barriers`     mbarriers and named barriers
`copies`       ``cp.async``, and boxes by the TMA unit
`tensor_maps`  what the TMA unit knows of a matrix
`addresses`    arrays' addresses, and accesses through them
`fragments`    ``ldmatrix``, ``stmatrix``, ``mma``
`products`     ``wgmma``
`clusters`     ranks, barriers of clusters, ``setmaxnreg``
`arithmetic`   packed conversions and the like
`schedule`     who runs when, and when what was asked for happens
`timeline`     what happened when, for a picture
=============  ===============================================================================

A kernel names an instruction by an object with a ``name`` ("ptx.mbarrier_init"), the kinds of its
operands in ``takes``, those of its results in ``gives``, and what was chosen of a family in
``choices``. Kernels that use any but `arithmetic` run warp by warp, one cluster at a time.
"""

from __future__ import annotations

import ast

import numpy as np

from .. import values
from ..errors import Unsupported
from ..memory import Array
from . import addresses, arithmetic, barriers, clusters, copies, fragments, products
from .tensor_maps import TensorMap

__all__ = ["TensorMap"]

PREFIX = "ptx."
FUNCTIONS = {
    **addresses.FUNCTIONS,
    **arithmetic.FUNCTIONS,
    **barriers.FUNCTIONS,
    **clusters.FUNCTIONS,
    **copies.FUNCTIONS,
    **fragments.FUNCTIONS,
    **products.FUNCTIONS,
}
#: Instructions that any array knows how to do, their arguments not of one kind.
OF_ARRAYS = {"store_pair": 5}
WAITS = {**barriers.WAITS, **clusters.WAITS, **products.WAITS}


def is_instruction(target) -> bool:
    """Say whether a kernel calls a PTX instruction here."""
    name = getattr(target, "name", None)
    return isinstance(name, str) and name.startswith(PREFIX)


def waits(target) -> bool:
    """Say whether it may have to wait for others."""
    return is_instruction(target) and target.name.removeprefix(PREFIX) in WAITS


def is_asynchronous(target) -> bool:
    """Say whether a kernel with it runs warp by warp."""
    if not is_instruction(target):
        return False
    name = target.name.removeprefix(PREFIX)
    return name not in arithmetic.FUNCTIONS and name not in OF_ARRAYS


def call(run, target, n: ast.Call, m):
    """Run an instruction that does not wait."""
    name = target.name.removeprefix(PREFIX)
    if name in OF_ARRAYS:
        return FUNCTIONS[name](run, n, m, *run.exactly(n, m, OF_ARRAYS[name]))
    name, arguments = _prepared(run, target, n, m)
    return FUNCTIONS[name](run, n, m, *arguments, **target.choices)


def infer(run, target, n: ast.Call, m):
    """Numbers that stand for the types of an instruction's results; its literals are checked."""
    if target.name.removeprefix(PREFIX) in OF_ARRAYS:
        return call(run, target, n, m)
    _, arguments = _prepared(run, target, n, m)
    if target.check is not None:
        given = zip(target.takes.items(), arguments, strict=True)
        target.check(**{key: v for (key, kind), v in given if _is_literal(kind)})
    results = [values.sample(np.dtype(kind.name)) for kind in target.gives]
    return tuple(results) if len(results) > 1 else [*results, None][0]


def wait(run, target, n: ast.Call, m):
    """Run an instruction that may wait (a generator)."""
    name, arguments = _prepared(run, target, n, m)
    yield from WAITS[name](run, n, m, *arguments, **target.choices)


def _prepared(run, target, n: ast.Call, m) -> tuple[str, list]:
    """The name of an instruction, and its arguments with the types that it takes."""
    name = target.name.removeprefix(PREFIX)
    if name not in FUNCTIONS and name not in WAITS:
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: the interpreter has no {name} yet")
    given = run.exactly(n, m, len(target.takes))
    arguments = []
    for v, (key, kind), x in zip(given, target.takes.items(), n.args, strict=True):
        dtype = np.dtype(kind.name) if getattr(kind, "letter", None) else None
        if dtype is not None:
            if not values.is_value(v) or v.dtype.kind == "c":
                raise Unsupported(n.lineno, f"{ast.unparse(n)}: {key} is a number")
            v = values.cast(dtype, v)
        elif _is_literal(kind):
            run.must_be_known(v, x)
            v = int(v)
        elif not isinstance(v, Array):
            raise Unsupported(n.lineno, f"{ast.unparse(n)}: {key} is an array")
        arguments.append(v)
    return name, arguments


def _is_literal(kind) -> bool:
    """Say whether an operand must be known when the kernel is compiled."""
    return getattr(kind, "name", None) == "literal"

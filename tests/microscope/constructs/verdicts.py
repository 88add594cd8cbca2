"""A row in the interpreter, by Numba's compiler, and on a GPU: this one or the recorded one."""

from __future__ import annotations

import hashlib
import re
import warnings
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from microscope import xoroshiro
from tests.microscope import on_gpu as recorded
from tests.microscope.cases import from_source
from tests.microscope.constructs.rows import Row
from tests.microscope.numba_compiler import compiler, one_line

NAMES = ("out", "x", "y", "k", "m", "g")
GRID, BLOCK, SIZE = (2,), (32,), 64
HEADER = """\
import cmath
import math
import operator

import numpy as np
from numpy import complex64, complex128, float16, float32, float64
from numpy import int8, int16, int32, int64, uint8, uint16, uint32, uint64
"""


@dataclass
class Verdict:
    """What Numba, or the interpreter, makes of a row.

    Attributes
    ----------
    refused : str
        Why it does not run, in one line; empty if it does.
    outputs : list of ndarray or None
        All arrays after the launch; None if no launch is recorded.
    problems : list of str
        What the microscope reports.
    """

    refused: str = ""
    outputs: list[np.ndarray] | None = None
    problems: list[str] = field(default_factory=list)


def arguments() -> list:
    """What every row is launched with: out, x, y, k, m, g, n."""
    rng = np.random.default_rng(7)
    x = rng.integers(-16, 17, SIZE) / 8 + 0.0625
    y = rng.integers(0, 16, SIZE) / 16 + 0.03125
    k = rng.integers(-3, 8, SIZE)
    m = np.arange(SIZE).reshape(8, 8) % 7
    return [
        np.zeros(SIZE),
        x.astype(np.float32),
        y.astype(np.float32),
        k.astype(np.int32),
        m.astype(np.float32),
        xoroshiro.states(SIZE, seed=3),
        SIZE,
    ]


def module_of(row: Row, backend: str):
    """The row as a module whose `cuda` is that of a backend."""
    imports = {
        "here": "from microscope import api as cuda\n",
        "numba": "import numba.cuda.random\nfrom numba import cuda\n",
    }
    text = f"{HEADER}{imports[backend]}\n\n{row.source}"
    digest = hashlib.sha256(row.source.encode()).hexdigest()[:8]
    return from_source(text, f"construct_{backend}_{digest}")


@cache
def here(row: Row) -> Verdict:
    """The row under the microscope."""
    from microscope import KernelError, trace

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            module = module_of(row, "here")
            if row.on_host:
                return Verdict()
            seen = trace(module.kernel, GRID, BLOCK, *arguments())
        except KernelError as error:
            return Verdict(re.sub(r"^line \d+: ", "", str(error)))
    return Verdict("", list(seen.outputs.values()), [p.message for p in seen.problems])


@cache
def there(row: Row) -> Verdict:
    """The row as Numba compiles it, and what a GPU made of it."""
    from numba import typeof, types

    signature = types.void(
        *(
            types.Array(typeof(a).dtype, a.ndim, "C") if isinstance(a, np.ndarray) else types.int64
            for a in arguments()
        )
    )
    with warnings.catch_warnings(), compiler() as ptx_of:
        warnings.simplefilter("ignore")
        try:
            ptx_of(module_of(row, "numba").kernel.py_func, signature)
        except Exception as error:
            return Verdict(one_line(error))
    if not recorded.holds(name(row)):
        return Verdict()
    return Verdict("", recorded.outputs(name(row), recorded.arrays(arguments())))


def name(row: Row) -> str:
    """The row's name in the record: other source is another row."""
    return hashlib.sha256(row.source.encode()).hexdigest()[:16]


def near(row: Row) -> float:
    """How near a GPU's values must be, relatively: it merges products and sums."""
    return 2e-3 if "16" in row.source else 1e-5


def on_gpu(row: Row) -> Verdict:
    """The row, launched by Numba."""
    from numba import cuda

    given = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in arguments()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            module_of(row, "numba").kernel[GRID, BLOCK](*given)
            cuda.synchronize()
        except Exception as error:
            return Verdict(one_line(error))
    return Verdict("", [a.copy_to_host() for a in given if hasattr(a, "copy_to_host")])


def host_on_gpu(row: Row) -> str:
    """Why Numba refuses a row of the host's side, on a GPU; empty if it does not."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            module_of(row, "numba")
        except Exception as error:
            return one_line(error)
    return ""


def beside_gpu(row: Row) -> tuple[str, str]:
    """What a GPU says of a row beside the interpreter: a word, and what is to be told."""
    mine = here(row)
    if row.on_host:
        theirs = host_on_gpu(row)
        agree = bool(theirs) == bool(mine.refused)
        return ("host agrees" if agree else "host differs"), theirs
    theirs = on_gpu(row)
    if mine.refused or theirs.refused:
        who = (bool(mine.refused), bool(theirs.refused))
        word = {(1, 1): "refused by both", (1, 0): "GPU only", (0, 1): "interpreter only"}[who]
        return word, theirs.refused
    found = difference(mine, theirs)
    return ("differs" if found else "same"), found


def difference(mine: Verdict, theirs: Verdict, near: float = 1e-5) -> str:
    """Where the values of two verdicts differ; empty where both agree, or one has none."""
    if mine.outputs is None or theirs.outputs is None:
        return ""
    for name, a, b in zip(NAMES, mine.outputs, theirs.outputs, strict=True):
        if a.dtype.names:
            a, b = (v.view(np.uint64) for v in (a, b))
        close = np.isclose(a, b, rtol=near, atol=1e-12, equal_nan=True)
        if not close.all():
            where = tuple(int(j) for j in np.argwhere(~close)[0])
            return f"{name}{list(where)}: {a[where]!r} here, {b[where]!r} there"
    return ""

"""``cuda.fp16``: functions of 16-bit floats. Each rounds its result to a float16."""

from __future__ import annotations

import ast

import numpy as np

from . import values
from .errors import Unsupported

FLOAT16 = np.dtype(np.float16)

#: Functions of one number, of bfloat16 as of float16: computed in float32 and rounded.
UNARY = {
    "hneg": np.negative,
    "habs": np.abs,
    "hsin": np.sin,
    "hcos": np.cos,
    "htanh": np.tanh,
    "htanh_approx": np.tanh,
    "hlog": np.log,
    "hlog10": np.log10,
    "hlog2": np.log2,
    "hexp": np.exp,
    "hexp10": lambda v: np.power(v.dtype.type(10), v),
    "hexp2": np.exp2,
    "hfloor": np.floor,
    "hceil": np.ceil,
    "hsqrt": np.sqrt,
    "hrsqrt": lambda v: 1 / np.sqrt(v),
    "hrcp": np.reciprocal,
    "hrint": np.rint,
    "htrunc": np.trunc,
}
#: These cost no special-function unit.
PLAIN = {"hneg", "habs", "hfloor", "hceil", "hrint", "htrunc"}
BINARY = {
    "hadd": np.add,
    "hsub": np.subtract,
    "hmul": np.multiply,
    "hdiv": np.divide,
    "hmax": np.fmax,
    "hmin": np.fmin,
}
COMPARISONS = {
    "heq": np.equal,
    "hne": np.not_equal,
    "hgt": np.greater,
    "hge": np.greater_equal,
    "hlt": np.less,
    "hle": np.less_equal,
}
NAMES = (*UNARY, *BINARY, *COMPARISONS, "hfma")


def call(run, name: str, n: ast.Call, m):
    """A function of ``cuda.fp16``."""
    count = 1 if name in UNARY else 3 if name == "hfma" else 2
    arguments = run.exactly(n, m, count)
    if not all(values.is_value(v) and v.dtype.kind != "c" for v in arguments):
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: takes numbers")
    halves = [values.cast(FLOAT16, v) for v in arguments]
    if name in COMPARISONS:
        return COMPARISONS[name](*halves)
    if run.tracer is not None:
        if name in UNARY and name not in PLAIN:
            run.tracer.special += m.n
        elif name in BINARY or name == "hfma":
            run.tracer.count_flops(FLOAT16.name, (2 if name == "hfma" else 1) * m.n, n.lineno)
    if name == "hfma":
        return values.fused(*halves)
    function = UNARY.get(name) or BINARY[name]
    return function(*(v.astype(np.float32) for v in halves)).astype(FLOAT16)

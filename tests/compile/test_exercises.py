"""Numba compiles every right answer to an exercise, and every kernel that is to be mended."""

import math
from importlib.util import find_spec

import numpy as np
import pytest

from kernels.lab.exercises.submission import function_of
from tests.lab.exercises.answers import KERNELS, right

pytestmark = pytest.mark.skipif(
    not find_spec("numba_cuda"), reason="numba-cuda has no packages for this system"
)
ANSWERS = [(a.exercise, a.what, a.text) for name in KERNELS for a in right(name)]
ANSWERS += [(n, "the start", e.start_text) for n, e in KERNELS.items() if e.mends]


@pytest.mark.parametrize("name, what, text", ANSWERS, ids=lambda value: str(value)[:40])
def test_numba_takes_it(name, what, text):
    from numba import cuda, float32, float64, int32, int64, types, uint32

    names = {"float32": float32, "float64": float64, "int32": int32, "uint32": uint32}
    scope = {"cuda": cuda, "math": math, **names, **KERNELS[name].names}
    exec(compile(text.replace("@cuda.jit\n", "", 1), name, "exec"), scope)
    kernel = scope[function_of(text, KERNELS[name].names).__name__]
    kinds = {np.dtype(np.float32): float32, np.dtype(np.int32): int32}
    signature = [
        types.Array(kinds[v.dtype], v.ndim, "C") if isinstance(v, np.ndarray)
        else float32 if isinstance(v, np.float32) else int64
        for v in KERNELS[name].trials()[0].arguments.values()
    ]  # fmt: skip
    ptx, result = cuda.compile_ptx(kernel, tuple(signature), cc=(7, 5))
    assert result == types.void and ".target sm_75" in ptx
    assert ".f64" not in ptx, "a double hides in float32 arithmetic"

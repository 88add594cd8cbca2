"""Numba compiles every right answer to an exercise, and every kernel that is to be mended."""

import math
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest

from kernels.lab.exercises.submission import function_of
from kernels.measure.ptx import numba_of, with_numba
from tests.lab.exercises.answers import KERNELS, right

pytestmark = pytest.mark.skipif(
    not find_spec("numba_cuda"), reason="numba-cuda has no packages for this system"
)
ANSWERS = [(a.exercise, a.what, a.text) for name in KERNELS for a in right(name)]
ANSWERS += [(n, "the start", e.start_text) for n, e in KERNELS.items() if e.mends]


@pytest.mark.parametrize("name, what, text", ANSWERS, ids=lambda value: str(value)[:40])
def test_numba_takes_it(name, what, text):
    from numba import cuda, float32, float64, int32, int64, types, uint32, uint64
    from numba.np.numpy_support import from_dtype

    names = {"float32": float32, "float64": float64, "int32": int32, "uint32": uint32}
    own = {word: numba_of(value) for word, value in KERNELS[name].names.items()}
    scope = {"cuda": cuda, "math": math, **own, **names, "uint64": uint64}
    exec(compile(text.replace("@cuda.jit\n", "", 1), name, "exec"), scope)
    written = scope[function_of(text, KERNELS[name].names).__name__]
    kernel = with_numba(SimpleNamespace(py_func=written))
    signature = [
        types.Array(from_dtype(v.dtype), v.ndim, "C") if isinstance(v, np.ndarray)
        else float32 if isinstance(v, np.float32) else int64
        for v in KERNELS[name].trials()[0].arguments.values()
    ]  # fmt: skip
    # Barriers in shared memory and bulk copies came with Hopper, tensor cores for us with Ampere.
    capability = (9, 0) if "ptx." in text else (8, 0) if "multiply_add_16" in text else (7, 5)
    ptx, result = cuda.compile_ptx(kernel, tuple(signature), cc=capability)
    assert result == types.void and ".target sm_{}{}".format(*capability) in ptx
    assert ".f64" not in ptx, "a double hides in float32 arithmetic"

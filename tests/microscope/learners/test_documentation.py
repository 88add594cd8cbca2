"""What Numba's pages show and a GPU takes amiss, or the interpreter can't run: each in one line."""

import numpy as np
import pytest

from microscope import KernelError, Kind, trace
from microscope import api as cuda


@cuda.jit
def returns_early(data, middle, out):
    i = cuda.grid(1)
    if i >= data.size:  # as in the pages of Laplace's equation and of sessions
        return
    middle[i] = data[i]
    cuda.cg.this_grid().sync()
    out[i] = middle[data.size - 1 - i]


def test_threads_that_return_before_the_grid_waits_are_named():
    arguments = np.arange(40.0), np.zeros(40), np.zeros(40)
    seen = trace(returns_early, 2, 32, *arguments)
    (problem,) = seen.problems
    assert problem.kind == Kind.BARRIER_AFTER_RETURN
    assert (problem.block, problem.thread) == ((1, 0, 0), (8, 0, 0))
    assert "has already returned: let every thread reach the barrier" in problem.message
    with pytest.raises(KernelError, match="has already returned"):
        returns_early[2, 32](*arguments)


def test_if_no_thread_returns_the_same_kernel_is_sound():
    data, middle, out = np.arange(64.0), np.zeros(64), np.zeros(64)
    assert trace(returns_early, 2, 32, data, middle, out).problems == []
    returns_early[2, 32](data, middle, out)
    np.testing.assert_array_equal(out, data[::-1])


def raising(**options):
    """A kernel whose threads past the end of an array raise an exception."""

    @cuda.jit(**options)
    def kernel(a):
        i = cuda.grid(1)
        if i >= a.size:
            raise ValueError("too many threads")
        a[i] = 1 // a[i]

    return kernel


def test_an_exception_of_a_kernel_reaches_the_host():
    with pytest.raises(ValueError, match="too many threads"):
        raising(debug=True, opt=False)[1, 8](np.ones(4, np.int64))
    with pytest.raises(ZeroDivisionError, match="divides by zero in thread"):
        raising(debug=True, opt=False)[1, 4](np.zeros(4, np.int64))


def test_code_of_another_language_is_refused_in_one_line():
    with pytest.raises(KernelError) as told:
        cuda.declare_device("mul", "float32(float32, float32)", link="functions.cu")
    assert "CUDA C++, which needs a GPU: write it here" in str(told.value)
    assert "\n" not in str(told.value)


def test_a_pointer_is_refused_in_one_line():
    @cuda.jit("void(CPointer(uint8), int32)")
    def kernel(x, n):
        for i in range(n):
            x[i] = i

    with pytest.raises(KernelError, match=r"cannot store into int64: x\[i\]"):
        kernel[1, 1](1 << 20, 3)

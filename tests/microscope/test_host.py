"""The host's side of ``cuda``: reductions, ufuncs, lambdas, and names that are not there."""

import math

import numpy as np
import pytest

from microscope import KernelError
from microscope import api as cuda

add = cuda.reduce(lambda a, b: a + b)


@cuda.reduce
def largest(a, b):
    if a > b:
        return a
    return b


@pytest.mark.parametrize("n", [1, 2, 127, 128, 129, 1000])
@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_a_reduction_folds_all_elements_once(n, dtype):
    x = np.random.default_rng(n).integers(-50, 50, n).astype(dtype)
    assert add(x) == x.sum() and add(x).dtype == dtype
    assert largest(x, init=-60) == x.max()
    assert add(cuda.to_device(x), init=3) == x.sum() + 3


def test_a_reduction_of_a_part_into_an_array():
    x, res = np.arange(10.0), cuda.device_array(1)
    assert add(x, size=4, res=res) is None and res.copy_to_host()[0] == 6
    assert add(x[:0], init=7) == 7
    with pytest.raises(TypeError, match="only support 1D array"):
        add(np.ones((2, 2)))


@cuda.vectorize(["float32(float32, float32)", "float64(float64, float64)"])
def length(a, b):
    return math.sqrt(a * a + b * b)


def test_a_function_of_numbers_takes_arrays():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert length(x, x).dtype == np.float32 and length(x.astype(float), x).dtype == np.float64
    np.testing.assert_allclose(length(x, 2), np.hypot(x, 2), rtol=1e-6)
    np.testing.assert_allclose(length(x, x[0]), np.hypot(x, x[0]), rtol=1e-6)
    assert cuda.is_cuda_array(length(cuda.to_device(x), x))


def test_a_function_of_numbers_has_the_types_it_was_given():
    with pytest.raises(KernelError, match=r"length has no version for \(complex128, float64\)"):
        length(np.ones(3, complex), np.ones(3))
    with pytest.raises(KernelError, match="'float32' is no signature such as"):
        cuda.vectorize("float32")(lambda a: a)
    with pytest.raises(KernelError, match="takes a list of types"):
        cuda.vectorize(length)


@pytest.mark.parametrize("name", ["declare_device", "detect", "In_"])
def test_what_is_not_there_says_so_in_one_line(name):
    with pytest.raises((AttributeError, KernelError)) as caught:
        getattr(cuda, name)("x", "y")
    assert f"cuda.{name}" in str(caught.value) and "\n" not in str(caught.value)


def test_a_launch_for_no_elements_runs_nothing():
    @cuda.jit
    def kernel(a):
        a[0] = 1

    a = np.zeros(1)
    kernel.forall(0)(a)
    assert a[0] == 0


def test_only_what_is_copied_back_changes():
    @cuda.jit
    def kernel(a, b):
        a[0] = b[0] = 1

    a, b = np.zeros(1), np.zeros(1)
    kernel[1, 1](cuda.In(a), cuda.Out(b))
    assert (a[0], b[0]) == (0, 1)


def test_lambdas_are_found_in_their_file():
    scale = 3
    tripled = cuda.jit(device=True)(lambda v: scale * v)
    added = cuda.jit(device=True)(
        lambda a, b=2: (
            a + b
        )
    )  # fmt: skip

    @cuda.jit
    def kernel(a):
        a[0] = added(tripled(5))

    a = np.zeros(1)
    kernel[1, 1](a)
    assert a[0] == 17

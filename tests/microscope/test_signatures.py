"""Explicit signatures say what the arguments become."""

import numpy as np
import pytest
from numpy import float32

from microscope import KernelError, trace
from microscope import api as cuda
from tests.microscope.cases import from_source

N = 4


@cuda.jit("void(int32[:], int32)")
def bits(out, n):
    out[0] = cuda.clz(n)
    out[1] = cuda.brev(n) >> 24
    out[2] = n


@pytest.mark.parametrize(
    "given, wanted",
    [
        (5, [29, 160, 5]),
        (np.int64(2**32 + 5), [29, 160, 5]),
        (True, [31, 128, 1]),
    ],
)
@pytest.mark.parametrize("traced", (False, True))
def test_numbers_are_converted_to_what_the_signature_says(given, wanted, traced):
    out = np.zeros(3, np.int32)
    if traced:
        out = trace(bits, 1, 1, out, given).outputs["out"]
    else:
        bits[1, 1](out, given)
    assert out.tolist() == wanted


@pytest.mark.parametrize("given", [np.zeros((3, 3), np.int32), 7])
def test_other_arrays_are_turned_away(given):
    with pytest.raises(KernelError, match=r"compiled for \(int32\[:\], int32\).*leave out the sig"):
        bits[1, 1](given, 5)


def test_a_float_is_no_integer():
    with pytest.raises(TypeError, match=r"takes \(int32\[:\], int32\) and got .*5\.9.*int\("):
        bits[1, 1](np.zeros(3, np.int32), 5.9)


@cuda.jit("void(float32[:])")
def doubled(a):
    i = cuda.grid(1)
    if i < a.size:
        a[i] = a[i] * float32(2)


def test_the_bytes_of_an_array_are_taken_for_what_one_signature_says():
    a = np.array([0x3F800000, 0x40000000], np.uint32)  # 1.0 and 2.0
    doubled[1, 32](a)
    assert a.view(np.float32).tolist() == [2, 4]
    with pytest.raises(TypeError, match="of float64: a GPU would take its bytes for float32"):
        doubled[1, 32](np.zeros(3))


@cuda.jit(["void(float64[:], float32, float64)", "void(float64[:], float64, float32)"])
def sums(out, a, b):
    out[0] = a + b


def test_two_signatures_that_fit_equally_well_are_refused():
    out = np.zeros(1)
    with pytest.raises(TypeError, match=r"Ambiguous overloading for sums: .*as in float32\("):
        sums[1, 1](out, 1.0, 2.0)
    sums[1, 1](out, np.float32(1.5), 2.0)
    assert out[0] == 3.5


def test_a_kernel_is_specialised_once():
    @cuda.jit
    def first(out):
        out[0] = 1

    made = first.specialize(np.zeros(1))
    assert made is first.specialize(np.zeros(1))
    with pytest.raises(RuntimeError, match="already specialized"):
        made.specialize(np.zeros(1))
    out = np.zeros(1)
    made[1, 1](out)
    assert out[0] == 1


@cuda.jit(["void(int64[:], int64)", "void(int64[:], float32)"])
def either(out, x):
    out[0] = cuda.clz(int(x * 2))


def test_of_several_signatures_the_nearest_is_taken():
    out = np.zeros(1, np.int64)
    either[1, 1](out, np.float32(2.5))
    assert out[0] == 61
    either[1, 1](out, 2)
    assert out[0] == 61


@cuda.jit("int32(int32)", device=True)
def leading(x):
    return cuda.clz(x)


@cuda.jit
def through(out, x):
    out[0] = leading(x)


def test_a_device_function_has_a_signature_too():
    out = np.zeros(1, np.int64)
    through[1, 1](out, 5)
    assert out[0] == 29


RESULTS = {
    "float32(float64)": ("a / 3", [0.5, np.float32(-2.75 / 3), np.float32(0.1 / 3), 1e9]),
    "int32(float64)": ("a / 2", [0, -1, 0, 1_500_000_000]),
    "uint8(int64)": ("a + 254", [255, 252, 254, (3_000_000_000 + 254) % 256]),
    "boolean(float64)": ("a - 1.5", [0, 1, 1, 1]),
    "UniTuple(float32, 2)(float64)": (
        "(a, a / 3)",
        [0.5, np.float32(-2.75 / 3), np.float32(0.1 / 3), 1e9],
    ),
    "Tuple((int32, float32))(float64)": (
        "(a, a / 3)",
        [0.5, np.float32(-2.75 / 3), np.float32(0.1 / 3), 1e9],
    ),
    "complex64(float64)": ("a * 1j", [0, 0, 0, 0]),
}


@pytest.mark.parametrize("signature", RESULTS)
def test_a_result_becomes_what_the_signature_says(signature):
    written, wanted = RESULTS[signature]
    part = "[1]" if "Tuple" in signature else ".real" if "complex" in signature else ""
    source = f"""
from microscope import api as cuda

@cuda.jit("{signature}", device=True)
def made(a):
    return {written}

@cuda.jit
def kernel(x, out):
    i = cuda.grid(1)
    out[i] = made(x[i]){part}
"""
    out = np.zeros(4)
    x = np.array([1.5, -2.75, 0.1, 3e9])
    from_source(source, "made").kernel[1, 4](x, out)
    assert out.tolist() == wanted


@cuda.jit("int64(int64)", device=True)
def factorial(n):
    if n > 1:
        return n * factorial(n - 1)
    return 1


@cuda.jit
def factorials(out):
    i = cuda.grid(1)
    out[i] = factorial(i)


def test_a_declared_result_is_known_before_any_return():
    out = np.zeros(5, np.int64)
    factorials[1, 5](out)
    assert out.tolist() == [1, 1, 2, 6, 24]


REFUSED = {
    "void(float64)": ("return a", "made returns float64 and its signature says void"),
    "int32(float64)": ("a += 1", "made returns None and its signature says int32"),
    "float64(complex128)": ("return a", "made returns complex128 and its signature says float64"),
    "float32[:](float64)": (
        "return a",
        r"made returns float64 and its signature says float32\[:\]",
    ),
}


@pytest.mark.parametrize("signature", REFUSED)
def test_a_result_that_cannot_become_that_is_refused(signature):
    written, why = REFUSED[signature]
    source = f"""
from microscope import api as cuda

@cuda.jit("{signature}", device=True)
def made(a):
    {written}

@cuda.jit
def kernel(x, out):
    out[0] = made(x[0])
"""
    with pytest.raises(KernelError, match=why):
        from_source(source, "made").kernel[1, 1](np.zeros(1), np.zeros(1))


def test_a_global_stays_what_it_was_when_the_kernel_was_compiled(monkeypatch):
    @cuda.jit
    def constant(out):
        out[0] = N

    out = np.zeros(1, np.int64)
    constant[1, 1](out)
    monkeypatch.setitem(globals(), "N", 9)
    constant[1, 1](out)
    assert out[0] == 4
    constant[1, 1](np.zeros(1, np.float32))
    small = np.zeros(1, np.int32)
    constant[1, 1](small)
    assert small[0] == 9, "other types are compiled anew"

"""Explicit signatures say what the arguments become."""

import numpy as np
import pytest

from kernels.engine.microscope import KernelError, trace
from kernels.engine.microscope import api as cuda

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
        (5.9, [29, 160, 5]),
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


@pytest.mark.parametrize("given", [np.zeros(3), np.zeros((3, 3), np.int32), 7])
def test_arrays_of_other_types_are_turned_away(given):
    with pytest.raises(KernelError, match=r"compiled for \(int32\[:\], int32\).*leave out the sig"):
        bits[1, 1](given, 5)


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

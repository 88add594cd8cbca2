"""The host part of a rung: sizes beyond 32 bits, and arrays that a prepared launch cannot take."""

import numpy as np
import pytest

from kernels import LADDER, cupy, host
from kernels.host import checks, operands
from kernels.measure import oracle
from kernels.patterns.transpose import Turned


def ones(rows, cols):
    """A matrix of any size in the memory of one number."""
    return np.broadcast_to(np.float32(1), (rows, cols))


@pytest.mark.parametrize(
    "engine, told",
    [
        ("numba", "size 4294950913 is beyond the unsigned 32-bit numbers of the Numba kernels, "
         "which take 4294950912 at most: use smaller sizes"),
        ("cpp", "size 2147467265 is beyond the 32-bit int of the C++ kernels, which take 2147467264"
         " at most: use a Numba kernel, or smaller sizes"),
    ],
)  # fmt: skip
def test_a_size_that_the_indices_cannot_reach_is_refused(engine, told, monkeypatch):
    monkeypatch.setattr(checks, "on_gpu", True)
    most = host.LARGEST[engine]
    for shape in ((most, 1, 1), (1, most, 1), (1, 1, most)):
        for more in (0, 1):
            M, N, K = (size + more if size == most else size for size in shape)
            if more == 0:
                host.Product(ones(M, K), ones(K, N), engine=engine)
                continue
            with pytest.raises(ValueError) as caught:
                host.Product(ones(M, K), ones(K, N), engine=engine)
            assert str(caught.value) == told
    with pytest.raises(ValueError, match="size 2147467265|size 4294950913"):
        Turned(ones(3, most + 1), engine=engine)


def test_it_is_refused_before_anything_is_copied():
    with pytest.raises(ValueError, match="size 4294967297 is beyond"):
        LADDER["tiled"].matmul(ones(1, 1), ones(1, 2**32 + 1))


def test_a_copy_that_does_not_fit_is_one_line_too(monkeypatch):
    def full(array):
        raise MemoryError("Out of memory allocating 96 bytes (allocated so far: 240 bytes).")

    product = host.Product(A[::2], B)
    monkeypatch.setattr(operands.cupy, "ascontiguousarray", full, raising=False)
    monkeypatch.setattr(operands, "free_bytes", lambda: 10_000_000)
    with pytest.raises(MemoryError) as caught:
        product.cpp_arguments()
    assert str(caught.value) == (
        "the arrays need 0.00 GB; this GPU has 0.01 GB free: use smaller sizes, or free some memory"
        " first"
    )


def test_vectors_in_numba_have_indices_of_64_bits():
    a = ones(1, 2**33)[0]
    assert host.Vectors(a, a).n == 2**33


A, B = (cupy.asarray(x) for x in oracle.inputs(6, 10, 4))
C = cupy.asarray(oracle.poisoned(6, 10))


@pytest.mark.parametrize(
    "operands, error, told",
    [
        ((A[::2], B, C[::2]), ValueError,
         r"A \(3×4\) is not contiguous in rows: pass cupy.ascontiguousarray\(A\)"),
        ((A, B, cupy.asfortranarray(C)), ValueError, r"C \(6×10\) is not contiguous in rows"),
        ((np.ones((6, 4), np.float32), B, C), TypeError, "A is a ndarray; expected a CuPy array: "
         r"use cupy.asarray\(A\)"),
        ((A, A, C), ValueError, "B must have as many rows as A has columns"),
        ((A, B, C.T.copy()), ValueError, r"out has shape \(10, 6\); the result has \(6, 10\)"),
        ((A.astype(np.float64), B, C), TypeError, "A holds float64; expected float32"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ("tiled", "swizzled"))
def test_a_launch_prepared_for_later_takes_what_it_need_not_copy(name, operands, error, told):
    with pytest.raises(error, match=told) as caught:
        LADDER[name].prepare(*operands)
    assert "\n" not in str(caught.value)

"""Matrices whose rows begin on no 16-byte boundary are copied where that pays, and only there."""

import numpy as np
import pytest

from kernels import LADDER, cupy, host, lab
from kernels.host import operands, realigned
from kernels.measure import oracle
from kernels.measure.bench import case
from tests.rungs.cases import strided_inputs

SMALL = {"BM": 64, "BN": 64, "WM": 32, "WN": 32, "TM": 4, "TN": 8}
SPLITS = (SMALL, SMALL | {"split": 4})


@pytest.mark.parametrize(
    "M, N, K, copied",
    [
        (4097, 4097, 4097, True),
        (3073, 3073, 3073, True),
        (4097, 2049, 4096, True),
        (2047, 2047, 2047, False),
        (4097, 4096, 4096, False),
        (500, 4097, 4097, False),
    ],
)
def test_large_products_with_odd_rows_are_copied(M, N, K, copied):
    assert realigned.pays(M, N, K) is copied


@pytest.mark.parametrize("options", SPLITS, ids=str)
@pytest.mark.parametrize("shape", [(33, 47, 61), (20, 128, 33)], ids=str)
def test_a_product_of_copies_is_right(shape, options, monkeypatch):
    monkeypatch.setattr(realigned, "LEAST_WORK", 0)
    A, B = oracle.inputs(*shape)
    before = A.copy(), B.copy()
    lab.check(LADDER["split_k"].matmul(A, B, **options), A, B)
    assert all(np.array_equal(*pair) for pair in zip((A, B), before, strict=True))


def test_the_kernel_gets_rows_of_whole_groups_of_four(monkeypatch):
    monkeypatch.setattr(realigned, "LEAST_WORK", 0)
    seen = []

    def launcher_of(copies):
        seen.extend(array.shape for array in copies.arguments())
        return lambda: None

    A, B = oracle.inputs(33, 47, 61)
    realigned.launcher(host.Product(A, B), launcher_of)
    assert seen == [(33, 64), (64, 48), (33, 48)]


def test_every_launch_reads_the_matrices_anew():
    A, B = (cupy.asarray(matrix) for matrix in oracle.inputs(33, 47, 61))
    C = cupy.full((33, 47), np.nan, np.float32)

    def multiply(copies):
        a, b, c = copies.arguments()
        return lambda: cupy.matmul(a, b, out=c)

    launch = realigned.launcher(host.Product(A, B, C), multiply)
    launch()
    A *= 2
    launch()
    lab.check(C, A, B)


def test_strides_of_any_kind_are_copied(monkeypatch):
    monkeypatch.setattr(realigned, "LEAST_WORK", 0)
    for name, A, B, C in strided_inputs(3, 5, 7):
        assert LADDER["split_k"].matmul(A, B, out=C, **SMALL) is C, name
        lab.check(C, A, B)


def test_copies_that_do_not_fit_are_one_line(monkeypatch):
    def zeros(*_):
        raise MemoryError("out of memory")

    monkeypatch.setattr(realigned.cupy, "zeros", zeros)
    monkeypatch.setattr(operands, "free_bytes", lambda: 0)
    A, B = oracle.inputs(33, 47, 61)
    with pytest.raises(MemoryError, match=r"the arrays need 0\.00 GB; .*: use smaller sizes"):
        realigned.launcher(host.Product(A, B), lambda copies: None)


@pytest.mark.parametrize("rung, copied", [("split_k", True), ("serpentine", False)])
def test_a_recorded_row_says_that_the_matrices_are_copied(rung, copied):
    A, B = np.empty((3073, 3073), np.float32), np.empty((3073, 3073), np.float32)
    assert case.copies(LADDER[rung], A, B, np.empty_like(A)) is copied

"""The kernels of other computations on the GPU: both languages, odd lengths, strides."""

import numpy as np
import pytest

from kernels import cupy
from kernels.primitives import matvec, matvec_int4, reduction, scan
from tests.gpu.test_rungs import on_device
from tests.primitives import test_matvec, test_matvec_int4, test_reduction, test_scan

pytestmark = pytest.mark.gpu
ENGINES = ("numba", "cpp")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("version", reduction.VERSIONS)
def test_sums(version, engine):
    chosen = reduction.VERSIONS[version]
    for n in (*test_reduction.LENGTHS, 2**20 - 1, 2**24 + 5):
        a = test_reduction.vector(n)
        resident, out = cupy.asarray(a), cupy.full(1, np.nan, np.float32)
        (got,) = cupy.asnumpy(reduction.total(resident, engine=engine, version=version))
        assert abs(got - a.sum(dtype=np.float64)) <= test_reduction.bound(version, a), n
        chosen.launcher(resident, out, engine)()
        assert cupy.asnumpy(out) == [got], n
    for case in (a[1::2], a[::-1], a[1:]):
        expected = case.sum(dtype=np.float64)
        (got,) = cupy.asnumpy(reduction.total(on_device(case), engine=engine, version=version))
        assert abs(got - expected) <= test_reduction.bound(version, case)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("version", scan.VERSIONS)
def test_scans(version, engine):
    chosen = scan.VERSIONS[version]
    for n in (*test_scan.LENGTHS, 2**20 - 1, 2**22 + 4):
        a = test_reduction.vector(n)
        resident, out = cupy.asarray(a), cupy.full(n, np.nan, np.float32)
        got = cupy.asnumpy(scan.scan(resident, engine=engine, version=version))
        assert test_scan.off(got, version, a) <= 1, n
        if n:
            chosen.launcher(resident, out, engine)()
            assert np.array_equal(cupy.asnumpy(out), got), n
    for case in (a[1::2], a[::-1], a[1:]):
        got = cupy.asnumpy(scan.scan(on_device(case), engine=engine, version=version))
        assert test_scan.off(got, version, case) <= 1


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("version", matvec.VERSIONS)
def test_products_with_a_vector(version, engine):
    chosen = matvec.VERSIONS[version]
    for N, K in (*((n, k) for n in test_matvec.SIZES for k in (1, 7, 128, 130)), (4096, 4096)):
        W, x = test_matvec.operands(N, K)
        on_gpu = cupy.asarray(W), cupy.asarray(x)
        got = cupy.asnumpy(matvec.matvec(*on_gpu, engine=engine, version=version))
        assert test_matvec.off(got, chosen.depth(K), W, x) <= 1, (N, K)
        y = cupy.full(N, np.nan, np.float32)
        chosen.launcher(*on_gpu, y, engine)()
        assert np.array_equal(cupy.asnumpy(y), got), (N, K)
    # A view whose rows begin at odd addresses.
    W, x = test_matvec.operands(33, 129)
    view = on_device(W)[:, 1:]
    got = cupy.asnumpy(matvec.matvec(view, on_device(x)[1:], engine=engine, version=version))
    assert test_matvec.off(got, chosen.depth(128), W[:, 1:], x[1:]) <= 1


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("M", range(1, matvec.MOST_VECTORS + 1))
def test_thin_products(M, engine):
    for N, K in ((1, 1), (33, 5), (37, 128), (1000, 1023), (1024, 1024)):
        W, X = test_matvec.operands(N, K, M)
        Y = cupy.full((M, N), np.nan, np.float32)
        matvec.Thin(M).launcher(cupy.asarray(W), cupy.asarray(X), Y, engine)()
        assert test_matvec.off(cupy.asnumpy(Y), matvec.Thin(M).depth(K), W, X) <= 1, (N, K)


@pytest.mark.parametrize("engine", ENGINES)
def test_scans_with_look_back(engine):
    for n in (*test_scan.LENGTHS, 2**20 - 1, 2**24 + 4):
        a = np.arange(n, dtype=np.float32) % 2
        resident, out = cupy.asarray(a), cupy.full(n, np.nan, np.float32)
        got = cupy.asnumpy(scan.scan(resident, engine=engine, version="lookback"))
        assert np.array_equal(got, a.cumsum(dtype=np.float64)), n
        if n:
            launch = scan.LOOK_BACK.launcher(resident, out, engine)
            for _ in range(3):
                out.fill(np.nan)
                launch()
                assert np.array_equal(cupy.asnumpy(out), got), n


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("M", (1, 8, 16))
def test_staged_products(M, engine):
    for N, K in ((1, 1), (33, 5), (37, 513), (1000, 1023), (1024, 1024)):
        W, X = test_matvec.operands(N, K, M)
        Y = cupy.full((M, N), np.nan, np.float32)
        matvec.Thin(M, staged=True).launcher(cupy.asarray(W), cupy.asarray(X), Y, engine)()
        assert test_matvec.off(cupy.asnumpy(Y), matvec.Thin(M).depth(K), W, X) <= 1, (N, K)


@pytest.mark.parametrize("rows", (1, 4))
def test_products_of_4_bit_weights(rows):
    for N, K in ((1, 128), (37, 384), (4096, 4096)):
        W, x = test_matvec_int4.operands(N, K)
        packed, scales = matvec_int4.quantise(W)
        scales = np.exp2(np.round(np.log2(scales)))
        x = x.astype(np.float32)
        known = matvec_int4.dequantise(packed, scales).astype(np.float64) @ x
        got = matvec_int4.matvec_int4(*map(cupy.asarray, (packed, scales, x)), rows=rows)
        assert np.array_equal(cupy.asnumpy(got), known), (N, K)

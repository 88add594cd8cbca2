"""Blocks of a cluster write into each other's shared memory."""

import numpy as np
import pytest

from kernels import cuda, float32, ptx, uint32
from microscope import trace
from microscope.sites import Kind

int32 = cuda.int32
clusters_of_two = ptx.cluster_dims(2)


@cuda.jit
def exchanged(A, out, waits):
    """Each block gives its 128 numbers to the other, which stores them."""
    clusters_of_two()
    box = cuda.shared.array(128, float32, alignment=16)
    bars = cuda.shared.array(1, cuda.uint64)
    rank = int32(ptx.cluster_ctarank())
    lane = int32(cuda.threadIdx.x)
    bar = ptx.shared_address(bars)
    if lane == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(bar, 512)
    ptx.cluster_sync()
    other = uint32(1 - rank)
    to = ptx.mapa(ptx.shared_address(box) + uint32(16 * lane), other)
    first = rank * 128 + 4 * lane
    ptx.st_async_v4_f32(
        to, A[first], A[first + 1], A[first + 2], A[first + 3], ptx.mapa(bar, other)
    )
    if waits:
        ptx.mbarrier_wait_parity(bar, 0)
    for k in range(4):
        out[rank * 128 + lane + 32 * k] = box[lane + 32 * k]
    ptx.cluster_sync()


@pytest.mark.parametrize("landing", ["earliest", "latest", "mixed"])
def test_two_blocks_exchange_numbers(landing):
    A, out = np.arange(256, dtype=np.float32), np.full(256, np.nan, np.float32)
    seen = trace(exchanged, 2, 32, A, out, True, landing=landing)
    assert not seen.problems
    np.testing.assert_array_equal(seen.outputs["out"], np.roll(A, 128))


def test_who_does_not_wait_reads_too_early():
    A, out = np.arange(256, dtype=np.float32), np.full(256, np.nan, np.float32)
    seen = trace(exchanged, 2, 32, A, out, False)
    assert Kind.TOO_EARLY in {problem.kind for problem in seen.problems}
    assert np.isnan(seen.outputs["out"]).any()

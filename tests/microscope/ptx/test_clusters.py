"""Blocks of a cluster write into each other's shared memory."""

import numpy as np
import pytest

from kernels import cuda, float32, ptx, uint32
from kernels.host.tma import tensor_map
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


@cuda.jit
def stacked(map_A, map_C, words, passed):
    """Block z loads box z for both blocks, adds 1 to the other's and stores it; a warp waits."""
    clusters_of_two()
    boxes = cuda.shared.array((2, 8, 32), float32, alignment=1024)
    left = cuda.shared.array(128, uint32, alignment=16)
    bars = cuda.shared.array(1, cuda.uint64)
    bar, given = ptx.shared_address(bars), ptx.shared_address(left)
    rank, tid = int32(ptx.cluster_ctarank()), int32(cuda.threadIdx.x)
    warp, lane = tid // 32, tid % 32
    if tid == 0:
        ptx.prefetch_tensormap(map_A)
        ptx.mbarrier_init(bar, 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(bar, 2048)
    ptx.cluster_arrive()
    ptx.cluster_wait()
    if tid == 0:
        to = ptx.shared_address(boxes) + uint32(rank * 1024)
        ptx.cp_async_bulk_tensor_3d_load_multicast(to, map_A, 8, 5, rank, bar, 3)

    if warp == 0:
        n = uint32(4 * lane)
        ptx.st_shared_v4_u32(given + 4 * n, n, n + 1, n + 2, n + 3)
        ptx.bar_arrive(1, 64)
    else:
        ptx.bar_sync(1, 64)
        passed[rank, lane] = left[lane]
    cuda.syncthreads()
    ptx.cp_async_4(given + uint32(4 * tid), ptx.global_address(words) + cuda.uint64(4 * tid), 4)
    ptx.cp_async_commit_group()
    ptx.cp_async_wait_group(0)
    passed[rank, 32 + tid] = left[tid]

    ptx.mbarrier_wait_parity(bar, 0)
    for row in range(warp, 8, 2):
        boxes[1 - rank, row, lane] += 1
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if tid == 0:
        source = ptx.shared_address(boxes) + uint32((1 - rank) * 1024)
        ptx.cp_async_bulk_tensor_3d_store(map_C, 0, 3, 1 - rank, source)
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)
    cuda.syncwarp()
    ptx.cluster_sync()


def stack(to_device=np.asarray):
    """What `stacked` is called with, the arrays that it fills, and what they should hold."""
    A, C = np.arange(2 * 13 * 40, dtype=np.float32).reshape(2, 13, 40), np.zeros((2, 16, 32))
    words, C = np.arange(500, 564, dtype=np.uint32), C.astype(np.float32)
    expected = C.copy()
    expected[:, 3:11] = A[:, 5:13, 8:40] + 1
    passed = np.tile(np.concatenate([np.arange(32), words]), (2, 1)).astype(np.uint32)
    A, C, words, empty = map(to_device, (A, C, words, np.zeros_like(passed)))
    maps = tensor_map(A, 8, 32, "float32"), tensor_map(C, 8, 32, "float32")
    return (*maps, words, empty), (C, empty), (expected, passed)


@pytest.mark.parametrize("landing", ["earliest", "latest", "mixed"])
def test_matrices_of_a_stack_go_to_both_blocks_and_back(landing):
    arguments, _, (expected, passed) = stack()
    seen = trace(stacked, 2, 64, *arguments, landing=landing)
    assert not seen.problems
    np.testing.assert_array_equal(seen.outputs["map_C"], expected)
    np.testing.assert_array_equal(seen.outputs["passed"], passed)

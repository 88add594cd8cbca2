"""Shared memory that ordinary stores and the TMA use in turn, as a persistent kernel does."""

import numpy as np
import pytest

from kernels import cuda, ptx, uint32
from microscope import trace
from microscope.ptx import TensorMap
from microscope.sites import Kind

int32, uint8, uint64 = cuda.int32, cuda.uint8, cuda.uint64


@cuda.jit
def in_turn(map_A, map_C, fenced):
    """Each round loads a box, doubles it in place by ordinary stores, and stores it by TMA."""
    box = cuda.shared.array(0, cuda.float32, alignment=1024)
    bars = cuda.shared.array(1, uint64)
    at, bar = ptx.shared_address(box), ptx.shared_address(bars)
    tid = int32(cuda.threadIdx.x)
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    for t in range(3):
        if tid == 0:
            ptx.mbarrier_arrive_expect_tx(bar, 1024)
            ptx.cp_async_bulk_tensor_2d_load(at, map_A, 0, 8 * t, bar)
        ptx.mbarrier_wait_parity(bar, uint32(t) & uint32(1))
        for k in range(4):
            box[tid + 64 * k] *= 2
        if fenced:
            ptx.fence_proxy_async()
        cuda.syncthreads()
        if tid == 0:
            ptx.cp_async_bulk_tensor_2d_store(map_C, 0, 8 * t, at)
            ptx.cp_async_bulk_commit_group()
            ptx.cp_async_bulk_wait_group_read(0)
        cuda.syncthreads()


@pytest.mark.parametrize("landing", ["earliest", "latest", "mixed"])
@pytest.mark.parametrize("fenced", [True, False])
def test_memory_used_in_turn_by_threads_and_the_tma(fenced, landing):
    A = np.arange(24 * 32, dtype=np.float32).reshape(24, 32)
    maps = (TensorMap(X, (8, 32), "float32") for X in (A, np.zeros_like(A)))
    seen = trace(in_turn, 1, 64, *maps, fenced, shared_bytes=1024, landing=landing)
    if fenced:
        assert not seen.problems
        np.testing.assert_array_equal(seen.outputs["map_C"], 2 * A)
    else:
        assert {problem.kind for problem in seen.problems} == {Kind.PROXY_FENCE}
        assert all("fence_proxy_async()" in problem.message for problem in seen.problems)

"""Two sets of sums in one local array: each has its own products to wait for."""

import numpy as np
import pytest

from kernels import cuda, float32, ptx, uint32
from kernels.backend.vector import unrolled
from microscope import trace
from microscope.ptx import TensorMap
from microscope.sites import Kind
from tests.microscope.ptx.products import bfloat16, matrices

int32, uint8, uint64 = cuda.int32, cuda.uint8, cuda.uint64
multiply_add = ptx.wgmma(64, "bfloat16")


@cuda.jit
def two_sums(map_A, map_B, out, patient):
    """Sums of the first 16 values of k, and of the next; one number of each is stored."""
    tiles = cuda.shared.array(0, uint8, alignment=1024)
    bars = cuda.shared.array(1, uint64)
    sA, bar = ptx.shared_address(tiles), ptx.shared_address(bars)
    tid = int32(cuda.threadIdx.x)
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(bar, 16384)
        ptx.cp_async_bulk_tensor_2d_load(sA, map_A, 0, 0, bar)
        ptx.cp_async_bulk_tensor_2d_load(sA + uint32(8192), map_B, 0, 0, bar)
    ptx.mbarrier_wait_parity(bar, 0)
    acc = cuda.local.array((2, 32), float32)
    ptx.wgmma_fence()
    for k in range(2):
        a = ptx.matrix_descriptor(sA + uint32(32 * k), 16)
        b = ptx.matrix_descriptor(sA + uint32(8192 + 2048 * k), 8192)
        multiply_add(acc[k], a, b, 0)
        ptx.wgmma_commit_group()
    unrolled()
    if patient:
        ptx.wgmma_wait_group(0, acc[1], 32)
    else:
        ptx.wgmma_wait_group(1, acc[0], 32)
    out[0, tid] = acc[0, 0]
    ptx.wgmma_wait_group(0, acc[1], 32)
    out[1, tid] = acc[1, 0]


@cuda.jit
def hasty(map_A, map_B, out):
    tiles = cuda.shared.array(0, uint8, alignment=1024)
    acc = cuda.local.array((2, 32), float32)
    sA = ptx.shared_address(tiles)
    ptx.wgmma_fence()
    for k in range(2):
        a = ptx.matrix_descriptor(sA + uint32(32 * k), 16)
        multiply_add(acc[k], a, ptx.matrix_descriptor(sA + uint32(8192), 8192), 0)
        ptx.wgmma_commit_group()
    ptx.wgmma_wait_group(1, acc[0], 32)
    out[0, int32(cuda.threadIdx.x)] = acc[1, 0]
    ptx.wgmma_wait_group(0, acc[1], 32)


def arguments():
    A, B, _ = matrices(64, 64, 64)
    maps = (TensorMap(bfloat16(X), (64, 64), "bfloat16") for X in (A, B))
    return (*maps, np.full((2, 128), np.nan, np.float32)), A, B


@pytest.mark.parametrize("patient", [True, False])
@pytest.mark.parametrize("landing", ["earliest", "latest"])
def test_sums_that_are_over_may_be_read_while_others_go_on(patient, landing):
    given, A, B = arguments()
    seen = trace(two_sums, 1, 128, *given, patient, shared_bytes=16384, landing=landing)
    assert not seen.problems
    rows = np.arange(128) // 32 * 16 + np.arange(128) % 32 // 4
    for k in range(2):
        part = slice(16 * k, 16 * k + 16)
        expected = (A[:, part] @ B[part])[rows, np.arange(128) % 4 * 2]
        np.testing.assert_array_equal(seen.outputs["out"][k], expected)


def test_those_that_go_on_may_not():
    given, _, _ = arguments()
    seen = trace(hasty, 1, 128, *given, shared_bytes=16384)
    (early,) = [p for p in seen.problems if p.kind == Kind.ACCUMULATORS]
    assert early.line is not None and "wgmma_wait_group" in early.message

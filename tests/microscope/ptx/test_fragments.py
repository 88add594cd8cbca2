"""Fragments: what each lane gets of 8×8 blocks in shared memory, and puts there."""

import numpy as np
import pytest

from kernels import ptx
from kernels.backend import cuda, uint8, uint32, uint64
from microscope import trace

LANES = np.arange(32)


def fragment(block: np.ndarray) -> np.ndarray:
    """The word that each lane holds of an 8×8 block of 16-bit numbers: two neighbours in a row."""
    first, second = (block[LANES // 4, 2 * (LANES % 4) + i].astype(np.uint32) for i in range(2))
    return first | second << 16


def made(count: int, transposed: bool):
    """Store fragments, load them again, and copy the shared memory out by ``cp.async`` of 8."""
    kind = f"x{count}" + "_trans" * transposed
    stmatrix, ldmatrix = getattr(ptx, f"stmatrix_{kind}"), getattr(ptx, f"ldmatrix_{kind}")
    BYTES = 128 * count

    @cuda.jit
    def kernel(words, loaded, stored):
        memory = ptx.shared_address(cuda.shared.array(BYTES, uint8, alignment=16))
        lane = uint32(cuda.threadIdx.x)
        row = memory + lane % (8 * count) * 16
        if count == 1:
            stmatrix(row, words[0, lane])
            loaded[0, lane] = ldmatrix(row)
        elif count == 2:
            stmatrix(row, words[0, lane], words[1, lane])
            loaded[0, lane], loaded[1, lane] = ldmatrix(row)
        else:
            stmatrix(row, words[0, lane], words[1, lane], words[2, lane], words[3, lane])
            loaded[0, lane], loaded[1, lane], loaded[2, lane], loaded[3, lane] = ldmatrix(row)
        if lane < 8 * count:
            a, b, c, d = ptx.ld_shared_v4_f32(row)
            stored[lane, 0], stored[lane, 1] = ptx.float_as_uint(a), ptx.float_as_uint(b)
            stored[lane, 2], stored[lane, 3] = ptx.float_as_uint(c), ptx.float_as_uint(d)

    return kernel


@pytest.mark.parametrize("transposed", (False, True))
@pytest.mark.parametrize("count", (1, 2, 4))
def test_blocks_are_stored_and_loaded_by_lanes(count, transposed):
    # Bits of an exponent that is neither 0 nor all ones: no float32 of them is a NaN.
    blocks = np.random.default_rng(count).integers(0x3000, 0x4000, (count, 8, 8)).astype(np.uint16)
    words = np.stack([fragment(block) for block in blocks])
    loaded, stored = np.zeros((count, 32), np.uint32), np.zeros((8 * count, 4), np.uint32)
    seen = trace(made(count, transposed), 1, 32, words, loaded, stored)
    assert not seen.problems
    np.testing.assert_array_equal(seen.outputs["loaded"], words)
    rows = blocks.swapaxes(1, 2) if transposed else blocks
    found = seen.outputs["stored"].view(np.uint16).reshape(count, 8, 8)
    np.testing.assert_array_equal(found, rows)


@pytest.mark.parametrize("size, expected", [(8, (1, 2)), (4, (1, 0)), (0, (0, 0))])
def test_a_copy_of_8_bytes_fills_up_with_zeros(size, expected):
    @cuda.jit
    def kernel(source, out, size):
        memory = cuda.shared.array(2, uint32, alignment=8)
        if cuda.threadIdx.x == 0:
            ptx.cp_async_8(ptx.shared_address(memory), ptx.global_address(source), size)
            ptx.cp_async_commit_group()
            ptx.cp_async_wait_group(0)
            out[0], out[1] = memory[0], memory[1]

    source, out = np.array([1, 2], np.uint32), np.full(2, 9, np.uint32)
    seen = trace(kernel, 1, 32, source, out, size)
    assert not seen.problems and tuple(seen.outputs["out"]) == expected


def test_words_go_through_global_memory_by_address():
    @cuda.jit
    def kernel(source, to):
        lane = cuda.threadIdx.x
        source_at, to_at = ptx.global_address(source), ptx.global_address(to)
        a, b, c, d = ptx.ld_global_v4_u32(source_at + uint64(16 * lane))
        ptx.st_global_v2_u32(to_at + uint64(16 * lane), d, c)
        ptx.st_global_v2_u32(to_at + uint64(16 * lane + 8), b, a)

    source = np.arange(128, dtype=np.uint32).reshape(32, 4)
    to = np.zeros_like(source)
    kernel[1, 32](source, to)
    np.testing.assert_array_equal(to, source[:, ::-1])
    seen = trace(kernel, 1, 33, source, to)
    assert any("outside its 512 bytes" in problem.message for problem in seen.problems)

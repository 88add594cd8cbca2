"""What the reports say: lines, threads, phases, and what each barrier still lacks."""

import numpy as np
import pytest

from kernels import cuda, ptx
from microscope import KernelError, trace
from microscope.ptx import TensorMap
from microscope.sites import Kind
from tests.microscope.cases import from_source
from tests.microscope.ptx.async_mutants import KERNELS, MUTANTS
from tests.microscope.ptx.hopper_kernels import specialized
from tests.microscope.ptx.products import bfloat16, matrices, specialized_case


def mutant(kernel, name):
    return next(m for m in MUTANTS if (m.kernel, m.name) == (kernel, name))


def problems_of(kernel, name):
    """The problems of a mutant, and its source's lines."""
    changed = mutant(kernel, name)
    made = changed.compiled()
    launch, _ = changed.case()
    seen = trace(made, *launch, shared_bytes=made.shared_bytes)
    return seen.problems, changed.source.splitlines()


def test_a_deadlock_names_who_waits_for_what_and_what_is_lacking():
    (deadlock,), lines = problems_of("specialized", "a box of bytes too many")
    assert deadlock.kind == Kind.DEADLOCK
    assert "warp 0 of block (0, 0, 0)" in deadlock.message
    assert "warps 4 to 11 of block (0, 0, 0)" in deadlock.message
    assert "which lacks 2 of 2 arrivals" in deadlock.message
    assert "which lacks 8192 bytes" in deadlock.message
    assert "mbarrier_wait_parity" in lines[deadlock.line - 1]


def test_a_plain_launch_stops_at_a_deadlock_with_the_same_words():
    changed = mutant("specialized", "release removed")
    kernel = changed.compiled()
    (grid, block, *arguments), _ = changed.case()
    with pytest.raises(KernelError, match=r"nothing can go on: .* lacks 2 of 2 arrivals"):
        kernel[grid, block, 0, kernel.shared_bytes](*arguments)


def test_a_read_before_its_phase_names_the_copy_and_the_phase():
    problems, lines = problems_of("specialized", "full wait removed")
    early = next(p for p in problems if p.kind == Kind.TOO_EARLY)
    assert "multiply_add" in lines[early.line - 1]
    assert "cp_async_bulk_tensor_2d_load" in lines[early.other_line - 1]
    assert "phase 0 (parity 0)" in early.message


def test_a_missing_proxy_fence_names_the_store_and_the_fence():
    (problem,), lines = problems_of("persistent", "proxy fence removed")
    assert "cp_async_bulk_tensor_2d_store" in lines[problem.line - 1]
    assert "st_shared_v2_f32" in lines[problem.other_line - 1]
    assert "fence_proxy_async()" in problem.message


def test_another_swizzle_is_reported_and_gives_other_numbers():
    A, B, C = matrices(64, 64, 64)
    maps = (
        TensorMap(bfloat16(A), (64, 64), "bfloat16", swizzle=0),
        TensorMap(bfloat16(B), (64, 64), "bfloat16"),
    )
    kernel = specialized(64, 64, 2)
    seen = trace(kernel, 1, 256, *maps, C, 64, shared_bytes=kernel.shared_bytes)
    assert [p.kind for p in seen.problems] == [Kind.SWIZZLE]
    # Row r of A comes with its 16-byte pieces, of 8 values of k, in the order that r % 8 gives.
    k = np.arange(64)
    pieces = k[None, :] // 8 ^ np.arange(64)[:, None] % 8
    mixed = np.take_along_axis(A, pieces * 8 + k % 8, axis=1)
    np.testing.assert_array_equal(seen.outputs["C"], mixed @ B)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((64, 64), "float16"), "use a format of its size"),
        (((64,), "float32"), "give both 2 or 3 axes"),
        (((300, 32), "float32"), "1 to 256 elements"),
        (((64, 64), "float32"), "at most 128"),
        (((64, 32), "float32", 16), "swizzle 16"),
    ],
)
def test_a_tensor_map_refuses_what_the_driver_does(arguments, message):
    with pytest.raises(ValueError, match=message):
        TensorMap(np.zeros((128, 128), np.float32), *arguments)


@pytest.mark.parametrize("x, problems", [(8, []), (12, [Kind.MISALIGNED])])
def test_a_box_of_one_of_several_maps_starts_on_a_16_byte_boundary(x, problems):
    @cuda.jit
    def kernel(maps, out, x):
        tile = cuda.shared.array(64, np.uint16, alignment=128)
        barriers = cuda.shared.array(1, np.uint64)
        bar, t = ptx.shared_address(barriers), cuda.threadIdx.x
        if t == 0:
            ptx.mbarrier_init(bar, 1)
            ptx.fence_mbarrier_init()
            ptx.mbarrier_arrive_expect_tx(bar, 128)
            place = ptx.shared_address(tile)
            ptx.cp_async_bulk_tensor_2d_load(place, maps[cuda.blockIdx.x], x, 2, bar)
        cuda.syncthreads()
        if x % 8 == 0:
            ptx.mbarrier_wait_parity(bar, 0)
        out[cuda.blockIdx.x, t] = tile[t]

    numbers = [np.arange(64, dtype=np.uint16).reshape(4, 16) + 100 * n for n in range(2)]
    maps = tuple(TensorMap(a, (8, 8), "bfloat16", swizzle=0) for a in numbers)
    seen = trace(kernel, 2, 64, maps, np.zeros((2, 64), np.uint16), x)
    kinds = [p.kind for p in seen.problems if p.kind != Kind.UNINITIALISED]
    assert kinds[:1] == problems  # what never comes is missed, too
    if not problems:
        expected = [np.pad(a[2:, 8:], ((0, 6), (0, 0))).reshape(-1) for a in numbers]
        np.testing.assert_array_equal(seen.outputs["out"], expected)


def test_registers_that_a_block_does_not_have_are_waited_for_in_vain():
    source = KERNELS.read_text(encoding="utf-8")
    greedy = source.replace("(32, 160) if CONSUMERS == 3", "(40, 232) if CONSUMERS == 3")
    assert greedy != source
    kernel = from_source(greedy, "greedy").specialized(192, 64, 2)
    launch, _ = specialized_case(192, 64, 128, 192, 64)
    seen = trace(kernel, *launch, shared_bytes=kernel.shared_bytes)
    (deadlock,) = [p for p in seen.problems if p.kind == Kind.DEADLOCK]
    assert "setmaxnreg_inc(232) wants 3328 more" in deadlock.message
    assert "the block of 512 threads has 65536" in deadlock.message


def test_a_timeline_lets_go_of_shared_memory_even_where_nothing_can_go_on():
    changed = mutant("specialized", "release removed")
    kernel = changed.compiled()
    launch, _ = changed.case()
    seen = trace(kernel, *launch, shared_bytes=kernel.shared_bytes)
    assert seen.timeline.happenings and not seen.timeline._numbers


def handed_over(how: str):
    """One block leaves 64 numbers for another, and tells it by a word in global memory."""

    @cuda.jit
    def kernel(numbers, ready, out):
        t = cuda.threadIdx.x
        if cuda.blockIdx.x == 0:
            if how == "too early" and t == 0:
                ptx.st_release_gpu_u32(ptx.global_address(ready), 1)
            numbers[t] = t
            cuda.syncthreads()
            if t == 0:
                if how == "released":
                    ptx.st_release_gpu_u32(ptx.global_address(ready), 1)
                elif how == "plain":
                    ready[0] = 1
        else:
            if t == 0:
                while ptx.ld_acquire_gpu_u32(ptx.global_address(ready)) == 0:
                    pass
            cuda.syncthreads()
            out[t] = numbers[t]

    return kernel


@pytest.mark.parametrize(
    ("how", "raced"),
    [("released", set()), ("plain", {"numbers", "ready"}), ("too early", {"numbers"})],
)
def test_a_store_that_releases_orders_what_its_block_stored_before(how, raced):
    arrays = np.zeros(64, np.int32), np.zeros(1, np.uint32), np.zeros(64, np.int32)
    seen = trace(handed_over(how), 2, 64, *arrays)
    assert {problem.array for problem in seen.problems} == raced
    assert (seen.outputs["out"] == np.arange(64)).all()

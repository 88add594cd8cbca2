"""What goes wrong in asynchronous kernels, one by one: its kind, its words, its place."""

import re
from pathlib import Path

import numpy as np
import pytest

from kernels import cuda, float32, ptx, uint32
from kernels.backend.vector import unrolled
from microscope import trace
from microscope.ptx import TensorMap
from microscope.sites import Kind
from tests.microscope.cases import from_source
from tests.microscope.ptx import public_bugs
from tests.microscope.ptx.async_mutants import MUTANTS
from tests.microscope.ptx.products import bfloat16, matrices

int32, uint8, uint64 = cuda.int32, cuda.uint8, cuda.uint64
PANEL = 64 * 128
LOAD, STORE = "cp_async_bulk_tensor_2d_load", "cp_async_bulk_tensor_2d_store"


def of_mutant(name, kernel="specialized"):
    """The problems of a mutant, and its source's lines."""
    (one,) = [m for m in MUTANTS if (m.kernel, m.name) == (kernel, name)]
    made = one.compiled()
    launch, _ = one.case()
    seen = trace(made, *launch, shared_bytes=made.shared_bytes)
    return seen.problems, one.source.splitlines()


def of_bug(make, before, after, **how):
    """The problems of a mended public bug in which something else is changed."""
    source = Path(public_bugs.__file__).read_text(encoding="utf-8")
    start = source.index(f"def {make}(")
    end = source.index("@functools.cache", start)
    part = source[start:end]
    if part.count(before) != 1:
        raise ValueError(f"{make} has {part.count(before)} places {before!r}")
    source = source[:start] + part.replace(before, after) + source[end:]
    module = from_source(source, f"{make}_changed")
    bug = module.Bug(getattr(module, make), True)
    kernel, launch, shared_bytes, *_ = bug.launched()
    return trace(kernel, *launch, shared_bytes=shared_bytes, **how).problems, source.splitlines()


#: The mutant, the kind that is reported, words of the message, and what stands in its two lines.
ITEMS = [
    ("full wait removed", Kind.TOO_EARLY, r"nothing here has waited for phase 0 \(parity 0\)",
     "multiply_add", LOAD),
    ("inner wait removed", Kind.OVERWRITTEN, "while wgmma of line .* may still read it",
     LOAD, "multiply_add"),
    ("last wait removed", Kind.ACCUMULATORS, "call wgmma_wait_group first", "C[", "multiply_add"),
    ("wgmma fence removed", Kind.REGISTER_FENCE, r"call wgmma_fence\(\) before it",
     "multiply_add", None),
    ("commit removed", Kind.COMMIT, r"call wgmma_commit_group\(\)", "C[", "multiply_add"),
    ("a box of bytes too many", Kind.DEADLOCK, "which lacks 8192 bytes", "mbarrier_wait", None),
    ("one panel is not loaded", Kind.DEADLOCK, "which lacks 8192 bytes", "mbarrier_wait", None),
    ("all ask for copies", Kind.BYTES, "called by 2 threads of a warp", LOAD, None),
    ("a box of bytes too few", Kind.BYTES, r"phase 0 of .* ends while the copy", LOAD, "init"),
    ("announced twice", Kind.ARRIVALS, "an arrival too many", "expect_tx", None),
    ("full parity flipped", Kind.TOO_EARLY,
     r"nothing here has waited for phase 0 .* asked for parity 1 in phase 0, and didn't wait",
     "multiply_add", LOAD),
    ("release removed", Kind.DEADLOCK, "warp 0 of block .* lacks 2 of 2 arrivals: "
     "nothing has arrived at any of these; warps 4 to 11", "mbarrier_wait", None),
    ("no barrier behind init", Kind.NO_BARRIER, r"put cuda.syncthreads\(\) behind mbarrier_init",
     "mbarrier", "init"),
    ("barriers not shown", Kind.PROXY_FENCE, r"call fence_mbarrier_init\(\)", LOAD, None),
    ("A a row further", Kind.DESCRIPTOR, "within the pattern of its swizzle", "multiply_add", None),
]  # fmt: skip


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item[0].replace(" ", "-"))
def test_an_item_is_reported_with_its_lines_and_threads(item):
    name, kind, words, line, other_line = item
    problems, lines = of_mutant(name)
    found = [p for p in problems if p.kind == kind and re.search(words, p.message)]
    assert found, [str(p) for p in problems]
    assert any(line in lines[p.line - 1] for p in found)
    if other_line:
        assert any(other_line in lines[p.other_line - 1] for p in found if p.other_line)
    assert any(p.block is not None for p in found)


@pytest.mark.parametrize("landing", ["earliest", "latest", "mixed"])
def test_stage_and_step_of_a_copy_are_told(landing):
    (one,) = [m for m in MUTANTS if (m.kernel, m.name) == ("specialized", "inner wait removed")]
    made = one.compiled()
    launch, _ = one.case()
    seen = trace(made, *launch, shared_bytes=made.shared_bytes, landing=landing)
    early = next(p for p in seen.problems if p.kind == Kind.OVERWRITTEN)
    # The ring has two stages: what is overwritten first is stage 0, in its second phase.
    assert (early.stage, early.step) == (0, 1)


def test_a_copy_over_what_another_consumer_still_reads():
    wait = "ptx.mbarrier_wait_parity(empty + uint32(8) * slot, parity ^ uint32(1))"
    landed = wait.replace("empty", "full")  # what was there has come, and may not have been read
    how = {"schedule": "warps-reversed", "landing": "earliest"}
    problems, lines = of_bug("handed_back", wait, landed, **how)
    found = [p for p in problems if p.kind == Kind.OVERWRITTEN]
    assert found and all(LOAD in lines[p.line - 1] for p in found)
    assert all("boxes[" in lines[p.other_line - 1] for p in found)


RING = """
@cuda.jit
def ring(A, out):
    stages = cuda.shared.array((2, 32), float32)
    barriers = cuda.shared.array(4, uint64)
    full = ptx.shared_address(barriers)
    empty = full + 16
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    if cuda.threadIdx.x == 0:
        for slot in range(2):
            ptx.mbarrier_init(full + 8 * slot, 32)
            ptx.mbarrier_init(empty + 8 * slot, {arrivals})
    cuda.syncthreads()
    acc = float32(0)
    for step in range(A.shape[0]):
        slot, parity = step % 2, step // 2 % 2
        if warp == 0:
            {wait}
            stages[slot, lane] = A[step, lane]
            ptx.mbarrier_arrive(full + 8 * slot)
        else:
            ptx.mbarrier_wait_parity(full + 8 * slot, parity)
            {use}
    out[cuda.threadIdx.x] = acc
"""
WAIT = "ptx.mbarrier_wait_parity(empty + 8 * slot, parity ^ 1)"
READ, RELEASE = "acc += stages[slot, 31 - lane]", "ptx.mbarrier_arrive(empty + 8 * slot)"


def of_ring(arrivals=32, wait=WAIT, use=f"{READ}; {RELEASE}", warps=2):
    """What is reported of a ring of two stages between warp 0 and the others."""
    source = RING.format(arrivals=arrivals, wait=wait, use=use)
    kernel = from_source(HEAD + source, "ring_of_two").ring
    A, out = np.ones((7, 32), np.float32), np.zeros(32 * warps, np.float32)
    problems = trace(kernel, 1, 32 * warps, A, out).problems
    return [p.message for p in problems]


HEAD = "from kernels import cuda, float32, ptx, uint64\n"
OVERRUN = "warp 1 means phase 0, but phases 0 {} are over: warp 0 arrived in each (line {})"
RING_OF_WARPS = [
    ({}, ()),
    ({"wait": "pass"}, ("warp 1 of block (0, 0, 0) waits at line", OVERRUN.format("to 3", 21))),
    ({"wait": f"if step > 1: {WAIT.replace(' ^ 1', '')}"},
     (OVERRUN.format("and 1", 21), "; line 19 asked for parity 1 in phase 0, and didn't wait")),
    ({"warps": 3}, ("warp 0 means phase 0, but phases 0 and 1 are over: warp 1 and warp 2 end one "
                    "each, so init it with more arrivals",)),
    ({"use": f"{RELEASE}; {READ}"}, ("a store of line 20 writes stages[0, 0] while a load",)),
]  # fmt: skip


@pytest.mark.parametrize(("mistake", "words"), RING_OF_WARPS)
def test_a_ring_says_who_ran_ahead_of_whom(mistake, words):
    told = of_ring(**mistake)
    assert bool(told) == bool(words)
    assert all(any(word in message for message in told) for word in words), told
    # The producer's first round, which rightly waits for nobody, is never called a mistake.
    innocent = "wait" not in mistake and any("didn't wait" in message for message in told)
    assert not innocent, told


def test_an_arrival_at_a_block_that_has_left():
    problems, lines = of_mutant("no meeting at the end", "persistent")
    left = [p for p in problems if p.kind == Kind.BLOCK_LEFT]
    assert any("arrives at block" in p.message and "which has left" in p.message for p in left)
    assert all("mbarrier_arrive_cluster" in lines[p.line - 1] for p in left)


@pytest.mark.parametrize(
    ("landing", "words"),
    [("earliest", "ends while the copy of line .* is on its way"), ("latest", "which has left")],
)
def test_a_cluster_that_ends_while_a_block_still_delivers(landing, words):
    A, C = np.zeros((8, 32), np.float32), np.zeros((2, 32), np.float32)
    map_A = TensorMap(A, (8, 32), "float32")
    seen = trace(gone, 2, 32, map_A, C, shared_bytes=1024, landing=landing)
    (delivered,) = [p for p in seen.problems if p.kind == Kind.BLOCK_LEFT]
    assert re.search(words, delivered.message) and "block (1, 0, 0)" in delivered.message


def test_a_box_of_narrow_rows_takes_the_pitch_of_the_swizzle():
    A = np.zeros((40, 64), np.float32)
    box = lambda columns: TensorMap(A, (8, columns), "float32")  # noqa: E731
    assert not trace(loads, 1, 32, box(32), np.int32(1024), shared_bytes=1024).problems
    narrow, *_ = trace(loads, 1, 32, box(8), np.int32(256), shared_bytes=256).problems
    assert narrow.kind == Kind.OUT_OF_BOUNDS  # an H100: illegal address
    assert "the box of 1024 bytes at shared address" in narrow.message


@cuda.jit
def loads(map_A, size):
    """A box that one thread asks for, and all wait for."""
    box = cuda.shared.array(0, float32, alignment=1024)
    bars = cuda.shared.array(1, uint64)
    at, bar = ptx.shared_address(box), ptx.shared_address(bars)
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.fence_mbarrier_init()
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        ptx.mbarrier_arrive_expect_tx(bar, size)
        ptx.cp_async_bulk_tensor_2d_load(at, map_A, 0, 0, bar)
    ptx.mbarrier_wait_parity(bar, 0)


@pytest.mark.parametrize(
    ("x", "y", "words"), [(-4, 0, "x = -4"), (4, -1, "y = -1"), (32, 9, ""), (4, 7, "")]
)
def test_a_stored_box_may_start_past_the_matrix_but_not_before_it(x, y, words):
    C = np.full((8, 32), 7, np.float32)
    map_C = TensorMap(C, (8, 32), "float32")
    seen = trace(stores, 1, 32, map_C, np.int32(x), np.int32(y), shared_bytes=1024)
    if not words:
        inside = np.mgrid[:8, :32] >= np.array([y, x])[:, None, None]
        assert not seen.problems
        assert (seen.outputs["map_C"] == np.where(inside.all(0), 0, 7)).all()
        return
    (before,) = seen.problems  # an H100: illegal instruction
    assert before.kind == Kind.OUT_OF_BOUNDS and words in before.message
    assert (seen.outputs["map_C"] == 7).all()


@cuda.jit
def stores(map_C, x, y):
    """A box of zeros that one thread has stored."""
    box = cuda.shared.array(0, float32, alignment=1024)
    for k in range(cuda.threadIdx.x, 256, 32):
        box[k] = 0
    ptx.fence_proxy_async()
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        ptx.cp_async_bulk_tensor_2d_store(map_C, x, y, ptx.shared_address(box))
        ptx.cp_async_bulk_commit_group()
        ptx.cp_async_bulk_wait_group(0)


clusters_of_two = ptx.cluster_dims(2)


@cuda.jit
def gone(map_A, C):
    """Block 0 delivers to block 1, which does not wait for it."""
    clusters_of_two()
    box = cuda.shared.array(0, float32, alignment=1024)
    bars = cuda.shared.array(1, uint64)
    at, bar = ptx.shared_address(box), ptx.shared_address(bars)
    rank, lane = int32(ptx.cluster_ctarank()), int32(cuda.threadIdx.x)
    if lane == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.fence_mbarrier_init()
        ptx.mbarrier_arrive_expect_tx(bar, 1024)
    ptx.cluster_sync()
    if rank == 0:
        if lane == 0:
            ptx.cp_async_bulk_tensor_2d_load_multicast(at, map_A, 0, 0, bar, 3)
        ptx.mbarrier_wait_parity(bar, 0)
        C[0, lane] = box[lane]
    cuda.syncwarp()


@cuda.jit
def by_hand(bits_A, map_B, C, fenced, further, hasty):
    """A is laid by ordinary stores, `further` bytes behind where it belongs, and read by wgmma.

    Where it's `hasty`, another number is stored there before the wait for the products.
    """
    tiles = cuda.shared.array(0, uint8, alignment=1024)
    bars = cuda.shared.array(1, uint64)
    sA, bar = ptx.shared_address(tiles), ptx.shared_address(bars)
    sB = sA + uint32(PANEL)
    tid = int32(cuda.threadIdx.x)
    if tid == 0:
        ptx.mbarrier_init(bar, 1)
        ptx.fence_mbarrier_init()
    row = tid // 2
    for k in range(4):
        chunk = tid % 2 * 4 + k
        to = sA + uint32(row * 128 + (chunk ^ row % 8) * 16)
        ptx.st_shared_v4_f32(
            to,
            bits_A[row, 4 * chunk],
            bits_A[row, 4 * chunk + 1],
            bits_A[row, 4 * chunk + 2],
            bits_A[row, 4 * chunk + 3],
        )
    if fenced:
        ptx.fence_proxy_async()
    cuda.syncthreads()
    if tid == 0:
        ptx.mbarrier_arrive_expect_tx(bar, PANEL)
        ptx.cp_async_bulk_tensor_2d_load(sB, map_B, 0, 0, bar)
    ptx.mbarrier_wait_parity(bar, 0)
    acc = cuda.local.array(32, float32)
    ptx.wgmma_fence()
    for k in range(4):
        a = ptx.matrix_descriptor(sA + uint32(further + 32 * k), 16)
        multiply_add(acc, a, ptx.matrix_descriptor(sB + uint32(2048 * k), PANEL), int32(k > 0))
    unrolled()
    ptx.wgmma_commit_group()
    if hasty:
        ptx.st_shared_v2_f32(sA + uint32(8 * tid), 0, 0)
    ptx.wgmma_wait_group(0, acc, 32)
    for j in range(8):
        C[tid // 32 * 16 + tid % 32 // 4, 8 * j + tid % 4 * 2] = acc[4 * j]
    unrolled()


multiply_add = ptx.wgmma(64, "bfloat16")


def laid_by_hand(fenced, further, hasty=False):
    A, B, C = matrices(64, 64, 64)
    map_B = TensorMap(bfloat16(B), (64, 64), "bfloat16")
    arguments = bfloat16(A).view(np.float32), map_B, C, fenced, further, hasty
    seen = trace(by_hand, 1, 128, *arguments, shared_bytes=2 * PANEL)
    return seen, A @ B


def test_ordinary_stores_that_a_product_reads_need_a_proxy_fence():
    seen, expected = laid_by_hand(True, 0)
    assert not seen.problems
    stored = ~np.isnan(seen.outputs["C"])
    assert stored.sum() == 32 * 32
    np.testing.assert_array_equal(seen.outputs["C"][stored], expected[stored])
    seen, _ = laid_by_hand(False, 0)
    assert {p.kind for p in seen.problems} == {Kind.PROXY_FENCE}
    assert all("fence_proxy_async()" in p.message for p in seen.problems)


def test_an_ordinary_store_over_what_a_product_still_reads():
    seen, _ = laid_by_hand(True, 0, hasty=True)
    (over,) = [p for p in seen.problems if p.kind == Kind.OVERWRITTEN]
    assert re.search("a store of line .* while wgmma of line .* may still read it", over.message)
    # A warp may also ask for its part of the products after another has stored.
    assert all({p.line, p.other_line} == {over.line, over.other_line} for p in seen.problems)


def test_a_descriptor_that_points_outside():
    seen, _ = laid_by_hand(True, 2 * PANEL)
    (outside,) = [p for p in seen.problems if p.kind == Kind.DESCRIPTOR]
    assert "the descriptor of A" in outside.message
    assert re.search(r"reads bytes \d+ to \d+ .* the block's own end at", outside.message)

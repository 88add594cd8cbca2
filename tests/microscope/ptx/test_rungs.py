"""The ladder's Python rungs for Hopper, and mutants of them, in the interpreter."""

from pathlib import Path

import numpy as np
import pytest

from kernels.host.tensor_cores import HopperTiles
from kernels.rungs import persistent, specialized, wgmma
from microscope import trace
from microscope.ptx import TensorMap
from microscope.sites import Kind
from tests.microscope.cases import from_source
from tests.microscope.ptx.products import bfloat16, matrices

RUNGS = {"wgmma": wgmma, "specialized": specialized, "persistent": persistent}
RACES = {Kind.TOO_EARLY, Kind.OVERWRITTEN, Kind.UNINITIALISED}
STUCK = {Kind.DEADLOCK}


def launch(name: str, seed: int = 0):
    """Grid, block, arguments and shared memory of a small product, and what C should be."""
    M, N, K = 120, 136, 64 * 6 + 8
    A, B, C = matrices(M, N, K, seed)
    maps = (
        TensorMap(bfloat16(A), (128, 64), "bfloat16"),
        TensorMap(bfloat16(B), (64, 64), "bfloat16"),
    )
    stage = 128 * 128 + 256 * 128  # bytes of a tile of A and one of B
    if name == "wgmma":
        return ((2, 1), 128, *maps, C, M, N, K), 2 * 128 * 128, A @ B
    if name == "specialized":
        return ((1, 1), 384, *maps, C, M, N, K), HopperTiles.stages[256] * stage, A @ B
    map_C = TensorMap(C, (64, 32), "float32")
    return ((2, 1), 384, *maps, map_C, M, N, K), 4 * stage + 4 * 64 * 128, A @ B


@pytest.mark.parametrize("name", RUNGS)
def test_a_rung_is_right_and_sound(name):
    kernel = getattr(RUNGS[name], f"make_{name}")()
    arguments, shared_bytes, expected = launch(name)
    seen = trace(kernel, *arguments, shared_bytes=shared_bytes)
    assert not seen.problems
    C = "map_C" if name == "persistent" else "C"
    np.testing.assert_array_equal(seen.outputs[C], expected)


DONE = "            # A precaution: thread 0 has waited for the products of all four warps.\n"
MUTANTS = [
    ("wgmma", "ptx.mbarrier_wait_parity(loaded, parity)", "pass", RACES),
    ("wgmma", "parity ^= 1", "pass", RACES),
    ("wgmma", "ptx.wgmma_wait_group(0, upper, SUMS)\n"
     "            # One wait is enough; this one tells the compiler that lower changes, too.\n"
     "            ptx.wgmma_wait_group(0, lower, SUMS)", "pass", {Kind.OVERWRITTEN}),
    ("wgmma", "ptx.wgmma_commit_group()", "pass", {Kind.COMMIT}),
    ("wgmma", "ptx.wgmma_fence()", "pass", {Kind.REGISTER_FENCE}),
    # One warp's wait speaks for its warpgroup, on an H200 in 7 of 7 launches: nothing goes wrong.
    ("wgmma", f"{DONE}            cuda.syncthreads()", f"{DONE}            pass", set()),
    ("wgmma", "loaded, TILE_A + TILE_B)", "loaded, TILE_A)", RACES | STUCK | {Kind.BYTES}),
    ("specialized", "mbarrier_wait_parity(empty + 8 * slot, parity ^ 1)",
     "mbarrier_wait_parity(empty + 8 * slot, parity)", STUCK),
    ("specialized", "ptx.mbarrier_wait_parity(full + 8 * slot, parity)", "pass", RACES),
    ("specialized", "ptx.mbarrier_arrive(empty + 8 * previous)", "pass", STUCK),
    ("specialized", "ptx.mbarrier_arrive(empty + 8 * previous)",
     "ptx.mbarrier_arrive(empty + 8 * slot)", RACES | STUCK),
    ("specialized", "expect_tx(loaded, STAGE)", "expect_tx(loaded, STAGE + 16)", STUCK),
    ("specialized", "sA + upper * 128 + k * 2", "sA + upper * 128 + 128 + k * 2",
     {Kind.DESCRIPTOR}),
]  # fmt: skip


def changed(name: str, before: str, after: str):
    """The kernel of a rung with one place of its text changed."""
    source = Path(RUNGS[name].__file__).read_text(encoding="utf-8")
    if source.count(before) != 1:
        raise ValueError(f"{name} has {source.count(before)} places {before!r}")
    module = from_source(source.replace(before, after), f"{name}_changed")
    return getattr(module, f"make_{name}")()


@pytest.mark.parametrize("number", range(len(MUTANTS)))
def test_a_mutant_of_a_rung_is_reported(number):
    name, before, after, kinds = MUTANTS[number]
    arguments, shared_bytes, _ = launch(name)
    seen = trace(changed(name, before, after), *arguments, shared_bytes=shared_bytes)
    found = {problem.kind for problem in seen.problems}
    assert found & kinds if kinds else not found


ARRIVE = "ptx.mbarrier_arrive(empty + 8 * previous)"
EXPECT = "loaded, TILE_A + TILE_B)"


@pytest.mark.parametrize(
    ("name", "before", "after", "words"),
    [
        ("wgmma", EXPECT, f"{EXPECT[:-1]} + 1)", "which lacks 1 byte"),
        ("wgmma", EXPECT, f"{EXPECT[:-1]} - 16)", "which expects 16 bytes fewer than came"),
        ("wgmma", "parity ^= 1", "pass", "no wait here was for phase 1 (parity 1)"),
        ("specialized", ARRIVE, "pass", "arrivals: nothing has arrived at any of these"),
        ("specialized", ARRIVE, "ptx.mbarrier_arrive(empty + 8 * slot)",
         "mbarrier 0 of `empty` (made at line 42), which lacks 2 of 2 arrivals: "
         "what came went to numbers 1, 2, 3;"),
        ("specialized", "if step > 0 and tid == 0:", "if step > 0:",
         "brings 32 arrivals of a warp at once"),
    ],
)  # fmt: skip
def test_a_deadlock_names_its_cause(name, before, after, words):
    arguments, shared_bytes, _ = launch(name)
    kernel = changed(name, before, after)
    seen = trace(kernel, *arguments, shared_bytes=shared_bytes, landing="earliest")
    (stuck,) = [problem for problem in seen.problems if problem.kind == Kind.DEADLOCK]
    assert words in stuck.message and "address" not in stuck.message

"""What a trace counts of fragments and boxes: wavefronts, conflicts, bytes."""

import numpy as np
import pytest

from microscope import trace
from tests.microscope.ptx.counters import rows_of_128_bytes
from tests.microscope.ptx.hopper_kernels import copied, persistent
from tests.microscope.ptx.products import copied_case, persistent_case


def site(seen, text, op):
    (found,) = [s for s in seen.sites if text in s.expr and s.op == op and s.space == "shared"]
    return found


@pytest.mark.parametrize(("swizzled", "wavefronts"), [(False, 32), (True, 4)])
def test_rows_of_128_bytes_conflict_unless_they_are_swizzled(swizzled, wavefronts):
    out = np.zeros(32, np.uint32)
    seen = trace(rows_of_128_bytes, 1, 32, out, swizzled, shared_bytes=2048)
    assert not seen.problems
    found = site(seen, "ldmatrix_x4", "load")
    assert (found.requests, found.wavefronts, found.conflicts) == (1, wavefronts, wavefronts - 4)


def test_rows_of_32_bytes_conflict_in_pairs():
    kernel = copied()
    launch, _ = copied_case(16, 8, 80)
    seen = trace(kernel, *launch, shared_bytes=kernel.shared_bytes)
    found = site(seen, "ldmatrix_x4", "load")
    assert (found.requests, found.wavefronts, found.conflicts) == (5, 40, 20)
    # Each step copies 16 rows of A and 8 of B, 32 bytes each; the last finds nothing to copy.
    assert seen.asynchronous["cp_async_bytes"] == 5 * 24 * 32
    assert seen.asynchronous["mma bfloat16"] == 16 * 8 * 80


def test_stores_of_8_bytes_to_a_swizzled_box_meet_in_twos():
    kernel = persistent(64, 128, 2)
    launch, _ = persistent_case(128, 128, 64)
    seen = trace(kernel, *launch, shared_bytes=kernel.shared_bytes)
    stores = [s for s in seen.sites if "st_shared_v2_f32" in s.expr]
    assert len(stores) == 2
    for found in stores:
        assert found.requests == 2 * 4 * 4 * 4  # blocks, warps, boxes, pairs of a row
        # Half a warp stores 32 bytes in each of 4 rows; those of rows 2i and 2i + 1 lie in the
        # same banks, since the swizzle of the two differs in the place of 16 bytes only.
        assert (found.wavefronts, found.conflicts) == (4 * found.requests, 2 * found.requests)
    assert seen.asynchronous["tma_store_bytes"] == 128 * 128 * 4
    # Each block loads its rows of A, and half of B for both.
    assert seen.asynchronous["tma_load_bytes"] == 2 * 64 * 128 + 2 * 64 * 128
    assert seen.asynchronous["tma_delivered_bytes"] == 2 * (64 * 128 + 2 * 64 * 128)


def test_boxes_by_tma_are_global_bytes_too():
    kernel = persistent(64, 128, 2)
    launch, _ = persistent_case(100, 136, 264)
    seen = trace(kernel, *launch, shared_bytes=kernel.shared_bytes)
    loads, stores = (seen.count(space="global", op=op) for op in ("load", "store"))
    # Each of two tiles of C needs A whole; B is read once, its 136 columns in both together.
    assert loads["bytes_requested"] == 2 * 100 * 264 * 2 + 264 * 136 * 2
    assert stores["bytes_requested"] == 100 * 136 * 4 and stores["sectors"] == 1700
    assert seen.work.bytes_requested == loads["bytes_requested"] + stores["bytes_requested"]
    assert seen.work.bytes_unique == (100 * 264 + 264 * 136) * 2 + 100 * 136 * 4
    assert {s.unit for s in seen.sites if s.space == "global"} == {"TMA"}
    # Rows of A have 528 bytes: every second starts in the middle of a sector.
    (rows,) = [s for s in seen.sites if s.array == "map_A"]
    assert rows.requests == 2 * 2 * 5 and rows.sectors * 32 > rows.bytes_used
    assert seen.heat("map_A").loads.min() == seen.heat("map_A").loads.max() == 2
    assert seen.heat("map_C").stores.min() == seen.heat("map_C").stores.max() == 1
    assert "boxes by TMA" in str(seen.table())

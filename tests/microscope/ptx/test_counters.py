"""What a trace counts of tensor-core kernels against the hardware's own counters, as recorded."""

import json
from pathlib import Path

import pytest

from tests.microscope.ptx.counters import cases, traced

RECORD = json.loads(
    (Path(__file__).parents[1] / "counters" / "tensor_h200.json").read_text(encoding="utf-8")
)
CASES = {case.name: case for case in cases()}
#: Of these the two agree, whatever the launch: wavefronts and conflicts of ``ldmatrix``, stores,
#: boxes stored by TMA, and operations of the tensor cores by format.
EQUAL = (
    "shared_load_wavefronts", "shared_load_bank_conflicts", "shared_store_instructions",
    "ldmatrix_instructions", "global_store_requests", "global_store_sectors", "tma_store_sectors",
    "bfloat16", "float16", "tf32", "e4m3",
)  # fmt: skip
STORES = ("shared_store_wavefronts", "shared_store_bank_conflicts")


def both(name):
    return traced(CASES[name]), RECORD["cases"][name]


def test_there_are_enough_launches():
    assert len(RECORD["cases"]) >= 10


@pytest.mark.parametrize("name", RECORD["cases"])
def test_counts_that_agree(name):
    mine, counted = both(name)
    assert {key: mine.get(key, 0) for key in EQUAL} == {key: counted.get(key, 0) for key in EQUAL}


@pytest.mark.parametrize("name", RECORD["cases"])
def test_stores_to_shared_memory_agree_unless_the_block_uses_it_meanwhile(name):
    mine, counted = both(name)
    if "cp_async" in str(sorted(mine)) or name.startswith("copied"):
        # What cp.async writes is no store to the profiler.
        assert not any(counted.get(key) for key in STORES)
    elif name in MEANWHILE:
        # These blocks load or multiply while others of their warps store, and the GPU counts more
        # passes than the stores alone need; in launches that don't, it counts as many.
        assert all(counted[key] > mine[key] for key in STORES)
    else:
        assert {key: mine.get(key, 0) for key in STORES} == {
            key: counted.get(key, 0) for key in STORES
        }


MEANWHILE = {"persistent 64 128 2 2", "rung persistent"}


@pytest.mark.parametrize("name", RECORD["cases"])
def test_boxes_that_are_loaded(name):
    mine, counted = both(name)
    boxes, handed = mine.get("tma_box_sectors", 0), counted.get("tma_load_sectors", 0)
    if mine.get("tma_load_sectors", 0) == boxes:
        # Every box lies inside: each sector is read from L2 once, and handed over.
        assert handed == boxes
        if boxes:
            assert counted["l2_read_sectors"] == boxes
    elif name == "persistent 64 128 3 1":
        # Beyond the edge the unit hands over zeros, as many as the box has.
        assert handed == boxes
    else:
        # Rows of the matrix start within a sector, so that 128 bytes of one lie in 4 or 5 of them.
        assert boxes < handed <= boxes * 5 / 4

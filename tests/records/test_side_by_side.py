"""Predicted, traced and counted side by side: found in their tables, every difference explained."""

import pytest

from kernels import records
from kernels.records import Record, Row, side_by_side
from kernels.records.side_by_side import Line, lines

TRACED = next(row for row in side_by_side.traced() if row["rung"] == "tiled")


def record(**counts):
    """A record that counted one small product of the tiled rung as it was traced, but `counts`."""
    row = Row({**TRACED, "engine": "numba", **counts})
    return Record("test", {}, {}, {"counted": [row], "profiles": []})


def line(quantity, **counts):
    found = [
        one
        for one in lines(record(**counts), quantity)
        if one.rung == "tiled" and one.shape[0] == TRACED["M"]
    ]
    return found[0]


@pytest.mark.parametrize("quantity", side_by_side.QUANTITIES)
def test_what_is_equal_needs_no_reason(quantity):
    one = line(quantity)
    assert (one.counted, one.ratio, one.why) == (TRACED[quantity], 1.0, "")
    modelled = not quantity.startswith("shared_")  # the models know global memory alone
    assert one.predicted == (one.traced if modelled else None)


def test_the_large_size_is_predicted_alone():
    row = Row({**TRACED, "engine": "numba", "M": 2048, "N": 2048, "K": 2048, "requests": 7})
    found = [x for x in lines(Record("t", {}, {}, {"profiles": [row]}), "requests") if x.counted]
    assert [(x.rung, x.shape, x.traced) for x in found] == [("tiled", (2048, 2048, 2048), None)]
    assert found[0].predicted == found[0].expected == 2 * 2048**3 // 16 // 32


@pytest.mark.parametrize(
    "quantity, counts, why",
    [
        ("shared_load_instructions", {"shared_load_instructions": 5}, side_by_side.MERGED),
        ("shared_load_wavefronts", {"shared_load_instructions": 5, "shared_load_wavefronts": 5},
         side_by_side.MERGED_WAVEFRONTS),
        ("shared_load_wavefronts", {"shared_load_wavefronts": 5}, side_by_side.UNEXPLAINED),
        ("shared_store_wavefronts",
         {"shared_store_wavefronts": TRACED["shared_store_wavefronts"] + 9},
         side_by_side.SAME_TIME),
        ("requests", {"requests": 5}, side_by_side.WIDER),
        ("requests", {"requests": TRACED["requests"] + 1}, side_by_side.PARTED),
        ("sectors", {"sectors": 5}, side_by_side.UNEXPLAINED),
        ("shared_store_wavefronts",
         {"shared_store_wavefronts": 2 * TRACED["shared_store_wavefronts"]},
         side_by_side.UNEXPLAINED),
    ],
)  # fmt: skip
def test_a_difference_has_a_reason(quantity, counts, why):
    assert line(quantity, **counts).why == why


def test_no_counters_are_no_difference():
    for one in lines(Record("t", {}, {}, {"timings": []}), "sectors"):
        assert (one.counted, one.ratio, one.why) == (None, None, "")
    nothing = Line("naive", {}, (1, 1, 1), "shared_load_instructions", None, 0, 3)
    assert nothing.ratio is None


def test_an_unknown_quantity_is_named():
    with pytest.raises(KeyError, match="no quantity 'bytes': use one of requests, sectors"):
        next(lines(record(), "bytes"))


@pytest.mark.parametrize("name", records.names())
def test_every_difference_in_a_record_is_explained(name):
    kept = records.load(name)
    for quantity in side_by_side.QUANTITIES:
        for one in lines(kept, quantity):
            assert one.why != side_by_side.UNEXPLAINED, (
                f"say in kernels/records/side_by_side.py why {name}.json counts otherwise: {one}"
            )
            if quantity in ("requests", "sectors") and one.counted is not None:
                assert one.counted == one.expected, one

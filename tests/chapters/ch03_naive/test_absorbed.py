"""The picture of the bytes that caches absorb."""

import pytest

from chapters.ch03_naive import drawings
from kernels.lab import plots
from kernels.records import Record, Row

PROFILE = Row(
    rung="naive", engine="numba", options={"block": 32}, M=100, N=50, K=25,
    l2_read_bytes=250_000, dram_read_bytes=15_000,
)  # fmt: skip


def test_three_bars_say_what_was_requested_and_read():
    record = Record("made up", tables={"profiles": [PROFILE]})
    ax = drawings.absorbed(record, "naive", "numba", block=32).axes[0]
    assert [bar.get_width() for bar in ax.patches] == [1_000_000, 250_000, 15_000]
    assert [text.get_text() for text in ax.texts] == [
        "requested by threads: 1.00 MB", "read from L2: 250 kB", "read from DRAM: 15.0 kB",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "rows", [[], [Row(PROFILE) | {"engine": "cpp"}], [{"rung": "naive", "engine": "numba"}]]
)
def test_without_counters_it_says_so(rows):
    record = Record("made up", tables={"profiles": [Row(row) for row in rows]})
    drawn = plots.svg(drawings.absorbed(record, "naive", "numba"))
    assert "This record holds no such counters" in drawn
    assert drawn == plots.svg(drawings.absorbed(Record(""), "naive", "numba"))

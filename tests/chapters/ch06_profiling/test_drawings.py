"""Pictures of what profilers and sanitizers report: what is drawn follows from the arguments."""

import pytest

from chapters.ch06_profiling import drawings
from chapters.ch06_profiling.drawings.hiding import issues
from kernels.lab import occupancy, plots


def texts(fig):
    return [text.get_text() for text in fig.axes[0].texts if text.get_text()]


def test_each_unit_is_filled_as_far_as_it_is_busy():
    fig = drawings.load_path({"l1_throughput": 0.75, "dram_throughput": 0.0})
    filled = [bar.get_height() for bar in fig.axes[0].patches if bar.get_fill()]
    assert filled == pytest.approx([0, 0, 0.75 * 1.8, 0, 0])
    assert {"75 %", "L2", "DRAM"} <= set(texts(fig))


def test_a_strip_says_what_each_resource_allows():
    fits = occupancy(256, registers=122, shared_bytes=8192, gpu="h200")
    told = texts(plots.slots(fits))
    assert told == ["warps", "2 of 8", "blocks", "2 of 32", "registers", "2 of 2",
                    "shared memory", "2 of 25"]  # fmt: skip


def test_a_warp_waits_for_its_own_last_result():
    assert issues(1, 1, 3, 7) == [0, None, None, 0, None, None, 0]
    assert issues(3, 1, 3, 6) == [0, 1, 2, 0, 1, 2]
    assert issues(1, 3, 3, 6) == [0] * 6, "three instructions that need nothing of each other"


def test_each_way_names_its_share_of_issuing_cycles():
    told = texts(drawings.hiding([(2, 1), (6, 1)], latency=6, cycles=24))
    assert "2 warps, 1 in flight each: issues in 33 %" in told
    assert "6 warps, 1 in flight each: issues in 100 %" in told


def test_a_cross_for_each_finding():
    tools = ("racecheck", "tracer")
    found = {"no barrier": tools, "reverse": ()}
    told = texts(drawings.detection(found, tools))
    assert told == [*tools, "no barrier", "×", "×", "reverse"]

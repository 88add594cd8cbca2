"""Pictures of the machine: what they draw follows from what they are given."""

import pytest
from matplotlib.colors import to_rgba
from matplotlib.patches import Circle, PathPatch
from matplotlib.path import Path

from chapters.ch01_hardware import drawings
from chapters.ch01_hardware.drawings import chip, flight, lanes
from chapters.ch01_hardware.drawings.kitchen import TERMS
from kernels.lab import plots


def texts(fig):
    return [text.get_text() for text in fig.axes[0].texts]


def frames(fig):
    """How many rectangles each shape of a picture is made of, by colour of its outline."""
    found = {}
    for patch in fig.axes[0].patches:
        if isinstance(patch, PathPatch):
            starts = sum(code == Path.MOVETO for code in patch.get_path().codes)
            if patch.get_edgecolor()[3]:
                found.setdefault(patch.get_edgecolor(), []).append(starts)
    return found


def of(colour):
    return to_rgba(colour)


def test_a_die_has_its_cores_and_sms_with_their_arithmetic():
    drawn = frames(drawings.dies(cores=(2, 1), sms=(3, 2)))
    parts = {role: drawn[of(colour)] for role, (colour, _) in chip.PARTS.items()}
    legend = 1
    assert parts["arithmetic"] == [2 * 4 + 6 * 16 + legend]
    assert parts["control"] == [2 + 6 + legend]
    assert parts["cache"] == [2 + 6 + 2 + legend]


@pytest.mark.parametrize("sms", [6, 40, 132, 148])
def test_the_mapping_has_a_square_for_every_sm(sms):
    fig = drawings.mapping(sms)
    grid, gpu = frames(fig)[of(chip.PAIRS[0])]
    assert (grid, gpu) == (30, sms)
    assert f"GPU:\n{sms} SMs" in texts(fig)


def test_the_kitchen_names_each_part_twice():
    fig = drawings.kitchen(stations=2, chefs=3)
    assert {*TERMS, *TERMS.values()} <= set(texts(fig))
    assert sum(isinstance(patch, Circle) for patch in fig.axes[0].patches) == 6


def test_a_warp_executes_every_branch_that_one_of_its_lanes_takes():
    every = frozenset(range(32))
    even = frozenset(range(0, 32, 2))
    assert lanes.executed([i % 2 for i in range(64)]) == [
        (0, 0, even), (0, 1, every - even), (1, 0, even), (1, 1, every - even),
    ]  # fmt: skip
    assert lanes.executed([i // 32 for i in range(64)]) == [(0, 0, every), (1, 1, every)]
    assert lanes.executed([1] * 33) == [(0, 1, every), (1, 1, frozenset({0}))]


def test_a_divergence_has_a_row_for_each_branch_of_a_warp():
    fig = drawings.divergence({"one": [i % 3 for i in range(40)]}, names=("a", "b", "c"))
    assert [text for text in texts(fig) if text in set("abc")] == ["a", "b", "c"] * 2
    assert [text for text in texts(fig) if text.startswith("warp")] == ["warp 0", "warp 1"]
    drawn = frames(fig)
    assert drawn[of(lanes.LIBRARY)] == [32] * 6, "each row shows all lanes"
    active = [drawn[of(colour)] for colour, _ in lanes.LOOKS[:3]]
    assert active == [[11, 3], [11, 2], [10, 3]]


def test_memory_delivers_in_every_slot_once_enough_loads_are_in_flight():
    assert flight.delivered(1, 8, 24) == [7, 15, 23]
    assert flight.delivered(8, 8, 24) == list(range(7, 24))
    assert flight.delivered(2, 4, 12) == [3, 4, 7, 8, 11]
    fig = drawings.in_flight(threads=(2,), latency=4, slots=12)
    drawn = frames(fig)
    assert drawn[of(plots.THREAD)] == [6] and drawn[of(plots.MEMORY["global"])] == [5]
    assert "2 in flight" in texts(fig)


def test_rates_name_every_bar_and_span_its_decades():
    fig = drawings.rates({("shared", "near"): 3e13, ("host", "far"): 9e9})
    assert texts(fig) == ["near: 30.0 TB/s", "far: 9.00 GB/s"]
    assert fig.axes[0].get_xlim() == (1e9, 1e14)
    ends = [patch.get_x() + patch.get_width() for patch in fig.axes[0].patches]
    assert ends == pytest.approx([3e13, 9e9])

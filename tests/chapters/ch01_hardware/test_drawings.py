"""Pictures of the machine: what they draw follows from what they are given."""

from matplotlib.colors import to_rgba
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from chapters.ch01_hardware import drawings
from chapters.ch01_hardware.drawings import flight, lanes
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


def test_a_warp_executes_every_branch_that_one_of_its_lanes_takes():
    every = frozenset(range(32))
    even = frozenset(range(0, 32, 2))
    assert lanes.executed([i % 2 for i in range(64)]) == [
        (0, 0, even), (0, 1, every - even), (1, 0, even), (1, 1, every - even),
    ]  # fmt: skip
    assert lanes.executed([i // 32 for i in range(64)]) == [(0, 0, every), (1, 1, every)]
    assert lanes.executed([1] * 33) == [(0, 1, every), (1, 1, frozenset({0}))]


def test_memory_delivers_in_every_slot_once_enough_loads_are_in_flight():
    assert flight.delivered(1, 8, 24) == [7, 15, 23]
    assert flight.delivered(8, 8, 24) == list(range(7, 24))
    assert flight.delivered(2, 4, 12) == [3, 4, 7, 8, 11]
    fig = drawings.in_flight(threads=(2,), latency=4, slots=12)
    drawn = frames(fig)
    assert drawn[of(plots.THREAD)] == [6] and drawn[of(plots.MEMORY["global"])] == [5]
    assert "2 in flight" in texts(fig)

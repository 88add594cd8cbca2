"""Pictures of a launch: indices of threads, a neighbour's memory, lanes over time."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from chapters.ch02_vector_add import drawings
from kernels.lab import plots


def hatched(ax, hatch):
    """Lower left corners of the rectangles with a hatch."""
    return [p.get_xy() for p in ax.patches if isinstance(p, Rectangle) and p.get_hatch() == hatch]


@pytest.mark.parametrize("n, threads", [(50, 32), (50, 16), (64, 32), (9, 4)])
def test_each_thread_has_its_index_and_those_beyond_n_are_hatched(n, threads):
    ax = drawings.indices(n, threads).axes[0]
    drawn = [int(text.get_text()) for text in ax.texts if text.get_text().isdigit()]
    assert drawn == list(range(-(-n // threads) * threads))
    assert len(hatched(ax, "////")) == len(drawn) - n
    assert len(hatched(ax, plots.HATCH["C"])) == n


def test_only_what_somebody_else_lost_is_marked():
    before = np.full(12, 7.0)
    harmless, harmful = before.copy(), before.copy()
    harmless[:8] = 1
    harmful[:10] = 1
    states = {"before": before, "harmless": harmless, "harmful": harmful}
    ax = drawings.overwritten(states, 8, range(5, 12)).axes[0]
    marked = hatched(ax, "////")
    assert [x for x, _ in marked] == [3, 4] and len({y for _, y in marked}) == 1
    drawn = [text.get_text() for text in ax.texts if text.get_text().isdigit()]
    assert drawn == list("777777711177771111177")


def bars(fig):
    """Lane, start and end of each bar, in the order of time on each lane."""
    frames = [patch for patch in fig.axes[0].patches if patch.get_linewidth() > 1]
    return [(p.get_y(), p.get_x(), p.get_x() + p.get_width()) for p in frames]


@pytest.mark.parametrize("pieces", [1, 2, 4, 8])
def test_pieces_overlap_but_an_engine_works_on_one_at_a_time(pieces):
    drawn = bars(plots.streams(pieces, copy_in=2, kernel=0.5, copy_out=1))
    lanes = [[bar[1:] for bar in drawn if bar[0] == lane] for lane in range(3)]
    assert [len(lane) for lane in lanes] == [pieces] * 3
    for lane in lanes:
        assert all(end <= start + 1e-9 for (_, end), (start, _) in pairwise(lane))
    for before, after in pairwise(lanes):
        assert all(b[1] <= a[0] + 1e-9 for b, a in zip(before, after, strict=True))
    # The copies in take longest; the last piece's other two steps are all that sticks out.
    assert lanes[2][-1][1] == pytest.approx(2 + 1.5 / pieces)

"""The ladder as a budget: bars end at the measurement, marks stand at the ceilings."""

import re
import xml.etree.ElementTree as ElementTree

import pytest
from matplotlib.container import BarContainer

from kernels import records
from kernels.lab import plots
from kernels.lab.plots.budget import MARKS

RECORD = records.load("h200")
NAMES = ("swapped", "naive", "tiled", "thread_tiled")


def marks(fig, name):
    """Where the marks of one ceiling stand, the highest ones apart."""
    lines = [line for line in fig.axes[0].lines if line.get_marker() == MARKS[name][0]]
    large = [line for line in lines if line.get_markersize() == 7]
    return [float(line.get_xdata()[0]) for line in lines], [float(x.get_xdata()[0]) for x in large]


def test_bars_and_marks_have_the_numbers_of_the_profiles():
    bars = plots.budget_bars(RECORD, NAMES)
    assert [(bar.rung, bar.engine) for bar in bars] == [
        (name, engine) for name in NAMES for engine in ("numba", "cpp")
    ]
    fig = plots.budget(bars)
    drawn = [c for c in fig.axes[0].containers if isinstance(c, BarContainer)][: len(bars)]
    ends = [box.get_x() + box.get_width() for container in drawn for box in container]
    assert ends == pytest.approx([bar.measured for bar in bars])
    assert ends[:4] == pytest.approx([33.4, 32.8, 8.05, 2.60], rel=0.01)
    _, issue = marks(fig, "issue")
    _, wavefronts = marks(fig, "wavefronts")
    # Numba waits for issue slots in the naive kernel and in the thread tiles; C++ never does here.
    assert issue == pytest.approx([6.26, 0.362], rel=0.01)
    assert wavefronts == pytest.approx([33.0, 33.0, 2.0, 1.92, 1.92, 0.357], rel=0.01)
    assert fig.axes[0].get_xscale() == "log"


def test_a_mark_that_is_far_from_the_end_is_left_out():
    swapped = plots.budget_bars(RECORD, ["swapped"])
    every, _ = marks(plots.budget(swapped), "fp32")
    assert swapped[0].budget.ceilings["fp32"] == 0.25 and every == []


def test_the_tensor_cores_have_their_mark():
    _, busy = marks(plots.budget(plots.budget_bars(RECORD, ["persistent", "fp8"])), "tensor")
    assert busy == pytest.approx([0.0156, 0.0079], rel=0.01)


@pytest.mark.parametrize("names", [NAMES, None])
def test_the_picture_is_stable_and_fits_a_telephone(names):
    bars = plots.budget_bars(RECORD, names)
    text = plots.svg(plots.budget(bars))
    ElementTree.fromstring(text)
    assert text == plots.svg(plots.budget(bars))
    assert float(re.search(r'viewBox="0 0 ([\d.]+)', text)[1]) < 400, "points"


def test_without_a_profile():
    assert "Nothing is profiled yet" in plots.svg(plots.budget(plots.budget_bars(RECORD, size=64)))

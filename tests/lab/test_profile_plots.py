"""Charts of profiles: every kernel is in them, and nothing overlaps what it should not."""

import numpy as np
import pytest

from kernels.lab.plots import profiles, svg
from kernels.records.roofline import Point, Roof


def texts(fig):
    found = [text.get_text() for ax in fig.axes for text in ax.texts]
    return found + [label.get_text() for ax in fig.axes for label in ax.get_yticklabels()]


def test_stalls_fill_the_bar_and_name_the_cycles():
    fig = profiles.stalls({"one": {"barrier": 3.0, "wait": 1.0}, "two": {"imc_miss": 2.0}})
    ax = fig.axes[0]
    widths = {}
    for patch in ax.patches:
        place = round(patch.get_y() + patch.get_height() / 2)
        widths[place] = widths.get(place, 0) + patch.get_width()
    assert widths == pytest.approx({0: 1.0, 1: 1.0}), "what has no colour of its own is 'other'"
    assert {"one", "two", "4.0 cycles", "2.0 cycles"} <= set(texts(fig))
    legend = [text.get_text() for text in fig.legends[0].get_texts()]
    assert legend == ["barrier", "fixed latency", "other"]
    assert "<svg" in svg(fig)


def test_each_kernel_stands_once_a_level_and_labels_keep_apart():
    roofs = {"L1 and shared": Roof("", 32e12, 60e12), "L2": Roof("", 7e12, 60e12),
             "DRAM": Roof("", 4e12, 60e12)}  # fmt: skip

    def kernel(speed):
        return {level: Point(level, 10.0**n, speed) for n, level in enumerate(roofs)}

    close = [("slow", kernel(1e12)), ("fast", kernel(50e12)), ("faster", kernel(52e12))]
    fig = profiles.levels(roofs, close)
    ax = fig.axes[0]
    labels = {note.get_text(): note for note in ax.texts if note.get_text() in dict(close)}
    shifts = {name: note.get_position()[1] for name, note in labels.items()}
    assert shifts["fast"] < shifts["slow"] < shifts["faster"]
    drawn = [line for line in ax.lines if line.get_marker() in "osD" and len(line.get_xdata()) == 1]
    assert len(drawn) == 9
    assert {tuple(line.get_ydata()) for line in drawn} == {(1e12,), (50e12,), (52e12,)}
    legend = [text.get_text() for text in fig.legends[0].get_texts()]
    assert legend == ["L1 and shared: 32.0 TB/s", "L2: 7.00 TB/s", "DRAM: 4.00 TB/s"]


def test_a_time_line_shows_every_step_where_it_was():
    rows = [
        {"what": what, "strip": strip, "begins": 1e-3 * (strip + n), "ends": 1e-3 * (strip + n + 1)}
        for strip in range(3)
        for n, what in enumerate(("copy in", "kernel", "copy out"))
    ]
    fig = profiles.timeline({"one": rows, "two": rows[:3]})
    boxes = [collection.get_paths() for collection in fig.axes[0].collections]
    spans = sorted(tuple(np.round(path.get_extents().intervalx, 3)) for (path,) in boxes)
    assert spans == sorted((s + n, s + n + 1) for s in range(3) for n in range(3))
    assert len(fig.axes[1].collections) == 3
    assert fig.axes[0].get_xlim() == fig.axes[1].get_xlim()
    assert [label.get_text() for label in fig.axes[0].get_yticklabels()] == [
        "copy in", "kernel", "copy out"
    ]  # fmt: skip

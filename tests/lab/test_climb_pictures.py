"""The pictures of the climb and of the tiled product: what is drawn follows from the arguments."""

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from chapters.ch00_climb import drawings as ch00
from chapters.ch04_tiled import drawings as ch04
from kernels.lab import plots
from tests.records import synthetic

ROWS = [row for row in synthetic.record().ladder() if row.engine != "cpp"]
HEATS = {"naive": {"A": np.eye(4, dtype=int) * 5, "B": np.eye(3, dtype=int) * 5}}
PICTURES = {
    "mappings": ch00.mappings,
    "tile_steps": lambda: plots.tile_steps(8, 4, 8, tile=4, block=(0, 1), thread=(1, 2)),
    "outer_product": ch00.outer_product,
    "wide_loads": plots.wide_loads,
    "two_barriers": ch04.two_barriers,
    "zero_fill": lambda: ch04.zero_fill(37, 45, 70, 16, thread=(13, 0)),
    "savings": lambda: ch04.savings((8, 16), {"requests": ([80, 80], [10, 5])}),
    "block_loads": lambda: ch04.block_loads(HEATS),
    "two_loads": ch04.two_loads,
    "rungs": lambda: plots.rungs(ROWS, {"tiled": "Tiled"}, climbed={"tiled"}, peak=8e12),
}


def texts(fig):
    return [text.get_text() for ax in fig.axes for text in (*ax.texts, ax.title)]


def boxes(fig, **look):
    """The rectangles of a figure with these properties."""
    found = [patch for ax in fig.axes for patch in ax.patches if isinstance(patch, Rectangle)]
    return [box for box in found if all(getattr(box, f"get_{k}")() == v for k, v in look.items())]


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_is_stable_small_and_fits_a_telephone(name):
    text = plots.svg(PICTURES[name]())
    ElementTree.fromstring(text)
    assert text == plots.svg(PICTURES[name]())
    assert float(re.search(r'viewBox="0 0 ([\d.]+)', text)[1]) < 400, "points"
    assert len(text) < 70_000


def test_the_two_mappings_say_their_sectors():
    told = texts(ch00.mappings())
    assert {"A: 32", "B: 1", "A: 1", "B: 4"} <= {*told}
    assert [text for text in told if text.endswith("sectors")] == [
        "x is the row:\n33 sectors",
        "x is the column:\n5 sectors",
    ]


def test_a_panel_per_step_with_the_elements_of_the_thread():
    fig = plots.tile_steps(8, 12, 16, tile=4, block=(2, 1), thread=(1, 2))
    assert [text for text in texts(fig) if text.startswith("t =")] == [f"t = {t}" for t in range(4)]
    for step, ax in enumerate(fig.axes):
        drawn = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
        single = {box.get_xy() for box in drawn if box.get_width() == box.get_height() == 1}
        # A[6, 4t + 1] left of C, B[4t + 2, 9] above it, and C[6, 9].
        assert single == {(4 * step + 1, 23.5), (26.5, 4 * step + 2), (26.5, 23.5)}


def test_steps_that_fill_no_row_leave_their_panels_empty():
    fig = plots.tile_steps(4, 4, 12, tile=4, block=(0, 0), thread=(0, 0), columns=2)
    assert [len(ax.patches) > 0 for ax in fig.axes] == [True, True, True, False]


def test_the_outer_product_counts_edges_and_area():
    told = texts(ch00.outer_product(4, 6, at=(1, 3)))
    assert {"a: 4", "b: 6", "acc: 24 sums", "k = 0", "k = 1", "k = 2"} <= {*told}


@pytest.mark.parametrize("width, told", [(4, "4 loads of\n4 floats"), (2, "8 loads of\n2 floats")])
def test_wide_loads_count_their_arrows(width, told):
    fig = plots.wide_loads(8, 8, width=width)
    assert {"16 loads of\n1 float", told} <= {*texts(fig)}
    arrows = [sum(hasattr(text, "arrow_patch") for text in ax.texts) for ax in fig.axes]
    assert arrows == [16, 16 // width]


def test_each_barrier_that_is_missing_shows_a_clash():
    fig = ch04.two_barriers()
    dashed = [sum(box.get_linestyle() == "--" for box in ax.patches) for ax in fig.axes]
    assert dashed == [1, 1, 0]
    assert [len(ax.lines) for ax in fig.axes] == [0, 1, 2]
    for ax in fig.axes:
        clash = [box for box in ax.patches if box.get_linestyle() == "--"]
        bars = [box for box in ax.patches if box.get_height() < 1]
        for box in clash:
            left, right = box.get_x(), box.get_x() + box.get_width()
            meets = [b for b in bars if b.get_x() < right and left < b.get_x() + b.get_width()]
            assert {b.get_y() > 1 for b in meets} == {True, False}, "both warps are in it"


def test_zeros_fill_what_the_last_tile_lacks():
    told = texts(ch04.zero_fill(37, 45, 70, 16, thread=(13, 0)))
    assert {"6 columns\nof A", "k = 70", "column 45"} <= {*told}
    assert any("block (2, 0)" in text for text in told)
    assert any("sA[0, 13]" in text for text in told)


def test_savings_say_by_how_much():
    fig = ch04.savings((8, 32), {"requests": ([64, 64], [8, 2]), "sectors": ([40, 40], [8, 2])})
    assert [text.strip() for text in texts(fig)] == [
        "÷8",
        "÷32",
        "requests",
        "÷5",
        "÷20",
        "sectors",
    ]


def test_a_block_s_loads_are_told_in_words():
    one = {name: np.minimum(counts, 1) for name, counts in HEATS["naive"].items()}
    told = texts(ch04.block_loads(HEATS | {"tiled": one}))
    assert told.count("5 times each") == told.count("once each") == 2
    assert {"A, naive", "B, tiled"} <= {*told}


@pytest.mark.parametrize("lanes, slots", [(128, 4), (64, 2)])
def test_shared_memory_fills_few_slots(lanes, slots):
    fig = ch04.two_loads(lanes, loads=2, cycles=8)
    drawn = boxes(fig)
    filled = [box for box in drawn if box.get_y() > 1 and box.get_facecolor()[3]]
    assert len(drawn) == 8 * (1 + slots) and len(filled) == 4


def test_rungs_that_are_not_climbed_are_pale():
    fig = plots.rungs(ROWS, {"tiled": "Tiled"}, climbed={"tiled"}, peak=8e12)
    ax = fig.axes[0]
    labels = [label.get_text() for label in ax.get_yticklabels()]
    full = {label for label, bar in zip(labels, ax.patches, strict=True) if bar.get_alpha() == 1}
    assert full == {"Tiled"} and len(labels) == len(ROWS)
    assert "FP32 peak" in texts(fig)
    assert "Nothing is recorded yet" in plots.svg(plots.rungs([], {}, climbed=()))

"""The pictures of the climb and of the tiled product: what is drawn follows from the arguments."""

from matplotlib.patches import Rectangle

from chapters.ch04_tiled import drawings as ch04
from kernels.lab import plots


def texts(fig):
    return [text.get_text() for ax in fig.axes for text in (*ax.texts, ax.title)]


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

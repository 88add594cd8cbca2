"""Pictures of several GPUs: what is drawn follows from schedules and predictions."""

import pytest

from chapters.ch09_many_gpus import drawings
from kernels.lab import gpus
from kernels.lab.plots.palette import PALETTE


def texts(fig):
    return [text.get_text() for ax in fig.axes for text in ax.texts]


@pytest.mark.parametrize("number", [2, 4])
def test_every_gpu_and_every_link_is_drawn(number):
    pairs = {(a, b): "NV18" for a in range(number) for b in range(number) if a != b}
    fig = drawings.gpu_links(number, pairs, "141 GB", "388 GB/s")
    told = texts(fig)
    assert [f"GPU {each}\n141 GB" in told for each in range(number)] == [True] * number
    assert sum(text.startswith("NV18") for text in told) == number * (number - 1) // 2


def test_without_a_record_the_picture_says_so():
    assert "Nothing is recorded yet." in texts(drawings.gpu_links(0, {}, "", ""))
    assert "Nothing is recorded yet." in texts(drawings.speed_ups([], {}, 2))


def test_the_tiles_of_one_rank_are_marked():
    plan = gpus.schedule("rows", 64, 64, 64, 4)
    fig = drawings.holdings({"rows": plan}, rank=2)
    marked = [
        patch.get_bbox().bounds
        for ax in fig.axes
        for patch in ax.patches
        if patch.get_facecolor()[3] > 0
    ]
    assert marked == [(0, 32, 64, 16), (32, 0, 16, 64), (0, 32, 64, 16)]


def test_in_turn_takes_the_sum_and_overlapped_what_is_predicted():
    found = gpus.predict(gpus.schedule("rows", 256, 256, 256, 2), gpus.Machine(1e12, 1e10))
    fig = drawings.link_times({"turn": found, "over": found}, {"turn": False, "over": True})
    ends = {0: 0.0, 1: 0.0}
    for bar in fig.axes[0].patches:
        if bar.get_height() == pytest.approx(0.36):
            place = round(bar.get_y() + bar.get_height() / 2)
            ends[place] = max(ends[place], bar.get_x() + bar.get_width())
    assert ends[0] == pytest.approx(1e3 * found.in_turn)
    assert ends[1] == pytest.approx(1e3 * found.seconds)


def test_a_curve_leaves_out_what_is_not_recorded():
    fig = drawings.speed_ups([1024, 2048], {"fp32": {"rows": [None, 1.9]}}, 2)
    (line,) = [line for line in fig.axes[0].lines if line.get_label() == "rows"]
    assert list(line.get_xdata()) == [2048]
    assert line.get_color() in PALETTE.values()


def test_one_rank_has_its_columns_and_the_same_rows():
    fig = drawings.column_then_row(4, rank=2)
    bounds = [patch.get_bbox().bounds for patch in fig.axes[0].patches if patch.get_fill()]
    filled = [tuple(round(float(edge), 6) for edge in each) for each in bounds]
    assert filled == [
        (0, 0, 2, 3), (5, 0, 1, 2), (10, 0, 1, 3), (13, 2, 2, 1), (15.6, 0, 2, 3),
    ]  # fmt: skip


def test_collectives_and_scaling_are_drawn_as_they_are_given():
    measured = {"2 GPUs": {8: 3e-6}, "4 GPUs": {}}
    fig = drawings.collective_times([8, 16], {"2 GPUs": [1e-6, 2e-6]}, measured)
    line, points = fig.axes[0].lines
    assert list(line.get_ydata()) == pytest.approx([1, 2])
    assert points.get_xydata().tolist() == [[8, pytest.approx(3)]]
    fig = drawings.scaling([1, 2], {"layer": [1.0, 1.8]})
    curve, ideal = fig.axes[0].lines
    assert list(curve.get_ydata()) == [1.0, 1.8] and list(ideal.get_ydata()) == [1, 2]

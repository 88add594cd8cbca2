"""Pictures of several GPUs: what is drawn follows from schedules and predictions."""

import pytest

from chapters.ch09_many_gpus import drawings
from kernels.lab import gpus


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

"""Pictures of a transformer's parts: a roof with its corner, and bars as long as their parts."""

import pytest

from chapters.ch14_transformer import drawings


def test_the_roof_bends_where_both_limits_meet():
    fig = drawings.roofs(8e14, 4e12, {"decoding": [(1.0, 4e12)]})
    roof, points = fig.axes[0].lines
    assert list(roof.get_xdata())[1] == 200
    assert list(roof.get_ydata()) == pytest.approx([1.2, 800, 800])
    assert (list(points.get_xdata()), list(points.get_ydata())) == ([1.0], [4.0])


def test_a_bar_is_its_parts_one_behind_the_other():
    fig = drawings.times({"one": {"a": 0.001, "b": 0.002}, "two": {"a": 0.004, "b": 0.0}})
    ends = {}
    for bar in fig.axes[0].patches:
        place = round(bar.get_y() + bar.get_height() / 2)
        ends.setdefault(place, []).extend([bar.get_x(), bar.get_x() + bar.get_width()])
    assert ends[0] == pytest.approx([0, 1, 1, 3])
    assert ends[1] == pytest.approx([0, 4, 4, 4])

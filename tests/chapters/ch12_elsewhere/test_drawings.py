"""Pictures of sums and scans: the numbers in them are computed, and the last row is right."""

from itertools import accumulate

import numpy as np

from chapters.ch12_elsewhere import drawings
from chapters.ch12_elsewhere.drawings.sums import tree

VALUES = [3, 1, 7, 2, 4, 1, 6, 3]


def texts(fig) -> list[str]:
    return [text.get_text() for text in fig.axes[0].texts if text.get_text()]


def whole(fig) -> list[int]:
    """The whole numbers of a picture, row by row."""
    return [int(text) for text in texts(fig) if text.isdigit()]


def test_each_step_of_a_sum_adds_the_upper_half_to_the_lower():
    rows, adding = tree(VALUES)
    assert adding == [0, 4, 2, 1]
    assert rows[1][:4] == [7, 2, 13, 5] and rows[-1][0] == sum(VALUES)
    fig = drawings.halving(VALUES)
    assert whole(fig) == list(np.ravel(rows))
    assert {"stored", "4 add", "2 add", "1 add"} <= set(texts(fig))


def test_a_scan_ends_with_the_prefix_sums():
    fig = drawings.scan_steps(VALUES)
    assert whole(fig)[:8] == VALUES
    assert whole(fig)[-8:] == list(accumulate(VALUES))
    assert {"1 left", "2 left", "4 left"} <= set(texts(fig))


def test_three_launches_scan_tiles_and_their_sums():
    values = [*VALUES, 2, 2, 5, 1]
    found = whole(drawings.three_passes(values, 4))
    assert sorted(found) == sorted([*values, *accumulate(values), 13, 14, 10, 13, 27, 37])

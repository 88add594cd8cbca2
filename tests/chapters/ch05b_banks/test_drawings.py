"""The pictures of banks and transposes: what is drawn follows from the arguments."""

import pytest
from matplotlib.text import Annotation

from chapters.ch05b_banks import drawings


def texts(fig):
    return [text.get_text() for text in fig.axes[0].texts if text.get_text()]


@pytest.mark.parametrize(("side", "column"), [(8, 2), (8, 5), (4, 0)])
def test_padding_and_swizzle_spread_a_column_over_all_banks(side, column):
    fig = drawings.bank_layouts(side=side, column=column)
    told = texts(fig)
    one = ["1 wavefront"] * 2
    assert [text for text in told if "wave" in text] == [f"{side} wavefronts", *one]
    banks = [int(text) for text in told if text.isdigit()]
    for tile in range(3):
        rows = [banks[(tile * side + row) * side :][:side] for row in range(side)]
        assert all(sorted(row) == list(range(side)) for row in rows)
        framed = {row[column] for row in rows}
        assert framed == ({column} if tile == 0 else {*range(side)})


@pytest.mark.parametrize("side", [3, 4])
def test_the_last_tile_of_the_path_is_the_first_one_transposed(side):
    fig = drawings.transpose_path(side=side, warp=2)
    numbers = [int(text) for text in texts(fig) if text.isdigit()]
    a, s, b = (numbers[n * side**2 :][: side**2] for n in range(3))
    assert a == s == list(range(side**2))
    assert [b[col * side + row] for row in range(side) for col in range(side)] == a
    arrows = [text for text in fig.axes[0].texts if isinstance(text, Annotation)]
    assert [arrow.xy[1] for arrow in arrows] == [2.5, 2.5]

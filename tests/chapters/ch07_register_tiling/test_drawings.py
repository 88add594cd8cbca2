"""Pictures of register tiling: what they draw follows from what they are given."""

import pytest

from chapters.ch07_register_tiling import drawings
from chapters.ch07_register_tiling.drawings.spread import COLUMNS


def texts(fig):
    return [text.get_text() for ax in fig.axes for text in ax.texts]


def test_the_three_tiles_are_named():
    told = texts(drawings.tile_levels())
    assert {"warp tile", "block tile\nBM × BN"} <= set(told)


@pytest.mark.parametrize("layout", COLUMNS)
@pytest.mark.parametrize(("threads", "TN"), [(8, 4), (3, 2)])
def test_each_column_belongs_to_one_thread(layout, threads, TN):
    owned = [COLUMNS[layout](tx, j, TN, threads) for tx in range(threads) for j in range(TN)]
    assert sorted(owned) == list(range(threads * TN))


def test_the_spread_tile_marks_one_thread_in_both_layouts():
    fig = drawings.spread_tile(4, 3, thread=1)
    frames = [patch for patch in fig.axes[0].patches if patch.get_linewidth() == 2]
    assert [frame.get_x() for frame in frames] == [3, 4, 5, 1, 5, 9]


def test_a_waterfall_s_bars_meet():
    fig = drawings.waterfall({"one": 1000.0, "two": 3000.0, "three": 2500.0}, library=4000.0)
    bars = fig.axes[0].patches
    assert [(bar.get_x(), bar.get_width()) for bar in bars] == [
        (0, 1000),
        (1000, 2000),
        (3000, -500),
    ]
    assert {"3.00×", "0.83×", "2.50", "cuBLAS"} <= set(texts(fig))
    assert drawings.waterfall({}).axes

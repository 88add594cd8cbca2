"""Pictures of register tiling: what they draw follows from what they are given."""

from itertools import pairwise

import pytest

from kernels.lab import plots
from kernels.lab.plots.block_order import first_blocks
from kernels.lab.plots.buffers import buffered
from kernels.lab.plots.spread import COLUMNS


def texts(fig):
    return [text.get_text() for ax in fig.axes for text in ax.texts]


def test_the_three_tiles_are_named():
    told = texts(plots.tile_levels())
    assert {"warp tile", "block tile\nBM × BN"} <= set(told)


@pytest.mark.parametrize("layout", COLUMNS)
@pytest.mark.parametrize(("threads", "TN"), [(8, 4), (3, 2)])
def test_each_column_belongs_to_one_thread(layout, threads, TN):
    owned = [COLUMNS[layout](tx, j, TN, threads) for tx in range(threads) for j in range(TN)]
    assert sorted(owned) == list(range(threads * TN))


def test_the_spread_tile_marks_one_thread_in_both_layouts():
    fig = plots.spread_tile(4, 3, thread=1)
    frames = [patch for patch in fig.axes[0].patches if patch.get_linewidth() == 2]
    assert [frame.get_x() for frame in frames] == [3, 4, 5, 1, 5, 9]


@pytest.mark.parametrize(("load", "work"), [(2, 3), (3, 2), (1, 1)])
def test_two_buffers_overlap_and_one_does_not(load, work):
    one = buffered(5, load, work, 1)
    assert all(begin + work <= start for (_, begin), (start, _) in pairwise(one))
    two = buffered(5, load, work, 2)
    assert all(start < begin + work for (_, begin), (start, _) in pairwise(two))
    for times in (one, two):  # never multiplied before it's loaded, never two at the same time
        assert all(start + load <= begin for start, begin in times)
        assert all(a + work <= b for (_, a), (_, b) in pairwise(times))
    # A buffer is free only when its tile has been multiplied.
    assert all(later[0] >= early[1] + work for early, later in zip(two, two[2:], strict=False))


def test_a_double_buffer_names_each_tile_four_times():
    assert texts(plots.double_buffer(3)).count("tile 2") == 4


@pytest.mark.parametrize("group", [1, 3, 8])
def test_blocks_take_each_tile_once(group):
    tiles = first_blocks(group, 70, across=10, down=7)
    assert sorted(tiles) == [(row, column) for row in range(7) for column in range(10)]


def test_blocks_in_groups_need_fewer_strips():
    told = texts(plots.block_order([1, 4], together=32, across=16, down=16))
    assert told == ["1 row at a time\nA: 2, B: 16 strips", "4 rows at a time\nA: 4, B: 8 strips"]


def test_a_waterfall_s_bars_meet():
    fig = plots.waterfall({"one": 1000.0, "two": 3000.0, "three": 2500.0}, library=4000.0)
    bars = fig.axes[0].patches
    assert [(bar.get_x(), bar.get_width()) for bar in bars] == [
        (0, 1000),
        (1000, 2000),
        (3000, -500),
    ]
    assert {"3.00×", "0.83×", "2.50", "cuBLAS"} <= set(texts(fig))
    assert plots.waterfall({}).axes

"""Pictures of register tiling: what they draw follows from what they are given."""

import pytest

from chapters.ch07_register_tiling.drawings.spread import COLUMNS


@pytest.mark.parametrize("layout", COLUMNS)
@pytest.mark.parametrize(("threads", "TN"), [(8, 4), (3, 2)])
def test_each_column_belongs_to_one_thread(layout, threads, TN):
    owned = [COLUMNS[layout](tx, j, TN, threads) for tx in range(threads) for j in range(TN)]
    assert sorted(owned) == list(range(threads * TN))

"""The picture of a row of A that several threads read."""

import pytest
from matplotlib.text import Annotation

from kernels.lab import plots
from kernels.lab.plots.rereading import GAP


@pytest.mark.parametrize("columns", [(2,), (1, 4), (0, 3, 5, 6)])
def test_all_threads_read_one_row_and_each_its_own_column(columns):
    M, N, K, row = 4, 7, 5, 2
    ax = plots.rereading(M, N, K, row=row, columns=columns).axes[0]
    # An arrow is annotated at its head, and its text stands where it begins.
    arrows = [(text.xyann, text.xy) for text in ax.texts if isinstance(text, Annotation)]
    along = [y - K - GAP for (_, y), (_, end) in arrows if y == end]
    down = [x - K - GAP for (x, _), (end, _) in arrows if x == end]
    assert [int(y) for y in along] == [row] * len(columns)
    assert [int(x) for x in down] == list(columns)


def test_a_thread_s_number_stands_in_c_and_at_both_of_its_arrows():
    ax = plots.rereading(4, 7, 5, row=2, columns=(1, 4)).axes[0]
    numbers = [text.get_text() for text in ax.texts if text.get_text().isdigit()]
    assert sorted(numbers) == ["1", "1", "1", "2", "2", "2"]

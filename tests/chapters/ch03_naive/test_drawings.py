"""Pictures of layouts: views of flat memory, a grid that reaches past C."""

import numpy as np
import pytest
from matplotlib.colors import same_color
from matplotlib.patches import Rectangle

from chapters.ch03_naive import drawings
from kernels.lab import plots

FLAT = np.arange(12, dtype=np.float32)
MATRIX = FLAT.reshape(3, 4)
VIEWS = {"all": MATRIX, "turned": MATRIX.T, "columns": MATRIX[:, 1:3], "rows": MATRIX[::2]}


def filled(ax, colour):
    """Lower left corner and size of each rectangle filled with a colour."""
    found = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    found = [patch for patch in found if same_color(patch.get_facecolor()[:3], colour)]
    found = [patch for patch in found if patch.get_facecolor()[3] > 0]
    return [(*patch.get_xy(), patch.get_width(), patch.get_height()) for patch in found]


@pytest.mark.parametrize("name", VIEWS)
def test_the_places_of_a_view_are_filled_and_its_strides_told(name):
    view = VIEWS[name]
    ax = plots.flat_memory(FLAT, {name: view}).axes[0]
    assert sorted(x for x, *_ in filled(ax, plots.A)) == sorted(view.ravel())
    words = {text.get_text() for text in ax.texts}
    down, right = view.strides
    assert {
        f"{name}   strides {view.strides}",
        f"right: {right} bytes",
        f"down: {down} bytes",
    } <= words


def test_a_copy_has_no_places():
    with pytest.raises(ValueError, match="x is a copy"):
        plots.flat_memory(FLAT, {"x": MATRIX.copy()})


@pytest.mark.parametrize("M, N, block", [(37, 53, (16, 16)), (5, 9, (4, 2)), (8, 8, (8, 8))])
def test_what_is_hatched_are_the_threads_beyond_c(M, N, block):
    ax = drawings.overhang(M, N, block).axes[0]
    ((x, y, width, height),) = filled(ax, plots.C)
    assert (x, y, width, height) == (0, 0, N, M)
    beyond = [patch for patch in ax.patches if patch.get_hatch()]
    threads = np.prod(-(-np.array([N, M]) // block) * block)
    assert sum(patch.get_width() * patch.get_height() for patch in beyond) == threads - M * N

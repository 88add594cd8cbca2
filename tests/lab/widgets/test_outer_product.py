"""OuterProduct: its counts against the microscope's, its sums, and its picture in a browser."""

import numpy as np
import pytest
import traitlets

from kernels import LADDER, lab
from kernels.lab.widgets import OuterProduct
from kernels.measure.occupancy import MAX_REGISTERS
from kernels.measure.oracle import inputs, poisoned
from tests.lab.widgets import keys

WIDEST = OuterProduct()
REDRAWS = [
    (OuterProduct(step=6), "TM, rows", range(1, 8)),
]
SLIDER = keys.Slider("Step", "step", 2)
STILLS = [
    OuterProduct(),
    OuterProduct(TM=3, TN=5, step=6),
    OuterProduct(TM=1, TN=1, step=0),
]


@pytest.mark.parametrize("tile", [(1, 1), (2, 4), (4, 4), (8, 4), (8, 8)])
def test_loads_per_step_are_those_that_the_microscope_counts(formulas, tile):
    TM, TN = tile
    rung = LADDER["thread_tiled"]
    options = {"BM": 8 * TM, "BN": 8 * TN, "BK": 8, "TM": TM, "TN": TN}
    M, N, K = 8 * TM, 8 * TN, 16
    A, B = inputs(M, N, K)
    grid, block = rung.launch(M, N, **options)
    trace = lab.trace(rung.kernel(**options), grid, block, A, B, poisoned(M, N))
    read = sum(s.lanes for s in trace.sites if (s.space, s.op) == ("shared", "load"))
    per = formulas(OuterProduct, "f.cost(...x)", tile)
    threads = np.prod(grid) * np.prod(block)
    assert per["loads"] == read / (threads * K)
    assert per["multiplyAdds"] == M * N * K / (threads * K)
    assert per["perMultiplyAdd"] == pytest.approx(read / (M * N * K))
    assert per["intensity"] == pytest.approx(2 * M * N * K / (4 * read))
    assert per["registers"] == TM * TN + TM + TN <= MAX_REGISTERS


@pytest.mark.parametrize("step", range(7))
def test_the_sums_are_those_of_the_product(formulas, step):
    shown = OuterProduct()
    A, B = np.array(shown.A), np.array(shown.B)
    found = formulas(OuterProduct, "f.sums(...x)", [shown.A, shown.B, 7, 3, step])
    assert np.array_equal(found, A[:7, :step] @ B[:step, :3])


def test_python_refuses_what_the_sliders_do_not_reach():
    for settings in ({"TM": 0}, {"TN": 9}, {"step": 7}, {"step": -1}):
        with pytest.raises(traitlets.TraitError, match="^.* is -?[0-9]+: use [01] to [68]$"):
            OuterProduct(**settings)


def test_sliders_change_the_picture_and_the_numbers(mounted):
    shown = mounted(OuterProduct(step=0))
    widget = shown.page.locator(".tile-widget")
    assert widget.locator(".picture rect.c").count() == 64
    assert widget.locator(".picture .held").count() == 0
    keys.press(widget, "slider", "Step", "ArrowRight", "ArrowRight")
    assert widget.locator(".picture rect.held").count() == 64 + 8 + 8
    assert widget.locator(".picture rect.a.now").count() == 8
    keys.press(widget, "slider", "TM, rows", *["ArrowLeft"] * 4)
    keys.press(widget, "slider", "TN, columns", "Home")
    assert widget.locator(".picture rect.held").count() == 4 + 4 + 1
    assert keys.numbers(widget, "loads per multiply-add") == ["1.25"]
    assert keys.numbers(widget, "registers for the sums") == ["4"]
    widget.locator(".summary", has_text="1.25 loads per multiply-add").wait_for()
    assert shown.errors == []


def by_keys(widget) -> None:
    keys.press(widget, "slider", "TM, rows", "Home", *["ArrowRight"] * 3)
    keys.press(widget, "slider", "TN, columns", "Home", *["ArrowRight"] * 3)
    assert keys.numbers(widget, "loads per multiply-add") == ["0.5"]
    keys.press(widget, "slider", "Step", "Home")
    assert widget.locator(".picture .held").count() == 0
    keys.press(widget, "slider", "Step", "End")
    assert widget.locator(".picture rect.c.held").count() == 16

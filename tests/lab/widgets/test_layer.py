"""Layer: its formulas against `kernels.basics.layer` over a grid, and its picture in a browser."""

from itertools import product

import pytest
import traitlets

from chapters.ch12_elsewhere.widgets.layer import sheets
from kernels.basics import layer
from kernels.basics.data_sheets import gpus
from kernels.lab.widgets import Layer
from tests.lab.widgets import keys

WIDEST = Layer(M=65_536, N=65_536, K=65_536, gpu="t4")
REDRAWS = [
    (Layer(), "Launch", range(1, 50, 3)),
]
SLIDER = keys.Slider("M in powers of 2", "M", 2, shown=1)
STILLS = [
    Layer(),
    Layer(M=512, N=11008, dtype="bfloat16", gpu="a100-80gb"),
    Layer(M=3, N=64, K=100, dtype="float32", gpu="t4", launch=10),
    Layer(M=16, N=128, K=128),
]
NAMES = ("M", "N", "K", "dtype", "gpu", "launch")
GRID = [
    settings
    for settings in product(
        (1, 16, 300, 65_536), (1, 64, 11_008), (1, 4096), layer.FORMATS, gpus(), (0, 4.5)
    )
    if sheets()[settings[4]]["peaks"][settings[3]] is not None
]


def test_the_script_has_the_same_formulas(formulas):
    asked = [dict(zip(NAMES, settings, strict=True)) for settings in GRID]
    told = formulas(
        Layer,
        "x[0].map((s) => ({...f.limits(s, x[1][s.gpu]), turn: f.turningPoint(s, x[1][s.gpu])}))",
        [asked, sheets()],
    )
    assert len(GRID) > 1000
    for settings, theirs in zip(asked, told, strict=True):
        mine = layer.Layer(**settings)
        assert (theirs["flop"], theirs["bytes"]) == (mine.flop, mine.nbytes)
        assert theirs["intensity"] == pytest.approx(mine.intensity)
        assert theirs["times"] == pytest.approx(mine.times)
        assert (theirs["limit"], theirs["turn"]) == (mine.limit, mine.turning_point), settings


def test_python_refuses_what_the_fields_refuse():
    for settings in ({"M": 0}, {"N": 65_537}, {"launch": 51.0}):
        with pytest.raises(traitlets.TraitError, match="^.* is [0-9]+: use [01] to [0-9]+$"):
            Layer(**settings)
    for settings in ({"gpu": "voodoo"}, {"dtype": "int4"}):
        with pytest.raises(traitlets.TraitError):
            Layer(**settings)


def test_controls_change_the_limit(mounted):
    shown = mounted(Layer())
    widget = shown.page.locator(".tile-widget")
    assert keys.numbers(widget, "limited by") == ["memory"]
    keys.press(widget, "slider", "M in powers of 2", "End")
    assert keys.numbers(widget, "limited by") == ["arithmetic"]
    widget.get_by_label("N, outputs").fill("3")
    shown.settled()
    assert keys.numbers(widget, "M from which arithmetic exceeds memory") == ["none"]
    widget.locator(".summary", has_text="for every M").wait_for()
    widget.get_by_label("K, numbers per input").fill("5")
    widget.get_by_label("M, inputs at once").fill("7")
    shown.settled()
    assert keys.numbers(widget, "limited by") == ["launch"]
    assert widget.locator("svg rect.launch.limit").count() == 1
    assert shown.errors == []


def test_a_bad_size_is_answered_and_the_picture_stays(mounted):
    shown = mounted(Layer())
    widget = shown.page.locator(".tile-widget")
    field = widget.get_by_label("N, outputs")
    field.fill("65537")
    shown.settled()
    warning = widget.get_by_role("alert")
    assert warning.inner_text().replace(",", "") == (
        "N is 65537: use a whole number from 1 to 65536."
    )
    assert keys.numbers(widget, "limited by") == ["memory"]
    field.fill("64")
    shown.settled()
    assert not warning.is_visible()
    assert keys.numbers(widget, "limited by") == ["launch"]


def test_a_gpu_without_the_format_says_so(mounted):
    shown = mounted(Layer(dtype="bfloat16"))
    widget = shown.page.locator(".tile-widget")
    widget.get_by_role("combobox", name="GPU").select_option("t4")
    widget.locator(".summary", has_text="no tensor cores for bfloat16: choose").wait_for()
    widget.get_by_role("combobox", name="Numbers").select_option("float32")
    shown.settled()
    assert keys.numbers(widget, "limited by") == ["memory"]
    assert shown.errors == []


def by_keys(widget) -> None:
    assert keys.numbers(widget, "limited by") == ["memory"]
    keys.press(widget, "slider", "M in powers of 2", "End")
    assert keys.numbers(widget, "limited by") == ["arithmetic"]
    keys.press(widget, "slider", "M in powers of 2", "Home")
    keys.press(widget, "slider", "Launch", "End")
    assert keys.numbers(widget, "limited by") == ["launch"]

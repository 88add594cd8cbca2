"""Banks: its words, banks and wavefronts against the microscope's, and its picture in a browser."""

import numpy as np
import pytest

from chapters.ch05b_banks.widgets.banks import words
from kernels import cuda, float32, lab
from kernels.lab.widgets import Banks
from microscope import shared_cost
from tests.lab.widgets import keys
from tests.lab.widgets.screens import BAR, height

WIDEST = Banks()
REDRAWS = [
    (Banks(), "Padding", range(9)),
]
SLIDER = keys.Slider("Padding", "pad", 1)
STILLS = [
    Banks(side=16, pad=1),
    Banks(access="stride", stride=12),
]
TILES = [
    {"access": access, "side": side, "pad": pad, "swizzle": swizzle, "stride": 0}
    for access in ("row", "column", "broadcast")
    for side in (8, 16, 32)
    for pad in (0, 1, 2, 4, 8)
    for swizzle in (False, True)
]
STRIDES = [
    {"access": "stride", "side": 32, "pad": 0, "swizzle": False, "stride": stride}
    for stride in range(65)
]
COUNT = "x.map((s) => [f.words(s), f.served(f.words(s)), f.cost(f.words(s))])"


def test_script_and_python_want_the_same_words(formulas):
    for settings, (wanted, _, _) in zip(
        TILES + STRIDES, formulas(Banks, COUNT, TILES + STRIDES), strict=True
    ):
        assert wanted == words(**settings), settings


def test_costs_are_the_microscopes(formulas):
    for settings, (wanted, served, cost) in zip(
        TILES + STRIDES, formulas(Banks, COUNT, TILES + STRIDES), strict=True
    ):
        found = shared_cost(4 * np.array([wanted]), None, 4)
        assert cost["wavefronts"] == found.wavefronts == max(served) + 1, settings
        assert 4 * cost["words"] == found.bytes_used
        assert cost["banks"] == len({word % 32 for word in wanted})
        # In one wavefront a bank hands out one word; lanes that want it get it together.
        handed = {}
        for word, turn in zip(wanted, served, strict=True):
            assert handed.setdefault((word % 32, turn), word) == word


def reader(side, pad, swizzle, access):
    """A kernel that reads its tile in one of the ways."""
    wide = side + pad
    column, broadcast = access == "column", access == "broadcast"

    @cuda.jit
    def read(out):
        s = cuda.shared.array((side, wide), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        row, col = ty, tx
        if column:
            row, col = tx, ty
        if broadcast:
            col = 0
        for i in range(wide):
            s[ty, i] = float32(0)
        cuda.syncthreads()
        out[ty, tx] = s[row, col ^ row if swizzle else col]

    return read


@pytest.mark.parametrize("settings", TILES[::3], ids=str)
def test_a_kernel_that_reads_so_is_counted_so(formulas, settings):
    side = settings["side"]
    if settings["swizzle"] and settings["access"] == "broadcast":
        settings = {**settings, "swizzle": False}
    names = ("side", "pad", "swizzle", "access")
    kernel = reader(*(settings[name] for name in names))
    seen = lab.trace(kernel, 1, (side, side), np.zeros((side, side), np.float32))
    read = next(site for site in seen.sites if site.space == "shared" and site.op == "load")
    cost = formulas(Banks, "f.cost(f.words(x))", settings)
    assert read.histogram.get(cost["wavefronts"]), (read.histogram, cost)
    assert [a // 4 for a in read.example.addresses] == words(**settings)


@pytest.mark.parametrize("size", [(390, 844), (1280, 800)], ids=["phone", "desk"])
def test_it_fits_a_screen_and_stands_still(mounted, size):
    """Whatever is set, its height stays: nothing below it moves."""
    states = (
        {},
        {"pad": 8, "lane": 31},
        {"access": "row"},
        {"access": "broadcast", "side": 8},
        {"access": "stride", "stride": 64},
    )
    heights = {height(mounted(Banks(**state), width=size[0])) for state in states}
    assert len(heights) == 1
    assert heights.pop() <= size[1] - BAR


def verdict(shown) -> str:
    shown.settled()
    return shown.page.inner_text(".verdict")


def test_controls_change_the_picture_and_the_numbers(mounted):
    shown = mounted(Banks())
    page = shown.page
    assert verdict(shown) == (
        "32 different words in 1 bank: 32 wavefronts, 31 conflicts. The tile takes 4,096 bytes."
    )
    assert page.locator("rect.word").count() == 32
    page.get_by_role("combobox", name="tile").select_option("16")
    page.get_by_role("slider", name="Padding").fill("2")
    assert verdict(shown).startswith("32 different words in 32 banks: 1 wavefront, no conflict.")
    page.get_by_role("combobox", name="the warp reads").select_option("broadcast")
    assert verdict(shown).startswith("2 different words in 2 banks: 1 wavefront, no conflict.")
    assert page.locator("rect.word").count() == 2
    page.get_by_role("combobox", name="the warp reads").select_option("stride")
    page.get_by_role("slider", name="Stride").fill("12")
    assert verdict(shown) == "32 different words in 8 banks: 4 wavefronts, 3 conflicts."
    assert not page.get_by_role("slider", name="Padding").is_visible()
    page.get_by_role("slider", name="Stride").fill("0")
    assert verdict(shown) == "1 different word in 1 bank: 1 wavefront, no conflict."
    assert shown.errors == []


def test_the_tile_skews_as_its_padding_grows(mounted):
    shown = mounted(Banks())
    first = shown.page.locator("svg.memory path").first  # the words of bank 0

    def columns() -> set[str]:
        return {corner.split()[0] for corner in first.get_attribute("d").split("M")[1:]}

    assert columns() == {"0"}
    assert shown.page.locator("svg.memory .wanted").get_attribute("d").count("M") == 32
    shown.page.get_by_role("slider", name="Padding").fill("1")
    shown.settled()
    assert len(columns()) == 32
    words = shown.page.locator("rect.word:not(.mine)").evaluate_all(
        "(all) => all.map((each) => each.style.fill)"
    )
    assert len(set(words)) == 31, "each word has its bank's colour"
    assert shown.page.locator("svg.memory .padding").count() == 32


def test_a_lane_is_pointed_out_by_key_and_by_pointer(mounted):
    shown = mounted(Banks(access="row", lane=0))
    page = shown.page
    page.get_by_role("slider", name="Lane").focus()
    page.keyboard.press("ArrowRight")
    shown.settled()
    page.wait_for_function(
        "document.querySelector('.summary').textContent.includes('Lane 1 wants')"
    )
    box = page.locator("rect.word").nth(7).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    shown.settled()
    page.wait_for_function(
        "document.querySelector('.summary').textContent.includes('Lane 7 wants word 7, in bank 7')"
    )


def by_keys(widget) -> None:
    def verdict() -> str:
        return widget.locator(".verdict").inner_text()

    assert verdict().startswith("32 different words in 1 bank: 32 wavefronts, 31 conflicts.")
    keys.press(widget, "slider", "Padding", "ArrowRight")
    assert verdict().startswith("32 different words in 32 banks: 1 wavefront, no conflict.")
    keys.press(widget, "slider", "Lane", "End")
    widget.locator(".summary", has_text="Lane 31 wants word").wait_for()
    keys.press(widget, "slider", "Padding", "Home")
    keys.press(widget, "checkbox", "swizzle: column ^ row", "Space")
    assert "1 wavefront, no conflict" in verdict()

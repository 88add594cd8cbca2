"""The chapters' widgets as readers get them: each by keys alone, in every profile of a browser."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from kernels import LADDER
from kernels.basics.units import quantity
from kernels.lab.pages import has_quiz
from kernels.lab.widgets import Roofline
from kernels.measure.occupancy import occupancy
from tests.pages import CHAPTERS, mount_all, settle
from tests.site.test_browser import PROFILES, Listener


def press(widget, role: str, name: str, *keys: str) -> None:
    """Go to a control of a widget, press keys, and wait until what they change is drawn."""
    widget.get_by_role(role, name=name, exact=True).focus()
    for key in keys:
        widget.page.keyboard.press(key)
    settle(widget.page)


def cells(widget, kind: str) -> int:
    """Cells of one kind in a picture."""
    return widget.locator(f".picture path.{kind}").get_attribute("d").count("M")


def numbers(widget, what: str) -> list[str]:
    """What the first table with such a row says."""
    row = widget.locator("tr", has=widget.page.get_by_text(what, exact=True)).first
    return [cell.replace("\u202f", "") for cell in row.locator("td").all_text_contents()]


def use_hierarchy(widget) -> None:
    assert numbers(widget, "threads a block") == ["256"]
    assert widget.locator("svg path.idle").count() == 0
    press(widget, "slider", "Threads along x", "ArrowRight")
    assert numbers(widget, "threads a block") == ["272"]
    assert numbers(widget, "lanes without a thread, a block") == ["16"]
    at_once = 132 * occupancy(272, gpu="h200").blocks
    assert numbers(widget, "blocks on the GPU at once") == [str(at_once)]
    assert cells(widget, "idle") == 16
    press(widget, "slider", "Wave", "End")
    assert widget.locator("svg text", has_text="wave 2 of 2").count() == 1


def use_launch(widget) -> None:
    assert [cells(widget, kind) for kind in ("works", "beyond", "empty")] == [50, 14, 0]
    press(widget, "slider", "Block", "ArrowRight")
    assert [cells(widget, kind) for kind in ("works", "beyond", "empty")] == [50, 16, 62]
    assert numbers(widget, "lanes without a thread") == ["62"]
    press(widget, "slider", "Thread", "End")
    assert "1 * 33 + 32 = 65" in widget.locator(".formula").inner_text()


def use_access(widget) -> None:
    def loaded() -> list[int]:
        return [
            sum(path.get_attribute("d").count("M") for path in paths.all())
            for paths in (widget.locator(f".picture path.{kind}") for kind in "abc")
        ]

    assert loaded() == [1, 32, 32]
    press(widget, "combobox", "kernel", "ArrowDown")
    assert loaded() == [32, 1, 32]
    press(widget, "slider", "Step k", "End")
    press(widget, "slider", "Column of C", "Home")
    said = widget.locator(".comparison").inner_text()
    assert "at k = 23, the warp of C[5, 0]: naive 1 + 4, swapped 32 + 1" in said


def use_banks(widget) -> None:
    def verdict() -> str:
        return widget.locator(".verdict").inner_text()

    assert verdict().startswith("32 different words in 1 bank: 32 wavefronts, 31 conflicts.")
    press(widget, "slider", "Padding", "ArrowRight")
    assert verdict().startswith("32 different words in 32 banks: 1 wavefront, no conflict.")
    press(widget, "slider", "Lane", "End")
    widget.locator(".summary", has_text="Lane 31 wants word").wait_for()
    press(widget, "slider", "Padding", "Home")
    press(widget, "checkbox", "swizzle: column ^ row", "Space")
    assert "1 wavefront, no conflict" in verdict()


def use_roofline(widget) -> None:
    reading = widget.locator("path.reading")
    before = reading.get_attribute("d")
    press(widget, "slider", "Intensity", "Home", *["ArrowRight"] * 9)
    intensity = 2**-1.75
    roof = Roofline().gpus[widget.get_by_label("GPU", exact=True).input_value()]["roofs"][0]
    speed = quantity(min(roof["compute"], intensity * roof["bandwidth"]), "FLOP/s")
    chart = widget.locator("svg[role=img]")
    assert f"At 0.297 FLOP/byte the roof is {speed}" in chart.get_attribute("aria-label")
    assert reading.get_attribute("d") != before
    press(widget, "combobox", "Bytes of the points", "ArrowDown")
    assert "cuBLAS" in widget.locator(".legend").inner_text()


def use_tile_player(widget) -> None:
    for tile in (4, 8):
        model = LADDER["tiled"].model(8, 12, 16, tile=tile)
        assert numbers(widget, "threads a block") == [str(tile * tile)]
        assert numbers(widget, "global loads")[0] == str(sum(model.loads.values()))
        assert widget.locator("svg text", has_text=f"k = 0 … {tile - 1}").count() == 1
        if tile == 4:
            press(widget, "slider", "Tile", *["ArrowRight"] * 4)
    press(widget, "slider", "Moment", "End")
    assert "goes to C[6, 9]" in widget.locator(".sum").inner_text()
    press(widget, "checkbox", "Barrier 1", "Space")
    assert "syncthreads()" in widget.locator(".race").inner_text()


def use_quiz(widget) -> None:
    first = widget.locator(".option").first
    first.locator("summary").focus()
    widget.page.keyboard.press("Enter")
    widget.locator(".option:is(.right, .wrong)").wait_for()
    assert len(first.locator("p").inner_text()) > 20
    widget.locator("[role=status]", has_text=" answered").wait_for()


#: How each widget is used, by its kind.
USES: dict[str, Callable] = {
    "Access": use_access,
    "Banks": use_banks,
    "Hierarchy": use_hierarchy,
    "Launch": use_launch,
    "Quiz": use_quiz,
    "Roofline": use_roofline,
    "TilePlayer": use_tile_player,
}


def kinds(book, name: str) -> list[str]:
    """The widgets that a page shows."""
    return re.findall(r'data-kind="(\w+)"', (book / f"chapters/{name}.html").read_text("utf-8"))


def test_every_kind_of_widget_is_used_on_some_page(book):
    shown = {name: kinds(book, name) for name in CHAPTERS}
    assert {kind for found in shown.values() for kind in found} == USES.keys()
    assert [name for name in CHAPTERS if "Quiz" in shown[name]] == list(filter(has_quiz, CHAPTERS))


@pytest.mark.parametrize(("width", "mode"), PROFILES)
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_widget_of_a_page_works_by_keys(browser, book, chapter, width, mode):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=mode)
    listener = Listener(page)
    page.goto((book / f"chapters/{chapter}.html").as_uri())
    mount_all(page)
    for kind in (shown := kinds(book, chapter)):
        page.evaluate("document.querySelectorAll('details.hide').forEach((d) => { d.open = true })")
        USES[kind](page.locator(f".widget[data-kind={kind}] .tile-widget").first)
    assert page.locator(".tile-widget").count() == len(shown)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert (listener.errors, listener.foreign) == ([], [])
    page.close()

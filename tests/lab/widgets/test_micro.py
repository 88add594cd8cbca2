"""Micro: one picture in the still and in the script, a sentence per setting, keys and drag."""

import pytest
from bs4 import BeautifulSoup

from kernels.lab.widgets import Micro
from kernels.lab.widgets.micro import (
    CellGrid,
    Frame,
    current,
    explore,
    packed,
    parts,
    said,
    unpacked,
    whole,
)
from kernels.lab.widgets.stills import still
from tests.lab.widgets import keys
from tests.pages import of_chapters

FIGURES = of_chapters("figures")

SLIDER = keys.Slider("TM, rows", "at", [4, 3], 4)
ROW = CellGrid(0, 0, 1, 6)


def row(filled: int) -> Frame:
    """Six cells, some of them filled."""
    return Frame(
        f"*a:{filled}* of {ROW.columns}, *{filled / ROW.columns:.0%}*.",
        (ROW.cells(lambda _, column: "a" if column < filled else "."),),
        [ROW.place(0.5, filled)],
    )


def shown(draw=row, values=range(7), start=2) -> Micro:
    look = {"title": "Six cells", "alt": "Six cells in a row.", "size": (90, 15), "grids": (ROW,)}
    return explore(draw, {"Filled": values}, (start,), **look)


def sentence(widget) -> str:
    return widget.locator(".say p").first.inner_text()


def drawn(markup) -> list[str]:
    """The kinds of the cells in a picture, with how many there are."""
    kinds = {}
    for cell in markup.select("[data-is]"):
        kind = cell["data-is"]
        kinds[kind] = kinds.get(kind, 0) + cell.get("d", "z").count("z")
    kinds.pop(" ", None)
    return sorted(kinds.items())


def test_a_figure_has_a_frame_for_each_setting():
    figure = shown()
    assert len(figure.frames) == 7
    assert repr(figure) == "Micro('Six cells'): 2 of 6, 33%."
    assert current([["x", "ab"], ["y", "abc"]], [*range(6)], [1, 2]) == 5


def test_a_frame_that_misses_cells_is_refused():
    with pytest.raises(ValueError, match="Six cells: 5 cells for 1 × 6: name each cell once"):
        shown(lambda n: Frame("", ("." * 5,)))
    with pytest.raises(ValueError, match="7 is not in list"):
        shown(start=7)


def test_a_sentence_has_its_marks_and_its_units():
    assert parts("a *b:8* c *9*") == [
        ("a ", ""),
        ("8", "b"),
        (" c ", ""),
        ("9", "strong"),
        ("", ""),
    ]
    assert said("*a:2* of *6*") == "2 of 6"
    assert whole("25 % of 3.4 GB, 2 blocks") == "25\u00a0% of 3.4\u00a0GB, 2 blocks"


@pytest.mark.parametrize("kinds", ["", "a", "aab", "ab....  x", "c" * 300])
def test_what_is_packed_is_unpacked(formulas, kinds):
    assert unpacked(packed(kinds)) == kinds
    assert formulas(Micro, "f.unpacked(x)", packed(kinds)) == kinds


def test_the_script_finds_the_frame_that_python_means(formulas):
    for number, at in enumerate((i, j, k) for i in range(2) for j in range(3) for k in range(4)):
        assert formulas(Micro, "f.frameOf([2, 3, 4], x)", at) == number
        assert formulas(Micro, "f.settingOf([2, 3, 4], x)", number) == list(at)


@pytest.mark.parametrize("name", FIGURES)
def test_the_still_is_what_the_script_draws(mounted, name):
    figure = FIGURES[name]()
    held = BeautifulSoup(still("Micro", figure.get_state()), "html.parser")
    page = mounted(figure, width=390)
    markup = BeautifulSoup(page.page.inner_html(".tile-widget"), "html.parser")
    assert drawn(held) == drawn(markup)
    assert held.select_one(".say p").text == markup.select_one(".say p").text
    assert held.select_one(".say p").text == repr(figure).partition(": ")[2]
    assert (page.errors, page.foreign, page.overflow <= 0) == ([], [], True)


@pytest.mark.parametrize("name", FIGURES)
def test_nothing_moves_when_the_script_takes_over(browser, name):
    from tests.lab.widgets.conftest import page_of

    page = browser.new_page(viewport={"width": 390, "height": 900})
    content = page_of(FIGURES[name](), "light")
    page.set_content(content.replace("<html", "<html data-draws", 1).partition("<script>(()")[0])
    before = page.locator(".widget").bounding_box()
    page.set_content(content.replace("<html", "<html data-draws", 1))
    page.wait_for_selector(".widget[data-mounted]")
    after = page.locator(".widget").bounding_box()
    assert {side: round(value) for side, value in before.items()} == {
        side: round(value) for side, value in after.items()
    }
    page.close()


@pytest.mark.parametrize(("width", "mode"), keys.PROFILES)
def test_keys_change_the_picture_and_the_sentence(mounted, width, mode):
    page = mounted(shown(), width=width, mode=mode)
    widget = page.page.locator(".tile-widget")
    assert sentence(widget) == "2 of 6, 33%."
    high = widget.bounding_box()["height"]
    keys.press(widget, "slider", "Filled", "ArrowRight", "ArrowRight")
    assert sentence(widget) == "4 of 6, 67%."
    assert widget.locator("[data-is=a]").count() == 4
    keys.press(widget, "slider", "Filled", "End")
    assert widget.locator("[data-is=a]").count() == 6
    assert widget.bounding_box()["height"] == high
    assert (page.errors, page.foreign, page.overflow <= 0) == ([], [], True)


def test_a_press_or_a_drag_leads_to_the_nearest_hand(mounted):
    page = mounted(shown())
    widget = page.page.locator(".tile-widget")
    box = widget.locator("svg").bounding_box()
    page.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 5)
    page.page.mouse.down()
    page.settled()
    assert sentence(widget) == "3 of 6, 50%."
    page.page.mouse.move(box["x"] + box["width"] * 0.85, box["y"] + 5)
    page.settled()
    assert sentence(widget) == "5 of 6, 83%."
    page.page.mouse.up()
    page.page.mouse.move(box["x"], box["y"])
    page.settled()
    assert sentence(widget) == "5 of 6, 83%."


def test_in_print_the_picture_and_the_sentence_stand(mounted):
    page = mounted(shown()).page
    page.emulate_media(media="print")
    assert page.locator(".micro svg").is_visible() and page.locator(".say p").first.is_visible()
    assert not page.locator(".micro .hands").is_visible()


def by_keys(widget) -> None:
    slider = widget.get_by_role("slider").first
    for key in ("Home", "End"):
        was = sentence(widget)
        slider.focus()
        value = slider.input_value()
        widget.page.keyboard.press(key)
        widget.page.evaluate("new Promise(requestAnimationFrame)")
        assert (sentence(widget) != was) == (slider.input_value() != value)

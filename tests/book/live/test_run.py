"""Cells run in the page, in Chromium: as they stand, changed, stopped, failing; without NumPy."""

from __future__ import annotations

import re

import pytest

from tests.book.live.conftest import after, cell, reset_page, run, shown, state, text, write
from tests.book.live.host import ISOLATED

ENDLESS = "while True:\n    pass"


def test_nothing_is_loaded_before_a_click(opened, bare_book):
    page = opened(bare_book, "page")
    page.wait_for_load_state("networkidle")
    loaded = page.evaluate("performance.getEntriesByType('resource').map((e) => e.name)")
    assert any("live.js" in name for name in loaded)
    assert not [name for name in loaded if "/_static/live/" in name]


def test_a_changed_cell_survives_a_reload_and_says_whose_output_it_shows(opened, bare_book):
    page = opened(bare_book, "page")
    write(page, 2, "tile = 8")
    page.reload()
    page.wait_for_selector("[data-stale]")
    assert text(page, 2) == "tile = 8" and page.locator("[data-stale]").count() == 1
    recorded = cell(page, 2).locator(".cell_output")
    label = "(output) => getComputedStyle(output, '::before').content"
    assert recorded.is_visible() and "the page’s own text" in recorded.evaluate(label)
    loaded = page.evaluate("performance.getEntriesByType('resource').map((e) => e.name)")
    assert not [name for name in loaded if "pyodide" in name or "codemirror" in name]
    cell(page, 2).locator("[data-do=reset]").click()
    assert recorded.evaluate(label) == "none"
    page.reload()
    assert "tile = 16" in text(page, 2)
    assert "edits" not in page.evaluate("Object.keys(localStorage).join()")


def test_nothing_that_was_written_is_lost(opened, bare_book):
    page = opened(bare_book, "page")
    write(page, 2, "tile = 8")
    way = cell(page, 2).locator(".cell-tools button").first
    way.dblclick()  # Reset, then Undo where it stood
    assert text(page, 2) == "tile = 8"
    run(page, 1)
    page.click("[data-part=reset]")
    page.keyboard.press("Enter")
    assert text(page, 2) == "tile = 8", "the question's first answer keeps everything"
    reset_page(page)
    assert "tile = 16" in text(page, 2) and not page.locator("[data-stale]").count()
    page.click("[data-part=undo]")
    assert text(page, 2) == "tile = 8"
    other = page.context.new_page()
    other.goto(page.url)
    write(other, 1, "scale = 2")
    page.reload()
    page.wait_for_selector("[data-stale]")
    assert (text(page, 1), text(page, 2)) == ("scale = 2", "tile = 8")


def test_what_was_written_into_a_cell_of_an_older_page_is_shown(opened, bare_book):
    page = opened(bare_book, "page")
    edits = '{"2": {"was": "an older text", "now": "my_kernel = 1"}}'
    page.evaluate(f"localStorage.setItem('tile-by-tile.edits:' + location.pathname, `{edits}`)")
    page.reload()
    page.click(".run-lost summary")
    assert page.inner_text(".run-lost pre") == "my_kernel = 1"
    write(page, 2, "tile = 8")
    page.reload()
    page.click(".run-lost summary")
    page.click(".run-lost button")
    page.reload()
    page.wait_for_selector("[data-stale]")
    assert text(page, 2) == "tile = 8" and not page.locator(".run-lost").count()


def test_stop_leaves_nothing_in_its_place(opened, bare_book):
    page = opened(bare_book, "page", headers=ISOLATED)
    run(page, 1)
    write(page, 4, ENDLESS)
    cell(page, 4).locator("[data-do=run]").click()
    page.wait_for_function("document.querySelector('.run-bar').dataset.state === 'running'")
    place = page.locator("[data-part=stop]").bounding_box()
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    after(page, lambda: page.mouse.dblclick(x, y))
    at = f"document.elementFromPoint({x}, {y}).closest('button')"
    assert page.evaluate(at) is None and text(page, 4) == ENDLESS


def test_a_phone_s_bar_stays_low_after_a_run(opened, bare_book):
    page = opened(bare_book, "page", viewport={"width": 390, "height": 844}, has_touch=True)
    run(page, 1)
    page.evaluate("document.querySelector('[data-part=state]').textContent += ' More.'.repeat(40)")
    bar = page.locator(".live-bar")
    assert bar.bounding_box()["height"] <= 110 - 44
    page.evaluate("document.querySelector('.run-bar').dataset.state = 'failed'")
    assert bar.bounding_box()["height"] > 110, "what went wrong is read in full"


def test_the_button_that_copies_copies_what_is_on_the_screen(opened, bare_book):
    page = opened(bare_book, "page", permissions=["clipboard-read", "clipboard-write"])
    write(page, 2, "tile = 8\nprint(tile)")
    cell(page, 2).hover()
    cell(page, 2).locator(".cell_input .copybtn").click()
    page.wait_for_selector(".copybtn.success")
    assert page.evaluate("navigator.clipboard.readText()").rstrip() == "tile = 8\nprint(tile)"


def test_the_editor_indents_and_lets_go(opened, bare_book):
    page = opened(bare_book, "page")
    before = cell(page, 2).locator(".cell_input pre")
    size = before.evaluate("(pre) => getComputedStyle(pre).fontSize")
    write(page, 2, "")
    for line in ("if scale:", "print(scale)"):
        page.keyboard.type(line)
        page.keyboard.press("Enter")
    assert text(page, 2) == "if scale:\n    print(scale)\n    ".rstrip("\n")
    page.keyboard.press("Control+a")
    page.keyboard.press("Tab")
    assert text(page, 2).startswith("    if scale:\n        print(scale)")
    page.keyboard.press("Shift+Tab")
    assert text(page, 2).startswith("if scale:\n    print(scale)")
    editor = cell(page, 2).locator(".cm-editor")
    assert editor.locator(".cm-lineNumbers").inner_text().split() == ["1", "2", "3"]
    assert editor.locator(".k").first.inner_text() == "if"
    assert editor.evaluate("(box) => getComputedStyle(box).fontSize") == size
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.dataset.do") == "run"
    page.keyboard.press("Shift+Tab")  # and on: to Edit, no trap


def test_a_line_that_a_message_names_is_marked_in_the_listing(opened, bare_book):
    page = opened(bare_book, "page")
    write(page, 2, "def half(n):\n    return n / 0\n\nprint('ok')")
    run(page, 2)
    page.reload()
    page.wait_for_selector("[data-stale]")
    write(page, 4, "half(4)")
    run(page, 4)
    band = cell(page, 2).locator(".run-band")
    assert band.inner_text() == "2"
    line = page.evaluate("""() => { const pre = document.querySelectorAll(".cell_input pre")[1];
        return pre.getBoundingClientRect().top + parseFloat(getComputedStyle(pre).paddingTop)
            + parseFloat(getComputedStyle(pre).lineHeight); }""")
    assert abs(band.bounding_box()["y"] - line) < 5
    write(page, 4, "1")
    run(page, 4)
    assert not band.count()
    write(page, 4, TWO_LINES)
    run(page, 4)
    assert band.all_inner_texts() == ["1", "2"]
    assert cell(page, 4).locator(".run-line-of").all_inner_texts() == ["Line 1", "Line 2"]


TWO_LINES = """class Race:
    def _repr_html_(self):
        rows = (1, "def half(n):"), (2, "return n / 0")
        return "".join(f"<p data-line='{n}'>{n}: <code>{text}</code></p>" for n, text in rows)
Race()"""
SOLVE = """class exercises:
    def check(name):
        return exercises()
    judge = check
    def _repr_html_(self):
        return "<div class='exercise'><strong>first: %s</strong></div>"
exercises.%s("first")"""


def test_an_exercise_is_ticked_once_it_is_solved(opened, bare_book):
    page = opened(bare_book, "chapters/03-pair")
    for said in (("not yet (wrong)", "check"), ("right", "judge"), ("right", "check")):
        assert not page.is_checked(".tick input")
        write(page, 3, SOLVE % said)
        run(page, 3)
    assert page.is_checked(".tick input")
    page.reload()
    assert page.is_checked(".tick input")


def test_run_page_runs_all_of_it_as_far_as_it_goes(opened, bare_book):
    page = opened(bare_book, "page")
    write(page, 3, "import numpy")
    page.click(".ways summary")
    after(page, lambda: page.click("[data-way=page]"))
    assert shown(page, 2) == "48 elements\n"
    assert "needs numpy" in shown(page, 3)
    assert "ZeroDivisionError" in shown(page, 4)


@pytest.mark.parametrize("headers", [{}, ISOLATED])
def test_a_run_is_stopped(opened, bare_book, headers):
    page = opened(bare_book, "page", headers=headers)
    run(page, 2)
    write(page, 4, ENDLESS)
    cell(page, 4).locator("[data-do=run]").click()
    page.wait_for_function("document.querySelector('.run-bar').dataset.state === 'running'")
    page.wait_for_timeout(300)
    said = after(page, lambda: page.click("[data-part=stop]"))
    write(page, 4, "print(tile)")
    if headers:
        assert "still there" in said
        assert not page.is_visible("[data-part=above]")
    else:
        assert "gone" in said
        after(page, lambda: page.click("[data-part=above]"))
        assert shown(page, 2) == "48 elements\n"
    assert run(page, 4) == "16\n"


def test_the_menu_says_what_each_way_asks_for_and_keys_are_enough(opened, bare_book):
    page = opened(bare_book, "page")
    menu = page.locator(".ways summary")
    menu.press("Enter")
    ways = page.locator(".ways li")
    assert ways.nth(0).inner_text().startswith("Here, now\n")
    assert re.search(r"\b\d+ MB on first use", ways.nth(0).inner_text())
    assert all(len(text.split("\n")[1]) > 20 for text in ways.all_inner_texts())
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Here, now"
    page.keyboard.press("Escape")
    assert not ways.nth(0).is_visible() and menu.evaluate("(e) => e === document.activeElement")
    menu.click()
    page.keyboard.press("Tab")
    after(page, lambda: page.keyboard.press("Enter"))
    assert not ways.nth(0).is_visible() and shown(page, 2) == "48 elements\n"


def test_where_cells_run_is_chosen_and_remembered(opened, bare_book):
    page = opened(bare_book, "page")
    page.route("https://mybinder.org/**", lambda route: route.abort())
    page.click(".ways summary")
    assert after(page, lambda: page.click("[data-way=server]")).startswith("Binder does not answer")
    page.reload()
    run(page, 2)
    assert state(page).startswith("Binder does not answer")
    page.click(".ways summary")
    after(page, lambda: page.click("[data-way=page]"))
    assert shown(page, 2) == "48 elements\n"
    page.reload()
    assert run(page, 2) == "48 elements\n"


SHIFT = """() => new Promise((done) => {
  let sum = 0;
  const add = (list) => list.getEntries().forEach((entry) => (sum += entry.value));
  new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(sum), 500);
})"""


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_moves_when_the_buttons_come(opened, bare_book, width):
    page = opened(bare_book, "page", viewport={"width": width, "height": 800})
    assert page.evaluate(SHIFT) < 0.01

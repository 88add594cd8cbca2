"""Cells run in the page, in Chromium: as they stand, changed, stopped, failing; without NumPy."""

from __future__ import annotations

import re

import pytest

from tests.book.engine.conftest import after, cell, run, shown, state, write
from tests.book.engine.host import ISOLATED

ENDLESS = "while True:\n    pass"


def test_nothing_is_loaded_before_a_click(opened, bare_book):
    page = opened(bare_book, "page")
    page.wait_for_load_state("networkidle")
    loaded = page.evaluate("performance.getEntriesByType('resource').map((e) => e.name)")
    assert any("live.js" in name for name in loaded)
    assert not [name for name in loaded if "/_static/engine/" in name]


def test_a_changed_cell_survives_a_reload_until_reset(opened, bare_book):
    page = opened(bare_book, "page")
    write(page, 2, "tile = 8")
    page.reload()
    editor = cell(page, 2).locator("textarea")
    editor.wait_for()
    assert editor.input_value() == "tile = 8"
    assert page.locator("textarea").count() == 1
    loaded = page.evaluate("performance.getEntriesByType('resource').map((e) => e.name)")
    assert not [name for name in loaded if "pyodide" in name]
    page.click("[data-part=reset]")
    page.reload()
    assert "tile = 16" in cell(page, 2).locator("pre").first.inner_text()
    assert editor.count() == 0 and "edits" not in page.evaluate("Object.keys(localStorage).join()")


def test_the_editor_indents_and_lets_go(opened, bare_book):
    page = opened(bare_book, "page")
    write(page, 2, "")
    for text in ("if scale:", "print(scale)"):
        page.keyboard.type(text)
        page.keyboard.press("Enter")
    editor = cell(page, 2).locator("textarea")
    assert editor.input_value() == "if scale:\n    print(scale)\n    "
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.dataset.do") == "run"


SOLVE = """import json, os, pathlib
kept = pathlib.Path(os.environ["KERNELS_EXERCISES"])
kept.parent.mkdir(parents=True, exist_ok=True)
entry = {"tries": 1, "solved": "%s"}
kept.write_text(json.dumps({"format": 1, "exercises": {"first": entry}}))"""


def test_an_exercise_is_ticked_once_it_is_solved(opened, bare_book):
    page = opened(bare_book, "chapters/03-pair")
    for day in ("", "2026-01-31"):
        assert not page.is_checked(".tick input")
        write(page, 3, SOLVE % day)
        run(page, 3)
    assert page.is_checked(".tick input")
    page.reload()
    assert page.is_checked(".tick input")


def test_run_page_runs_all_of_it_as_far_as_it_goes(opened, bare_book):
    page = opened(bare_book, "page")
    page.click(".ways summary")
    after(page, lambda: page.click("[data-way=page]"))
    assert shown(page, 2) == "48 elements\n"
    # The third needs the course, and the course NumPy: its recorded output stands.
    assert "needs numpy" in shown(page, 3)
    assert "ZeroDivisionError" in shown(page, 4)


@pytest.mark.parametrize("headers", [{}, ISOLATED])
def test_a_run_is_stopped(opened, bare_book, headers):
    page = opened(bare_book, "page", headers=headers)
    run(page, 2)
    write(page, 4, ENDLESS)
    cell(page, 4).locator("[data-do=run]").click()
    page.wait_for_function("document.querySelector('.engine-bar').dataset.state === 'running'")
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

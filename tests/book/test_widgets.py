"""The chapters' widgets as readers get them: each by keys alone, in every profile of a browser."""

from __future__ import annotations

import json
import re

import nbformat
import pytest
from bs4 import BeautifulSoup

from authoring import notebooks
from kernels import records
from kernels.lab import widgets
from kernels.lab.pages import address_of, has_quiz
from tests.book.test_browser import PROFILES, Listener
from tests.lab.widgets import keys
from tests.pages import CHAPTERS, mount_all
from tests.records import synthetic


def kinds(book, name: str) -> list[str]:
    """The widgets that a page shows."""
    return re.findall(r'data-kind="(\w+)"', (book / f"{address_of(name)}.html").read_text("utf-8"))


def test_every_kind_of_widget_is_used_on_some_page(book):
    shown = {name: kinds(book, name) for name in CHAPTERS}
    used = {kind for found in shown.values() for kind in found}
    assert used == {*widgets.__all__}
    assert [name for name in CHAPTERS if "Quiz" in shown[name]] == list(filter(has_quiz, CHAPTERS))


@pytest.mark.parametrize(("width", "mode"), PROFILES)
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_widget_of_a_page_works_by_keys(browser, book, chapter, width, mode):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=mode)
    listener = Listener(page)
    page.goto((book / f"{address_of(chapter)}.html").as_uri())
    mount_all(page)
    page.locator(".guess .show").evaluate_all("(all) => all.forEach((show) => show.click())")
    for kind in (shown := kinds(book, chapter)):
        page.evaluate("document.querySelectorAll('details.hide').forEach((d) => { d.open = true })")
        keys.tests_of(kind).by_keys(page.locator(f".widget[data-kind={kind}] .tile-widget").first)
    assert page.locator(".tile-widget").count() == len(shown)
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert (listener.errors, listener.foreign) == ([], [])
    page.close()


def test_a_new_record_is_shown_without_recording_a_chapter_anew(tmp_path, monkeypatch):
    from book.pages import widgets as pages

    for path in records.FOLDER.glob("*.json"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setenv("KERNELS_RECORDS", str(tmp_path))
    new = synthetic.record("a-new-gpu")
    new.provenance["gpu"] = "NVIDIA </script> 1"
    stored = notebooks.widget_html(
        "Roofline", {"gpu": "h200", "gpus": {}, "intensity": 2.0, "counted": "asked"}, ""
    )
    page = BeautifulSoup(stored, "html.parser")
    records.write(new)
    assert pages.mount(page, "chapters/x") == ["Roofline"]
    cell = nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output("display_data")])
    cell.outputs[0].data["text/html"] = stored
    text = nbformat.writes(nbformat.v4.new_notebook(cells=[cell]))
    assert tmp_path / "a-new-gpu.json" in pages.sources(text)
    assert pages.sources(text.replace("Roofline", "Quiz")) == []
    again = BeautifulSoup(str(page), "html.parser")
    traits = json.loads(again.select_one('script[type="application/json"]').string)
    assert traits["gpu"] == "h200" and traits["intensity"] == 2.0
    assert traits["gpus"]["a-new-gpu"]["points"] and traits["gpus"]["h200"]["points"]
    assert "</script>" in traits["gpus"]["a-new-gpu"]["name"]

"""Every cell of every page, run in the page's own Python: what is compared is what is stored."""

from __future__ import annotations

import nbformat
import pytest

from kernels.lab.pages import path_of
from tests.book.live.pages import EXPLAINED, cells, judge, opened
from tests.pages import CHAPTERS

#: Megabytes that Python may hold after any cell.
MOST = 200


def path(name):
    return path_of(name)


@pytest.mark.parametrize("name", CHAPTERS)
def test_cells_give_what_is_stored(browser, live_book, name):
    with opened(browser, live_book, name) as page:
        found = [*cells(page, path(name))]
    wrong = [cell for cell in found if cell.what in ("different", "failed", "absent")]
    assert {
        cell.name: cell.told for cell in wrong if cell.name not in EXPLAINED.get(name, ())
    } == {}
    assert sum(cell.what == "same" for cell in found) > 0, "nothing was compared"
    assert max(cell.megabytes for cell in found) < MOST, "a telephone would give up"


@pytest.mark.parametrize("name", EXPLAINED)
def test_what_is_explained_is_there(name):
    notebook = nbformat.read(path(name), as_version=4)
    assert EXPLAINED[name].keys() <= {cell.id for cell in notebook.cells}


def cell(text: str, *tags: str):
    output = nbformat.v4.new_output("stream", name="stdout", text=text)
    made = nbformat.v4.new_code_cell("print()", outputs=[output])
    made.metadata["tags"] = [*tags]
    return made


def told(text: str, *, lost: bool = False):
    return {"messages": [{"type": "stream", "name": "stdout", "text": text}], "lost": lost}


@pytest.mark.parametrize(
    ("stored", "run", "what"),
    [
        (cell("1\n"), told("1\n"), "same"),
        (cell("1\n"), told("2\n"), "different"),
        (cell("1\n"), told("1\n", lost=True), "failed"),
        (cell("1\n", "nbval-ignore-output"), told("2\n"), "ran"),
        (cell(""), {"messages": [], "lost": False}, "silent"),
        (cell("1\n"), {"messages": [{"type": "absent", "what": "x"}], "lost": False}, "absent"),
    ],
)
def test_what_differs_is_found(stored, run, what):
    assert judge(stored, run)[0] == what

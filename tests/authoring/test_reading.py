"""What a page asks of its reader: counted as a reader would, and shown on the first page."""

import json
import re
from dataclasses import replace

import pytest

from authoring import reading
from kernels.basics.files import ROOT
from kernels.lab.pages import path_of

LONG = " ".join(["word"] * 31) + "."
CELLS = [
    ("markdown", "# Title\n\n<!-- badges -->\n[Badge](x)\n\nFour words of prose.", {}),
    ("code", "# set-up\nimport sys", {"tags": ["hide-input"]}),
    ("markdown", ":::{admonition} Predict\n:class: tip\nHow many?\n:::", {}),
    ("code", "a = 1\n\nprint(a)", {}),
    ("markdown", f"**Your turn.** Change it.\n\n{LONG}\n\n| a | table |\n\n`code` ```more```", {}),
    ("code", "@cuda.jit\ndef k(a):\n    ptx.fence_proxy_async()", {}),
    ("markdown", "The chef loads an element a thread.", {}),
    ("markdown", "## Exercises\n\n### Exercise 1: numbers\n\nCount.", {}),
    ("code", 'check("x", a=...)', {"exercise": "x.start"}),
    ("markdown", ":::{dropdown} Hint 1\nNot prose.\n:::", {}),
    ("code", "def f(): ...", {"exercise": "x.solution", "tags": ["hide-cell"]}),
    ("markdown", "### 2. Code", {}),
    ("code", "@cuda.jit\ndef k(a):\n    pass", {"exercise": "y.start"}),
    ("markdown", "### 3. On paper", {}),
]  # fmt: skip
OUTPUTS = [
    {"data": {"text/html": ["<figure><svg></svg></figure>"]}},
    {"data": {"text/html": ['<div data-kind="Launch">'], "text/plain": ["Launch()"]}},
    {"data": {"application/vnd.jupyter.widget-view+json": {}, "text/plain": ["Quiz('x')"]}},
    {"text": ["<svg"]},
]


@pytest.fixture
def page(tmp_path):
    cells = [
        {"cell_type": kind, "source": text.splitlines(keepends=True), "metadata": metadata}
        for kind, text, metadata in CELLS
    ]
    cells[3]["outputs"] = OUTPUTS
    path = tmp_path / "ch04_page" / "04-page.ipynb"
    path.parent.mkdir()
    path.write_text(json.dumps({"cells": cells}))
    return reading.read(path)


def test_a_page_is_counted_as_a_reader_meets_it(page):
    assert (page.code, page.predictions, page.turns) == (5, 1, 1), "what is folded is not counted"
    assert page.close == 3 and replace(page, close=53).minutes == page.minutes + 5
    assert (page.figures, page.widgets, page.pictures) == (1, 1, 2), "a quiz is no picture"
    assert (page.exercises, page.exercise_minutes) == (3, 6 + 12 + 6)
    assert (page.long, page.house) == (1, 2)
    prose = "Title Badge Four words of prose How many Your turn Change it"
    prose += " word" * 31 + " The chef loads an element a thread Exercises Exercise 1 numbers Count"
    assert page.words == len(f"{prose} 2 Code 3 On paper".split())


def test_the_minutes_are_the_sum_that_is_named():
    assert reading.minutes(words=2000, code=100, predictions=5, turns=2) == 10 + 10 + 10 + 6 + 4
    assert reading.minutes(1, 0, 0, 0) == 5
    for number in (reading.WORDS, reading.LINES, reading.PREDICTION, reading.TURN):
        assert re.search(rf"\b{number}\b", reading.EXPLAINED)


def test_only_core_pages_have_limits(page):
    assert not page.beyond("words") and page.beyond("pictures")
    long = replace(page, words=3001, predictions=9)
    assert long.beyond("words") and long.beyond("predictions")
    assert not replace(long, name="04-page-deeper").beyond("words")
    assert replace(long, name="10-practice", words=3041).beyond("words")
    told = reading.table([long]).splitlines()
    assert re.match(r"04-page +3001! +5 +9! +2! ", told[1]) and told[2].startswith("all ")


@pytest.mark.parametrize(
    "text",
    ["to the bench", "Carry the tile", "two trips", "the chefs", "a patch", "4 bytes a thread"],
)
def test_words_of_the_house_are_seen(text):
    assert reading.HOUSE.search(text) or reading.RATE.search(text)


@pytest.mark.parametrize(
    "text",
    ["make bench", "the `bench` command", "one element per thread", "a striped row", "dispatch",
     "each thread loads an element", "### 2. A launch"],
)  # fmt: skip
def test_words_of_the_field_are_not(text):
    assert not reading.HOUSE.search(text) and not reading.RATE.search(text)


# --------------------------------------------------------------------------------- the first page


INDEX = """\
<!-- routes -->
old
<!-- /routes -->
<!-- minutes -->
| chapter | after it | minutes | exercises |
| --- | --- | ---: | ---: |
<!-- /minutes -->
"""


def test_the_minutes_stand_in_the_tables_of_the_first_page(page, tmp_path):
    (tmp_path / "index.md").write_text(INDEX)
    (tmp_path / "ch04_page" / "chapter.toml").write_text('title = "4. A page"\nafter = "you can"\n')
    path = reading.write(tmp_path, tmp_path)
    text = path.read_text()
    assert (
        "| [4. A page](chapters/ch04_page/04-page.ipynb) | you can | 10 | 24 |\n<!-- /min" in text
    )
    assert "| longer | every page, the deeper ones too, and every exercise | 35 min |\n<!--" in text
    assert "old" not in text
    reading.write(tmp_path, tmp_path)
    assert path.read_text() == text


def test_a_page_says_its_minutes(page, tmp_path):
    path = path_of(page.name, tmp_path)
    path.write_text(path.read_text().replace("Four words", "**Time:** 99 minutes. Four words"))
    assert reading.read(path).said == 99
    assert reading.say(tmp_path) == [path]
    assert reading.read(path).said == reading.read(path).minutes
    assert reading.say(tmp_path) == []


def test_every_page_says_its_minutes():
    wrong = [page.name for page in reading.report() if page.said not in (None, page.minutes)]
    assert not wrong, "run `.venv/bin/python -m kernels readme`: it counts their minutes again"


def test_the_first_page_lists_every_page_and_its_minutes(tmp_path):
    text = (ROOT / "index.md").read_text(encoding="utf-8")
    (tmp_path / "index.md").write_text(text, encoding="utf-8")
    now = reading.write(tmp_path).read_text(encoding="utf-8")
    told = "run `.venv/bin/python -m kernels readme`: it counts the minutes in index.md again"
    assert now == text, told

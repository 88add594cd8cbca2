"""Predict boxes: each asks what an output answers, and keeps the answer veiled until then."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter

import pytest
from bs4 import BeautifulSoup

from book.pages import predict, truths
from kernels.lab.pages import PREDICT, address_of, chapter_of, path_of, paths, predictions_of
from tests.book.test_browser import Listener
from tests.pages import CHAPTERS, lay_out

KEY = "tile-by-tile.progress"
ASKING = [path.stem for path in paths() if predictions_of(path.stem).is_file()]
CLIMB = address_of("00-climb")
FIRST = "#predict-sectors"


def place_of(name: str) -> str:
    return f"chapters/{name}" if name == "progress" else address_of(name)


def soup(book, name: str) -> BeautifulSoup:
    return BeautifulSoup((book / f"{address_of(name)}.html").read_text("utf-8"), "html.parser")


def asking_cells(name: str) -> list[str]:
    """The cells of a page with a box, once per box."""
    cells = json.loads(path_of(name).read_text("utf-8"))["cells"]
    return [cell["id"] for cell in cells for _ in range("".join(cell["source"]).count(PREDICT))]


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_box_has_an_entry_and_every_entry_a_box(name):
    path = predictions_of(name)
    entries = tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}
    assert asking_cells(name) == list(entries)


@pytest.mark.parametrize("name", ASKING)
def test_an_output_answers_all_that_is_judged(name):
    for box in truths.read(name):
        assert box.fields
        for field in box.fields:
            answered = field.answer is not None
            assert answered == (field.kind != "words"), (box.id, field.label)
            if field.kind == "number":
                assert field.answer >= field.said.get("least", 0), (box.id, field.label)
            if field.kind == "sketch":
                assert 0 <= min(field.answer) and max(field.answer) <= field.said["top"]


def test_most_of_what_is_asked_is_judged():
    kinds = Counter(
        field.kind for name in ASKING for box in truths.read(name) for field in box.fields
    )
    assert kinds["words"] < kinds.total() / 8
    assert all(kinds[kind] for kind in truths.KINDS)


def test_a_number_is_read_as_cells_print_it():
    text = "swapped 1,024 µs\nnaive 256 µs\n"
    entry = {"find": r"swapped ([\d,]+)"}
    assert truths.answer("number", entry, text) == 1024
    assert truths.answer("number", {**entry, "over": r"naive (\d+)"}, text) == 4
    assert truths.answer("number", {**entry, "over": r"naive (\d+)", "percent": True}, text) == 400
    assert truths.answer("number", {"find": r"([\d,]+) µs", "sum": True}, text) == 1280
    assert truths.answer("number", {"find": r"tiled (\d+)"}, text) is None
    assert truths.answer("number", {**entry, "over": r"tiled (\d+)"}, text) is None


def test_a_choice_has_one_right_answer_or_is_not_judged():
    options = {"slow": "slow", "fast": "fast"}
    assert truths.answer("choice", {"options": options}, "so fast") == 1
    assert truths.answer("choice", {"options": options}, "so slow, so fast") is None
    assert truths.answer("choice", {"options": options}, "neither") is None


@pytest.mark.parametrize("name", ASKING)
def test_every_box_has_its_fields_and_veils_its_answer(book, name):
    page, boxes = soup(book, name), truths.read(name)
    shown = dict(zip(predict.shown(name), page.select("div.cell"), strict=True))
    dressed = page.select(".predict")
    assert [each["id"] for each in dressed] == [predict.anchor(box) for box in boxes]
    assert len({each["id"] for each in dressed}) == len(dressed)
    for box, place in zip(boxes, dressed, strict=True):
        form = place.form
        assert json.loads(form["data-is"]) == [field.answer for field in box.fields]
        assert form["data-page"] == address_of(chapter_of(name))
        assert len(form.select(".field")) == len(box.fields)
        for field in box.fields:
            veiled = shown[field.cell].select(f'.cell_output[data-veil="{place["id"]}"]')
            assert veiled, (box.id, field.cell)


@pytest.fixture
def visit(browser, book):
    """Open a page as a reader of a kind: ``visit("00-climb", javaScriptEnabled=False)``."""
    contexts, listeners = [], []

    def go(name: str, before: str = "", **kind):
        if not contexts or kind or before:
            contexts.append(browser.new_context(viewport={"width": 390, "height": 900}, **kind))
        page = contexts[-1].new_page()
        if before:
            page.add_init_script(before)
        listeners.append(Listener(page))
        page.goto((book / f"{place_of(name)}.html").as_uri())
        if kind.get("java_script_enabled", True):
            lay_out(page)
        return page

    yield go
    assert [(each.errors, each.foreign) for each in listeners] == [([], [])] * len(listeners)
    for context in contexts:
        context.close()


def veils(page, box: str) -> list[str]:
    return page.locator(f'[data-veil="{box[1:]}"]').evaluate_all(
        "(all) => all.map((each) => getComputedStyle(each).visibility)"
    )


def height(page, box: str) -> float:
    return page.evaluate(
        "(id) => document.querySelector(`[data-veil='${id}']`).getBoundingClientRect().height",
        box[1:],
    )


def test_a_guess_lifts_the_veil_and_lasts(visit):
    page = visit("00-climb")
    assert set(veils(page, FIRST)) == {"hidden"}
    before = height(page, FIRST)
    page.fill(f"{FIRST} input >> nth=0", "4")
    page.fill(f"{FIRST} input >> nth=1", "1")
    page.press(f"{FIRST} input >> nth=1", "Enter")
    said = page.locator(f"{FIRST} .said")
    assert said.locator("p").all_text_contents() == [
        "A[row, k]: you 4, it’s 32\u00a0sectors: too low by a factor of 8.",
        "B[k, col]: you 1, it’s 1\u00a0sector: exact.",
    ]
    assert said.evaluate("(each) => each === document.activeElement"), "it is read at once"
    assert set(veils(page, FIRST)) == {"visible"}
    assert height(page, FIRST) == before, "nothing moves"
    again = visit("00-climb")
    assert set(veils(again, FIRST)) == {"visible"}
    assert "you 4" in again.inner_text(f"{FIRST} .said")
    again.click(f"{FIRST} .said button")
    assert set(veils(again, FIRST)) == {"hidden"}
    assert set(veils(visit("00-climb"), FIRST)) == {"hidden"}


def test_whoever_does_not_want_to_guess_sees_the_answer(visit):
    page = visit("00-climb")
    page.click(f"{FIRST} .show")
    assert set(veils(page, FIRST)) == {"visible"}
    assert page.inner_text(f"{FIRST} .said p").startswith("A[row, k]: 32")
    kept = page.evaluate("(key) => JSON.parse(localStorage.getItem(key))", KEY)
    assert kept["predictions"] == {CLIMB: {"predict-sectors": None}}


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("", "Type a number, or press “Show me”."),
        ("many", "“many” is not a number: type digits, such as 12 or 0.25."),
        ("1,5,2", "“1,5,2” is not a number: type digits, such as 12 or 0.25."),
        ("-3", "-3 is impossible here: the least is 0."),
        ("1e999", "“1e999” is not a number: type digits, such as 12 or 0.25."),
    ],
)
def test_what_is_no_guess_is_told_in_a_line(visit, typed, line):
    page = visit("00-climb")
    page.fill(f"{FIRST} input >> nth=0", typed)
    page.click(f"{FIRST} .acts button >> nth=0")
    assert page.inner_text(f"{FIRST} .fault") == line
    invalid = page.locator(f"{FIRST} [aria-invalid]")
    assert invalid.count() == 1
    assert invalid.evaluate("(each) => each === document.activeElement")
    assert set(veils(page, FIRST)) == {"hidden"}


def test_a_decimal_comma_is_read(visit):
    page = visit("00-climb")
    page.fill(f"{FIRST} input >> nth=0", "1,5")
    page.fill(f"{FIRST} input >> nth=1", "1")
    page.press(f"{FIRST} input >> nth=1", "Enter")
    assert "you 1.5," in page.inner_text(f"{FIRST} .said")


def test_large_numbers_and_units_are_read(visit):
    page = visit("01-hardware")
    page.fill("#predict-the-work input >> nth=0", "1,000,000,000")
    page.fill("#predict-the-work input >> nth=1", "8×")
    page.press("#predict-the-work input >> nth=1", "Enter")
    said = page.locator("#predict-the-work .said p").all_text_contents()
    assert [line.rpartition(": ")[2] for line in said] == ["exact."] * 2


def test_a_choice_and_words_by_keyboard(visit):
    page = visit("06-profiling")
    box = "#predict-stalls-md"
    page.click(f"{box} .acts button >> nth=0")
    assert page.inner_text(f"{box} .fault") == "Choose an answer, or press “Show me”."
    for group in range(3):
        page.focus(f"{box} fieldset >> nth={group} >> input >> nth=0")
        page.keyboard.press("Space")
    page.click(f"{box} .acts button >> nth=0")
    assert page.inner_text(f"{box} .fault") == "Write a few words, or press “Show me”."
    page.fill(f"{box} textarea", "<b>waits</b>")
    page.click(f"{box} .acts button >> nth=0")
    said = page.locator(f"{box} .said p").all_text_contents()
    assert said[0].endswith(": right.")
    assert said[1] == "tiled: you “queue to global memory”, recorded “queue to shared memory”."
    assert said[3] == "You wrote: <b>waits</b>"


def test_a_sketch_shows_both_curves(visit):
    page = visit("05-memory-access")
    box = "#predict-sectors-words"
    page.click(f"{box} .acts button >> nth=0")
    assert page.inner_text(f"{box} .fault") == "Draw a point or more, or press “Show me”."
    for place in range(7):
        page.focus(f"{box} input >> nth={place}")
        page.keyboard.press("End")
    page.click(f"{box} .acts button >> nth=0")
    assert page.inner_text(f"{box} .said p") == (
        "Hollow points: yours. Filled points: the answer. "
        "On average you are off by 53.9\u00a0% of the axis."
    )
    tops = page.locator(f"{box} .axis label").evaluate_all(
        "(all) => all.map((each) => Number(each.style.getPropertyValue('--is')))"
    )
    assert tops == [1, 0.67, 0.5, 0.4, 0.22, 0.22, 0.22]


def test_points_that_nobody_drew_are_no_guesses(visit):
    page = visit("05-memory-access")
    box = "#predict-sectors-words"
    for place in (1, 4):
        page.focus(f"{box} input >> nth={place}")
        page.keyboard.press("End")
    page.click(f"{box} .acts button >> nth=0")
    (off,) = re.findall(r"off by ([\d.]+)", page.inner_text(f"{box} .said p"))
    assert float(off) == pytest.approx((33 + 78) / 2)


def test_whole_numbers_are_drawn_in_whole_steps(book):
    steps = soup(book, "05b-banks").select("#predict-banks .sketch input")
    assert {each["step"] for each in steps} == {"1"} and {each["max"] for each in steps} == {"32"}


def test_who_runs_the_cell_has_the_answer(visit):
    page = visit("00-climb")
    page.evaluate(
        """(id) => {
            const cell = document.querySelector(`[data-veil='${id}']`).closest(".cell");
            cell.insertAdjacentHTML("beforeend", "<button id=go data-do=run>Run</button>");
        }""",
        FIRST[1:],
    )
    page.click("#go")
    assert set(veils(page, FIRST)) == {"visible"}


FORBIDDEN = """for (const name of ["getItem", "setItem"]) {
    const real = Storage.prototype[name];
    Storage.prototype[name] = function (key, ...more) {
        if (key === "tile-by-tile.progress") throw new DOMException("forbidden", "SecurityError");
        return real.call(this, key, ...more);
    };
}"""


def test_where_nothing_is_kept_a_guess_still_lifts_the_veil(visit):
    page = visit("00-climb", before=FORBIDDEN)
    page.fill(f"{FIRST} input >> nth=0", "32")
    page.fill(f"{FIRST} input >> nth=1", "1")
    page.press(f"{FIRST} input >> nth=1", "Enter")
    assert set(veils(page, FIRST)) == {"visible"}
    assert page.locator(f"{FIRST} .said p").last.inner_text() == (
        "This browser keeps nothing: the guess is forgotten when you leave."
    )


@pytest.mark.parametrize(
    "kept",
    ["[]", "null", '{"format": 2}', "no JSON", '{"format": 1, "predictions": [1]}']
    + [
        json.dumps(
            {
                "format": 1,
                "predictions": {CLIMB: {"predict-sectors": said}},
            }
        )
        for said in ("32", 7, [], [1], ["x", "y"], {"0": 1}, [None, 1])
    ],
)
def test_what_is_found_in_the_storage_and_is_not_ours_counts_as_nothing(visit, kept):
    page = visit("00-climb", before=f"localStorage.setItem({KEY!r}, {kept!r})")
    assert set(veils(page, FIRST)) == {"hidden"}
    page.click(f"{FIRST} .show")
    assert set(veils(page, FIRST)) == {"visible"}


def test_without_scripts_and_in_print_the_page_is_as_the_notebook(visit):
    page = visit("00-climb", java_script_enabled=False)
    assert not page.locator(f"{FIRST} .stage").is_visible()
    assert page.locator("[data-veil]").first.is_visible()
    page = visit("00-climb", java_script_enabled=True)
    page.emulate_media(media="print")
    assert not page.locator(f"{FIRST} .stage").is_visible()
    assert set(veils(page, FIRST)) == {"visible"}


def test_the_script_is_small(book):
    sizes = [(book / f"_static/book/{name}.js").stat().st_size for name in ("guesses", "predict")]
    assert sum(sizes) < 14_000
    form = sum(len(str(each)) for each in soup(book, "00-climb").select(".predict .stage"))
    assert form < 12_000


def test_progress_tells_how_good_the_guesses_are(visit):
    page = visit("00-climb")
    page.fill(f"{FIRST} input >> nth=0", "4")
    page.fill(f"{FIRST} input >> nth=1", "2")
    page.press(f"{FIRST} input >> nth=1", "Enter")
    page = visit("progress")
    boxes = sum(len(truths.read(name)) for name in ASKING)
    assert page.inner_text("#calibration .count") == (
        f"1 of {boxes} predictions opened. 2 numbers guessed, 1 within a factor of two."
    )
    assert page.locator("#calibration .dots i").count() == 2
    assert page.locator("#calibration li").count() == 1
    page.click(".forget")
    page.click(".forget")
    page.wait_for_function("document.querySelectorAll('#calibration .dots i').length === 0")
    assert re.match(rf"0 of {boxes} ", page.inner_text("#calibration .count"))

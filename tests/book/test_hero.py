"""The first screen: the record's numbers, the kernels' own lines, and keys to step."""

from __future__ import annotations

import gzip

import pytest

from book.pages import hero
from kernels import records
from kernels.basics.units import percent
from kernels.rungs import order

BOOK = hero.FOLDER.parent
FOLDER = BOOK.parent / "kernels" / "rungs"
CHOSEN = "document.querySelector('.hero input:checked').id"
BAR = """getComputedStyle(document.querySelector('.hero .fill')).transform"""


@pytest.mark.parametrize("step", hero.STEPS, ids=lambda step: step.rung)
def test_a_step_shows_a_line_of_its_kernel(step):
    suffix = {"numba": "py", "cpp": "cu"}[step.engine]
    assert step.line in (FOLDER / f"{step.rung}.{suffix}").read_text("utf-8")
    assert step.rung in order.LADDER
    assert f"<mark>{step.new}</mark>" in hero.marked(step)


def test_every_number_is_the_record_s():
    record = records.load()
    text = hero.markup(record)
    for step in hero.STEPS:
        assert f"<b>{percent(hero.best(record, step.rung, step.engine).share)}</b>" in text


def test_the_first_screen_is_light():
    texts = [hero.markup(records.load()), (BOOK / "static" / "hero.js").read_text("utf-8")]
    assert len(gzip.compress("".join(texts).encode())) < 10_000


def test_keys_and_clicks_step_and_the_bar_grows(browser, book):
    page = browser.new_page(reduced_motion="reduce")
    page.goto((book / "index.html").as_uri())
    shares = [float(page.evaluate(BAR).split("(")[1].split(",")[0])]
    assert page.evaluate(CHOSEN) == "h1"
    for _ in hero.STEPS[1:]:
        page.keyboard.press("ArrowRight")
        shares.append(float(page.evaluate(BAR).split("(")[1].split(",")[0]))
    assert page.evaluate(CHOSEN) == "h6" and shares == sorted(set(shares))
    page.click(".hero .pic")
    assert page.evaluate(CHOSEN) == "h1"
    page.focus("#h1")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(CHOSEN) == "h2"
    page.close()


def test_it_steps_once_by_itself_until_somebody_else_does(browser, book):
    page = browser.new_page()
    page.clock.install()
    page.goto((book / "index.html").as_uri())
    page.clock.run_for(4_000)
    assert page.evaluate(CHOSEN) == "h3"
    page.keyboard.press("ArrowLeft")
    page.clock.run_for(20_000)
    assert page.evaluate(CHOSEN) == "h2", "the tour is over"
    page.reload()
    page.clock.run_for(20_000)
    assert page.evaluate(CHOSEN) == "h6"
    page.close()


def test_the_first_screen_needs_no_script(browser, book):
    context = browser.new_context(java_script_enabled=False, viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.goto((book / "index.html").as_uri())
    page.check("#h6")
    assert page.locator(".hero .top .k6").is_visible() and page.locator(".hero .start").is_visible()
    context.close()


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ('{"page": "chapters/ch04_tiled/04-tiled", "title": "x"}', "Continue: 4. "),
        ('{"page": "javascript:alert(1)", "title": "x"}', "Start the climb"),
        ("nonsense", "Start the climb"),
    ],
)
def test_the_start_leads_on_to_where_the_reader_was(browser, book, kept, said):
    page = browser.new_page()
    page.add_init_script(f"localStorage.setItem('tile-by-tile.place', {kept!r})")
    page.goto((book / "index.html").as_uri())
    assert page.inner_text(".hero .start").startswith(said)
    page.close()

"""What the tests of the pages' own Python share: Pyodide with NumPy, or without, and a page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType

import pytest

from book.live import fetch
from tests.book.conftest import FIXTURE, ROOT, built
from tests.book.live import standins
from tests.book.live.host import hosted
from tests.conftest import PYTHONLESS

NONE = MappingProxyType({})
#: Milliseconds from a click to the end of a run, on any machine.
PATIENCE = 60_000


def fetched(work: Callable):
    """Fetch something of the page's Python; skip with the reason where it cannot be had."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PAGE_PYTHON", raising=False)
        try:
            return work()
        except fetch.NoPagePython as error:
            pytest.skip(f"{PYTHONLESS}{error}")


@pytest.fixture(scope="session")
def runtime() -> fetch.Distribution:
    """Pyodide alone, from npm."""
    return fetched(lambda: fetch.Distribution(fetch.runtime(fetch.KEPT), {}))


@pytest.fixture(scope="session")
def distribution(tmp_path_factory: pytest.TempPathFactory) -> fetch.Distribution:
    """Pyodide with NumPy, and with Matplotlib or its stand-in."""
    found = fetched(fetch.fetch)
    if fetch.DRAWING not in found.wheels:
        stand_in = standins.matplotlib(tmp_path_factory.mktemp("wheels"))
        found.wheels[fetch.DRAWING] = stand_in
    return found


@pytest.fixture(scope="session")
def bare_book(runtime, tmp_path_factory) -> Path:
    """The small book with a Python that has no NumPy."""
    return built(FIXTURE, "bare", tmp_path_factory, runtime)


@pytest.fixture(scope="session")
def live_book(distribution, tmp_path_factory) -> Path:
    """The course's own pages, which run by themselves."""
    return built(ROOT, "live", tmp_path_factory, distribution)


@pytest.fixture(scope="session")
def small_live_book(distribution, tmp_path_factory) -> Path:
    """The small book with a whole Python."""
    return built(FIXTURE, "small-live", tmp_path_factory, distribution)


@pytest.fixture
def opened(browser) -> Iterator[Callable]:
    """Open a page of a book on a static host: ``opened(book, "page", headers=ISOLATED)``."""
    with ExitStack() as stack:

        def call(book: Path, name: str, *, headers=NONE, faults=NONE, script="", **options):
            address = stack.enter_context(hosted(book, headers=headers, faults=faults))
            context = stack.enter_context(browser.new_context(**options))
            context.add_init_script(script)
            page = context.new_page()
            page.set_default_timeout(PATIENCE)
            page.goto(f"{address}{name}.html")
            return page

        yield call


def cell(page, number: int):
    """A code cell of a page, the first being 1."""
    return page.locator(".bd-article div.cell:has(.cell_input pre)").nth(number - 1)


def state(page) -> str:
    """What the bar says."""
    return page.inner_text("[data-part=state]")


DONE = "Number(document.querySelector('.run-bar').dataset.done ?? 0)"


def after(page, act: Callable[[], None]) -> str:
    """Do something that runs cells, wait for its end, and return what the bar says."""
    before = page.evaluate(DONE)
    act()
    page.wait_for_function(f"(before) => {DONE} > before", arg=before)
    return state(page)


def run(page, number: int) -> str:
    """Run a cell, and return the text of its live output."""
    after(page, cell(page, number).locator("[data-do=run]").click)
    return shown(page, number)


def shown(page, number: int) -> str:
    """The live output of a cell."""
    area = cell(page, number).locator(".run-output")
    return area.inner_text() if area.count() else ""


def write(page, number: int, text: str) -> None:
    """Change the text of a cell."""
    cell(page, number).locator("[data-do=edit]").click()
    cell(page, number).locator(".cm-content").fill(text)


def text(page, number: int) -> str:
    """The text of a cell, as paper and the button that copies have it."""
    return cell(page, number).locator(".cell_input pre").first.text_content().rstrip("\n")


def reset_page(page) -> None:
    """Reset the page, and say yes to the question."""
    page.click("[data-part=reset]")
    page.click(".run-ask button >> text=Reset the page")
    page.wait_for_function("document.querySelector('[data-part=reset]').hidden")

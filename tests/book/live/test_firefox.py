"""The pages' own Python in Firefox, where Playwright has one: a run, a stop, what is left."""

from __future__ import annotations

import pytest
from playwright.sync_api import Error

from tests.book.live.conftest import PATIENCE, after, cell, run, state, write
from tests.book.live.host import ISOLATED, hosted


@pytest.fixture(params=["chromium", "firefox"])
def any_browser(request, playwright, browser):
    """Chromium, and Firefox where it is installed."""
    if request.param == "chromium":
        yield browser
        return
    try:
        firefox = playwright.firefox.launch()
    except Error:
        pytest.skip("Playwright has no Firefox here: `playwright install firefox`")
    yield firefox
    firefox.close()


@pytest.mark.parametrize("headers", [{}, ISOLATED])
def test_cells_run_and_stop(any_browser, bare_book, headers):
    with hosted(bare_book, headers=headers) as address:
        page = any_browser.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(f"{address}page.html")
        assert run(page, 2) == "48 elements\n"
        write(page, 4, "while True:\n    pass")
        cell(page, 4).locator("[data-do=run]").click()
        page.wait_for_function("document.querySelector('.run-bar').dataset.state === 'running'")
        after(page, lambda: page.click("[data-part=stop]"))
        assert ("still there" if headers else "gone") in state(page)
        write(page, 4, "print(scale)")
        assert run(page, 4) == "3\n"
        page.close()

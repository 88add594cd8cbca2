"""`make offline` with the pages' own Python: cells run from another folder, with no network."""

from __future__ import annotations

import sys
import zipfile

import pytest

from book import offline
from tests.book.live.conftest import PATIENCE, run, write
from tests.book.live.test_live import KERNEL
from tests.book.test_offline import free_port, started


@pytest.fixture
def address(small_live_book, tmp_path):
    """The address of the unpacked archive's own server."""
    offline.pack(small_live_book, tmp_path / "book.zip")
    with zipfile.ZipFile(tmp_path / "book.zip") as archive:
        archive.extractall(tmp_path / "a stick")
    stick = tmp_path / "a stick" / "tile-by-tile"
    process, address = started(stick, sys.executable, "serve.py", str(free_port()))
    yield address
    process.kill()


def test_a_kernel_runs_from_a_stick(browser, address):
    context = browser.new_context()
    asked = []

    def only_the_stick(route):
        asked.append(route.request.url)
        (route.continue_ if route.request.url.startswith(address) else route.abort)()

    context.route("**/*", only_the_stick)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{address}page.html")
    write(page, 2, KERNEL)
    assert run(page, 2) == "[1. 1. 1. 1.]\n"
    assert [url for url in asked if not url.startswith((address, "blob:", "data:"))] == []
    context.close()

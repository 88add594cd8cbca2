"""The tile player with a kernel behind it, in a live page of the book."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from authoring import notebooks
from tests.book.live.conftest import run

ROOT = Path(__file__).parents[3]
SETUP = f"import sys\nsys.path.insert(0, {str(ROOT)!r})"
SHOW = "from kernels.lab.widgets import TilePlayer\n\nplayer = TilePlayer(M=5, N=7, K=9)\nplayer"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A book of one page with the widget, executed and stored as a chapter is."""
    folder = tmp_path_factory.mktemp("live")
    cells = [
        new_markdown_cell("# A page\n\n<!-- badges -->\n<!-- /badges -->\n", id="title"),
        new_code_cell(SETUP, id="set-up", metadata={"tags": ["hide-input"]}),
        new_code_cell(SHOW, id="player"),
        new_code_cell("print(player.tile, len(player.measured))", id="ask"),
    ]
    path = folder / "page.ipynb"
    nbformat.write(new_notebook(cells=cells), path)
    nbformat.write(notebooks.execute(path), path)
    contents = "format: jb-book\nroot: index\nchapters:\n  - file: page\n"
    (folder / "_toc.yml").write_text(contents)
    shutil.copy(ROOT / "tests/book/fixture/index.md", folder)
    return folder


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def use_the_player(page, root: str) -> None:
    """Change the tile, launch the kernel, and wait for its time."""
    player = page.locator(f"{root} .tile-player").last
    player.get_by_text("It runs on:").wait_for()
    folds = player.locator("details")
    folds.evaluate_all("(all) => all.forEach((fold) => { fold.open = true })")
    player.get_by_label("Tile", exact=True).focus()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    player.get_by_text("64", exact=True).first.wait_for()
    player.get_by_role("button", name="Run on this machine").click()
    player.get_by_text("Right, and measured on the CPU interpreter:").wait_for()


def test_in_a_live_page_the_button_launches_the_kernel(browser, folder, tmp_path):
    command = [sys.executable, "-m", "book.serve", "--port", free_port()]
    command += ["--source", str(folder), "--output", str(tmp_path)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        said = (re.search(r"(http\S+)book/\?token=(\S+)", line) for line in process.stdout)
        address = next(filter(None, said))
        page = browser.new_page()
        page.goto(f"{address[1]}book/page.html?token={address[2]}")
        page.wait_for_selector(".widget[data-mounted] .tile-player")
        run(page, 2)
        use_the_player(page, ".run-output")
        assert run(page, 3) == "8 1\n"
        process.kill()
        page.wait_for_selector('.run-bar[data-state="failed"]')
        player = page.locator(".run-output .tile-player").last
        player.get_by_role("button", name="Run on this machine").click()
        player.get_by_text("No answer: the kernel is busy, has died, or none").wait_for()
        page.close()
    finally:
        process.kill()

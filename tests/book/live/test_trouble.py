"""What goes wrong for readers, in Chromium: a line says so, and the page stays as it was."""

from __future__ import annotations

import pytest

from tests.book.live.conftest import after, cell, run, state, write

HOARD = "held = [bytearray(50_000_000)]\nwhile True:\n    held.append(bytearray(50_000_000))"
SPIN = """from kernels import cuda

@cuda.jit
def spin():
    while True:
        pass

spin[64, 256]()"""
FIRST = (
    "pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json",
    "course.zip.gz",
)  # fmt: skip
SCRIPTS = ("page.js", "output.js", "worker.js", "files.js")
NO_STORE = "Object.defineProperty(window, 'localStorage', { get() { throw new Error('no'); } });"
FULL_STORE = (
    "Storage.prototype.setItem = () => { throw new DOMException('', 'QuotaExceededError'); };"
)
SOLVE = """import json, os, pathlib
kept = pathlib.Path(os.environ["KERNELS_EXERCISES"])
kept.parent.mkdir(parents=True, exist_ok=True)
found = json.loads(kept.read_text()) if kept.exists() else {"format": 1, "exercises": {}}
found["exercises"]["%s"] = {"tries": 1, "solved": ""}
kept.write_text(json.dumps(found))
print(*found["exercises"])"""
SHOW = SOLVE.replace('found["exercises"]["%s"] = {"tries": 1, "solved": ""}\n', "")


def refused(page, number: int = 2) -> str:
    """Run a cell that cannot run; the page keeps its recorded output, and the bar says why."""
    run(page, number)
    assert page.get_attribute(".run-bar", "data-state") == "failed"
    recorded = cell(page, number).locator(".cell_output:not(.run-output)")
    assert recorded.inner_text().strip() == "48 elements"
    said = state(page)
    assert said and "\n" not in said
    return said


@pytest.mark.parametrize("file", ["manifest.json", *SCRIPTS, *FIRST])
@pytest.mark.parametrize("fault", ["gone", "cut"])
def test_a_file_that_does_not_come_is_told_in_a_line(opened, bare_book, file, fault):
    faults = {file: fault}
    page = opened(bare_book, "page", faults=faults)
    said = refused(page)
    assert "did not" in said and (file in said or file == "manifest.json" or file in SCRIPTS)
    faults.clear()  # the network is back
    if "reload" in said:
        page.reload()
    assert run(page, 2) == "48 elements\n"


@pytest.mark.parametrize("fault", ["gone", "cut", "wrong"])
def test_numpy_that_does_not_come_is_told_and_may_come_later(opened, small_live_book, fault):
    wheel = next(small_live_book.rglob("numpy-*.whl")).name
    faults = {wheel: fault}
    page = opened(small_live_book, "page", faults=faults)
    assert f"{wheel} did not arrive" in refused(page)
    faults.clear()
    write(page, 2, "import numpy\nprint(numpy.arange(3).sum())")
    assert run(page, 2) == "3\n"


def test_a_package_that_does_not_come_costs_no_names(opened, small_live_book):
    wheel = next(small_live_book.rglob("matplotlib-*.whl")).name
    faults = {wheel: "cut"}
    page = opened(small_live_book, "page", faults=faults)
    write(page, 2, "kept = 7")
    run(page, 2)
    write(page, 2, "import matplotlib\nprint(kept)")
    assert run(page, 2).startswith(f"Not loaded: {wheel} did not arrive")
    faults.clear()
    assert run(page, 2) == "7\n"


@pytest.mark.parametrize("name", ["WebAssembly", "Worker", "DecompressionStream"])
def test_an_old_browser_is_told(opened, bare_book, name):
    page = opened(bare_book, "page")
    page.evaluate(f"delete window.{name}")
    assert "the recorded outputs stand" in refused(page)


def test_a_page_from_a_file_says_that_it_cannot(browser, bare_book):
    page = browser.new_page()
    page.goto((bare_book / "page.html").as_uri())
    assert "opened as a file" in refused(page)
    page.close()


@pytest.mark.parametrize("store", [NO_STORE, FULL_STORE])
def test_a_browser_that_keeps_nothing_says_so_and_keeps_it_until_the_reader_leaves(
    opened, bare_book, store
):
    page = opened(bare_book, "page", script=store)
    write(page, 2, SOLVE % "first")
    assert run(page, 2) == "first\n"
    assert "keeps no progress" in state(page)
    write(page, 2, SOLVE % "second")
    assert run(page, 2) == "first second\n"


def test_two_tabs_keep_what_both_have_solved(opened, bare_book):
    one = opened(bare_book, "page")
    two = one.context.new_page()
    two.goto(one.url)
    for page in (one, two):
        run(page, 2)
    write(one, 2, f"import time\ntime.sleep(3)\n{SOLVE % 'first'}")
    write(two, 2, SOLVE % "second")
    # The second is solved, and kept, while the first still runs.
    after(one, lambda: (cell(one, 2).locator("[data-do=run]").click(), run(two, 2)))
    write(two, 2, SHOW)
    assert run(two, 2).split() == ["second", "first"]


@pytest.mark.parametrize("source", [HOARD, "[0] * 4 * 10**8", "bytearray(2 * 10**9)"])
def test_a_cell_that_takes_all_memory_gets_an_error(opened, bare_book, source):
    page = opened(bare_book, "page")
    write(page, 2, source)
    assert "MemoryError" in run(page, 2)
    write(page, 2, "held = None\nprint(1 + 1)")
    assert run(page, 2) == "2\n"


def test_a_kernel_without_end_ends_with_an_error(opened, small_live_book):
    page = opened(small_live_book, "page")
    write(page, 2, SPIN)
    assert run(page, 2).startswith("KernelError: line 5: the loop has run")
    write(page, 2, "spin = None\nprint(1 + 1)")
    assert run(page, 2) == "2\n"

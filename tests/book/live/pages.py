"""Run every cell of the pages in the page's own Python and compare it with what is stored:
``python -m tests.book.live.pages [--only 03]``.

Compared is what `tests.chapters.strict` compares: streams, and the text of values and pictures.
Cells whose outputs are a GPU's, or a time, have to end without an error.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from authoring import notebooks
from book.live import pack
from book.live.inpage import needs
from kernels.lab.pages import address_of
from tests.book.live.host import hosted

#: Cells that cannot give what is stored, by page, with the reason.
EXPLAINED = {
    "03-naive-deeper": {"cpu-here": "it compiles with Numba, which no browser runs"},
    "08-tensor-cores-deeper": {
        "real-data": "it reads a picture that comes with Matplotlib",
        "parts-real": "it needs what `real-data` read",
    },
}
RUN = """async (number) => {
  const page = await livePage(), cell = page.cells[number];
  const began = performance.now();
  await page.inTurn(() => page.runAll([cell]));
  return { messages: cell.messages, heap: page.heap, seconds: (performance.now() - began) / 1000,
           lost: page.bar.dataset.state === "failed" };
}"""


@dataclass(frozen=True)
class Cell:
    """What came of a cell: ``same``, ``ran``, ``silent``, ``absent``, ``different``, ``failed``,
    or ``undrawn``, where a stand-in for Matplotlib could not play its part.
    """

    name: str
    what: str
    told: str
    seconds: float
    megabytes: float


def said(outputs: list[dict[str, Any]]) -> dict[str, Any]:
    """What is compared, of outputs as a notebook stores them."""
    found: dict[str, Any] = {"stdout": "", "stderr": "", "values": []}
    for output in outputs:
        if output["type"] == "stream":
            found[output["name"]] += output["text"]
        elif output["type"] == "output" and "text/plain" in output["data"]:
            found["values"].append(notebooks.portable(output["data"]["text/plain"]).rstrip())
    for name in ("stdout", "stderr"):
        found[name] = notebooks.portable(notebooks.lasting(found[name])).rstrip()
    return found


def stored(cell: nbformat.NotebookNode) -> dict[str, Any]:
    """What a notebook's cell stores, in the form of `said`."""
    kinds = {"stream": "stream", "display_data": "output", "execute_result": "output"}
    outputs = [dict(each, type=kinds.get(each.output_type, "error")) for each in cell.outputs]
    return said(outputs)


def judge(cell: nbformat.NotebookNode, run: dict[str, Any]) -> tuple[str, str]:
    """What came of a cell, and what to tell of it."""
    tags = set(cell.metadata.get("tags", ()))
    last = run["messages"][-1] if run["messages"] else {"type": ""}
    if last["type"] == "absent":
        return "absent", f"needs {last['what']}"
    if last["type"] == "error" or run["lost"]:
        if "raises-exception" in tags:
            return "same", ""
        draws = needs.words(cell.source) & {*pack.DRAWS}
        stand_in = "Anything" in last.get("traceback", "") or last.get("name") == "IndexError"
        return (
            "undrawn" if draws and stand_in else "failed"
        ), f"{last.get('name')}: {last.get('value')}"[:300]
    if "nbval-ignore-output" in tags or notebooks.GPU_TAG in tags:
        return "ran", ""
    want, got = stored(cell), said(run["messages"])
    if want == got:
        return ("same" if any(want.values()) else "silent"), ""
    part = next(part for part in want if want[part] != got[part])
    return "different", f"{part}: stored {want[part]!r}, here {got[part]!r}"[:600]


def cells(page, path: Path) -> Iterator[Cell]:
    """Run the cells of an open page one after the other."""
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    page.locator("[data-do=run]").first.click()
    page.wait_for_function("document.querySelector('.run-bar').dataset.done > 0")
    assert page.locator(".cell-tools").count() == len(code), "a cell of the page has no buttons"
    for number, cell in enumerate(code):
        run = page.evaluate(RUN, number)
        what, told = judge(cell, run)
        yield Cell(cell.id, what, told, run["seconds"], run["heap"] / 2**20)


@contextmanager
def opened(browser, book: Path, name: str) -> Iterator:
    """A chapter of a built book, on a static host."""
    with hosted(book) as address:
        page = browser.new_page()
        page.set_default_timeout(600_000)
        page.goto(f"{address}{address_of(name)}.html")
        yield page
        page.close()


def main() -> None:
    """Print what came of each cell that did not give what is stored, and a table by page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="the pages whose names begin so")
    parser.add_argument("--book", type=Path, default=notebooks.ROOT / "_build" / "html")
    options = parser.parse_args()
    from playwright.sync_api import sync_playwright

    from book.browser import launch

    with sync_playwright() as playwright:
        browser = launch(playwright)
        for path in notebooks.chapters(options.only):
            with opened(browser, options.book, path.stem) as page:
                found = [*cells(page, path)]
            counts = Counter(cell.what for cell in found)
            slowest = max(found, key=lambda cell: cell.seconds)
            print(
                f"{path.stem:24} {len(found):3} cells: {dict(counts)}, "
                f"{sum(cell.seconds for cell in found):.0f} s, slowest {slowest.name} "
                f"{slowest.seconds:.1f} s, {max(cell.megabytes for cell in found):.0f} MB",
                flush=True,
            )
            for cell in found:
                if cell.told:
                    print(f"    {cell.name}: {cell.what}: {cell.told}", flush=True)


if __name__ == "__main__":
    main()

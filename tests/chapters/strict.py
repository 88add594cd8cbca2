"""A pytest plugin that makes nbval strict in the course's way (``-p tests.chapters.strict``).

- Cells tagged ``gpu`` are skipped on the interpreter.
- Outputs are compared as the recording stores them: without machine paths and progress bars. HTML
  is left out: its plain text, the alternative text of a figure or the text of a table, counts.
- A cell tagged ``raises-exception`` must raise.
- What happened to the cells is counted, into the file that ``CHAPTER_COUNTS`` names.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import nbval.plugin
import pytest

from authoring import notebooks
from kernels.backend import on_gpu

COUNTS: Counter[str] = Counter()
coalesce = nbval.plugin.coalesce_streams


def without_progress(outputs):
    kept = []
    for output in notebooks.joined(outputs or []):
        if output.output_type == "stream":
            output.text = notebooks.lasting(output.text)
            if not output.text.strip():
                continue
        kept.append(output)
    return coalesce(kept)


nbval.plugin.coalesce_streams = without_progress
nbval.plugin.IPyNbCell.sanitize = lambda self, text: (
    notebooks.portable(text) if isinstance(text, str) else text
)
nbval.plugin.IPyNbCell.reportinfo = lambda self: (
    self.path, 0, f"{self.parent.path.name}: cell {self.cell.id}",
)  # fmt: skip


def pytest_itemcollected(item):
    if not isinstance(item, nbval.plugin.IPyNbCell):
        return
    item.parent.skip_compare += ("text/html", "application/javascript")
    if notebooks.GPU_TAG in item.cell.metadata.get("tags", ()) and not on_gpu:
        item.options["skip"] = True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    result = yield
    if item.options["check_exception"] and not item.options["skip"]:
        if not any(output.output_type == "error" for output in item.test_outputs):
            item.raise_cell_error("The cell is tagged raises-exception and raised nothing")
    return result


def pytest_runtest_logreport(report):
    if report.skipped:
        COUNTS["skipped"] += 1
    elif report.failed:
        COUNTS["failed"] += 1


def pytest_collection_modifyitems(items):
    for item in items:
        if item.options["skip"]:
            continue
        if not item.options["check"]:
            COUNTS["ignored"] += 1
        elif item.cell.outputs:
            COUNTS["compared"] += 1
        else:
            COUNTS["silent"] += 1


def pytest_sessionfinish():
    if "CHAPTER_COUNTS" in os.environ:
        Path(os.environ["CHAPTER_COUNTS"]).write_text(json.dumps(COUNTS), encoding="utf-8")

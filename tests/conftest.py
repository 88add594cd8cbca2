"""What all tests share: a browser, and a skip with its reason for tests marked `gpu` without one.

`pytest -m gpu` runs them all, and only them, on a machine with an NVIDIA GPU. `make test` shares
the files of tests out among two processes; those on a GPU have the machine to themselves even then.
Of a function marked ``sampled(n)`` those processes run every n-th case; named on the command line
(``make test ARGS=tests/lab/exercises/test_answers.py``) or found by `make check`, all run.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BROWSERLESS = "no browser: "
PYTHONLESS = "no Python for pages: "
#: Milliseconds that a browser test waits before it gives up; what passes does not wait so long.
PATIENCE = 120_000

os.environ["KERNELS_EXERCISES"] = "off"  # what tests solve is no learner's progress
os.environ["PAGE_PYTHON"] = "off"  # the tests of the pages' own Python fetch it, no others


@pytest.fixture(autouse=True, scope="session")
def nothing_tuned(tmp_path_factory) -> Iterator[None]:
    """What the reader tuned on this machine changes no test: the rungs take their defaults."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERNELS_TUNED", str(tmp_path_factory.mktemp("tuned")))
        yield


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """A folder whose `records` hold a synthetic record of an H200 and no other."""
    from kernels import records
    from tests.records import synthetic

    monkeypatch.setenv("KERNELS_RECORDS", str(tmp_path / "records"))
    monkeypatch.setattr(records.record, "_own_gpu", lambda: None)
    records.write(synthetic.record("h200"))
    return tmp_path


def pytest_configure(config):
    # Under pytest-xdist the process that prints the table collects no tests, nor their conftest.py.
    config.pluginmanager.import_plugin("tests.chapters.table")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Tell a process of pytest-xdist in which folder the processes meet."""
    config = node.config
    if not hasattr(config, "turns"):
        config.turns = tempfile.TemporaryDirectory()
        config.add_cleanup(config.turns.cleanup)
    node.workerinput["turns"] = config.turns.name


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Where several processes run tests, let one that has to be alone wait for the others."""
    if not hasattr(item.config, "workerinput"):
        return (yield)
    turns = Path(item.config.workerinput["turns"])
    alone = item.get_closest_marker("gpu") and not item.get_closest_marker("skip")
    with open(turns / "next", "w") as queue, open(turns / "running", "w") as running:
        # Whoever waits to be alone stands first in the queue and keeps the others from starting.
        fcntl.flock(queue, fcntl.LOCK_EX)
        fcntl.flock(running, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(queue, fcntl.LOCK_UN)
        return (yield)


def pytest_collection_modifyitems(config, items):
    if hasattr(config, "workerinput"):
        sample(config, items)
    gpu_tests = [item for item in items if item.get_closest_marker("gpu")]
    if not gpu_tests:
        return
    from kernels.backend import why_cpu

    if why_cpu:
        for item in gpu_tests:
            item.add_marker(pytest.mark.skip(reason=f"needs an NVIDIA GPU: {why_cpu}"))


def sample(config, items) -> None:
    """Leave out what many near-equal cases of a function say once more."""
    number, left = Counter(), set()
    for item in items:
        if marker := item.get_closest_marker("sampled"):
            if number[item.function] % marker.args[0]:
                left.add(item)
            number[item.function] += 1
    items[:] = [item for item in items if item not in left]
    config.hook.pytest_deselected(items=list(left))


@pytest.fixture(scope="session")
def playwright() -> Iterator:
    """What drives browsers."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def browser(playwright) -> Iterator:
    """Chromium, as `book.browser` finds it; where CI is set its absence is a failure."""
    from book.browser import NoBrowser, launch

    try:
        chromium = launch(playwright)
    except NoBrowser as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(f"{BROWSERLESS}{error}")
    chromium.new_page, chromium.new_context = map(
        patient, (chromium.new_page, chromium.new_context)
    )
    yield chromium
    chromium.close()


def patient(opened: Callable) -> Callable:
    """Let pages wait long enough for any machine."""

    def made(**options):
        page = opened(**options)
        page.set_default_timeout(PATIENCE)
        return page

    return made


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter):
    """Say last how many tests did not run for want of something, and what would make them run."""
    yield
    reasons = [str(report.longrepr) for report in terminalreporter.getreports("skipped")]
    for want, way in (
        (BROWSERLESS, "a browser, which `make browser` fetches"),
        (PYTHONLESS, "NumPy for Pyodide: PAGE_PYTHON_WHEELS may name a folder with its wheel"),
    ):
        missed = sum(want in reason for reason in reasons)
        if missed:
            tests = f"{missed} test{'s' * (missed > 1)}"
            terminalreporter.write_line(f"{tests} did not run for want of {way}.", yellow=True)

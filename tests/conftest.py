"""What all tests share: a browser, and a skip with its reason for tests marked `gpu` without one.

`pytest -m gpu` runs them all, and only them, on a machine with an NVIDIA GPU. `make test` shares
the files of tests out among two processes. Tests marked `alone`, those with a bound on time, and
those on a GPU have the machine to themselves even then.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

BROWSERS = (
    "chromium",
    "google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync "
    "--disable-background-networking --disable-component-update"
).split()

os.environ["KERNELS_EXERCISES"] = "off"  # what tests solve is no learner's progress


@pytest.fixture(autouse=True, scope="session")
def nothing_tuned(tmp_path_factory) -> Iterator[None]:
    """What the reader tuned on this machine changes no test: the rungs take their defaults."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERNELS_TUNED", str(tmp_path_factory.mktemp("tuned")))
        yield


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
    alone = item.get_closest_marker("alone") or (
        item.get_closest_marker("gpu") and not item.get_closest_marker("skip")
    )
    with open(turns / "next", "w") as queue, open(turns / "running", "w") as running:
        # Whoever waits to be alone stands first in the queue and keeps the others from starting.
        fcntl.flock(queue, fcntl.LOCK_EX)
        fcntl.flock(running, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(queue, fcntl.LOCK_UN)
        return (yield)


def pytest_collection_modifyitems(items):
    gpu_tests = [item for item in items if item.get_closest_marker("gpu")]
    if not gpu_tests:
        return
    from kernels.engine import why_cpu

    if why_cpu:
        for item in gpu_tests:
            item.add_marker(pytest.mark.skip(reason=f"needs an NVIDIA GPU: {why_cpu}"))


@pytest.fixture(scope="session")
def browser() -> Iterator:
    """The machine's own Chromium or Chrome; where CI is set its absence is a failure."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        if os.environ.get("CI"):
            pytest.fail("no Chromium on this machine: apt install chromium")
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()

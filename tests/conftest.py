"""What all tests share: a browser, and a skip with its reason for tests marked `gpu` without one.

`pytest -m gpu` runs them all, and only them, on a machine with an NVIDIA GPU.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

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


def pytest_collection_modifyitems(items):
    gpu_tests = [item for item in items if item.get_closest_marker("gpu")]
    if not gpu_tests:
        return
    from kernels.lab.backend import why_cpu

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

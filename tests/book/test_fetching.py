"""The browser of the tests: the machine's, or one that is fetched once, or the way to get one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from book import browser as chromium

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest

@pytest.mark.parametrize("number", range(3))
def test_with_a_browser(browser, number):
    pass

def test_without():
    pass
"""


@pytest.fixture
def bare(tmp_path) -> dict[str, str]:
    """An environment without a browser, whose downloads are refused."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    kept.pop("CI", None)
    return kept | {
        "PATH": str(tmp_path / "nothing"),
        "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path / "browsers"),
        "PLAYWRIGHT_DOWNLOAD_HOST": "http://127.0.0.1:9",
    }


@pytest.fixture
def bare_macos() -> None:
    if any(Path(path).is_file() for path in chromium.INSTALLED):
        pytest.skip("a browser in /Applications cannot be hidden")


def set_up(environment: dict[str, str]) -> subprocess.CompletedProcess:
    command = [sys.executable, str(ROOT / "book" / "browser.py")]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def test_a_browser_that_cannot_be_fetched_is_one_line(bare, bare_macos):
    done = set_up(bare)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("No Chromium could be fetched: is the network reachable?")
    assert "ECONNREFUSED" in done.stderr


@pytest.mark.parametrize(
    ("processes", "extra", "last"),
    [
        ("2", {}, r"3 tests did not run for want of a browser.*`make browser`.*\n1 passed, 3 skip"),
        ("0", {"CI": "true"}, r"ERROR .*no Chromium or Chrome.*`make browser`\n1 passed, 3 errors"),
    ],
)
def test_the_last_lines_count_what_did_not_run(bare, bare_macos, tmp_path, processes, extra, last):
    (tmp_path / "test_some.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p"]
    command += ["tests.conftest", "-n", processes, "--rootdir", str(tmp_path), "test_some.py"]
    place = {"PYTHONPATH": str(ROOT), **extra}
    done = subprocess.run(
        command, env=bare | place, cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert re.match(last, "\n".join(done.stdout.splitlines()[-2:])), done.stdout

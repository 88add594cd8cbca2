"""The browser of the tests: the machine's, or one that is fetched once, or the way to get one."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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


def archive(name: str, script: str) -> bytes:
    """A zip file with one program in a folder of the archive's name."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        program = re.sub(r"-(linux|mac|win).*", "", name)
        entry = zipfile.ZipInfo(f"{name}/{program}")
        entry.external_attr = 0o100755 << 16
        file.writestr(entry, script)
    return packed.getvalue()


@pytest.fixture
def host(browser):
    """Playwright's host of downloads, whose browser is a script that starts the machine's own."""
    own = chromium.installed()
    if own is None:
        pytest.skip("these tests run in a browser that was fetched")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            packed = archive(Path(self.path).stem, f'#!/bin/sh\nexec "{own}" "$@"\n')
            self.send_response(200)
            self.send_header("Content-Length", str(len(packed)))
            self.end_headers()
            self.wfile.write(packed)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def set_up(environment: dict[str, str]) -> subprocess.CompletedProcess:
    command = [sys.executable, str(ROOT / "book" / "browser.py")]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def test_a_browser_that_cannot_be_fetched_is_one_line(bare, bare_macos):
    done = set_up(bare)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("No Chromium could be fetched: is the network reachable?")
    assert "ECONNREFUSED" in done.stderr


def test_a_browser_is_fetched_once_and_starts(bare, bare_macos, host):
    done = set_up(bare | {"PLAYWRIGHT_DOWNLOAD_HOST": host})
    assert done.returncode == 0, done.stderr
    first, last = done.stdout.splitlines()
    assert first.startswith("Fetching") and last.startswith("The browser tests run in Chromium")
    assert set_up(bare).stdout.splitlines() == [last]  # where nothing more is to be had


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

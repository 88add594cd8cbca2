"""`make offline`: the archive serves the pages of the site, to this machine, from any folder."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from book import offline

STARTS = ("start.sh", "start.command")


def free_port() -> int:
    """A port that nobody has."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def stick(small_book, tmp_path_factory) -> Path:
    """The small book's archive, unpacked in a folder with a space in its name."""
    folder = tmp_path_factory.mktemp("my stick")
    offline.pack(small_book, folder / "book.zip")
    with zipfile.ZipFile(folder / "book.zip") as archive:
        assert archive.testzip() is None
        archive.extractall(folder)
    return folder / "tile-by-tile"


def started(stick: Path, *command: str, **variables: str) -> tuple[subprocess.Popen, str]:
    """Start a server without a browser, and return it with the address it says."""
    environment = {**os.environ, "BROWSER": "true", **variables}
    process = subprocess.Popen(
        command, cwd=stick, env=environment, stdout=subprocess.PIPE, text=True,
        # A job in the background ignores Ctrl-C, and so would the server that it starts.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    return process, re.search(r"http://127.0.0.1:(\d+)/", process.stdout.readline())[0]


@pytest.fixture(scope="module")
def server(stick) -> Iterator[str]:
    """The address of a server of the archive."""
    process, address = started(stick, sys.executable, "serve.py", str(free_port()))
    yield address
    process.kill()


def get(address: str, path: str) -> tuple[http.client.HTTPResponse, bytes]:
    """Ask a server for one file."""
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=120)
    connection.request("GET", path)
    answer = connection.getresponse()
    return answer, answer.read()


def test_the_archive_holds_every_file_of_the_site(stick, small_book):
    def held(folder: Path) -> dict[str, bytes]:
        paths = (path for path in folder.rglob("*") if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}

    assert held(stick / "site") == held(small_book)
    assert len(held(small_book)) > 20


def test_the_same_book_makes_the_same_archive(small_book, tmp_path):
    for name in ("one.zip", "two.zip"):
        offline.pack(small_book, tmp_path / name)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_the_server_answers_with_the_pages(server, small_book):
    for name in ("index.html", "page.html", "_static/course.css", "_static/book/widgets.js"):
        answer, content = get(server, f"/{name}")
        assert answer.status == 200
        assert content == (small_book / name).read_bytes()
    assert get(server, "/")[1] == (small_book / "index.html").read_bytes()


def test_files_have_the_types_that_engines_ask_for(server, stick):
    (stick / "site" / "engine.wasm").write_bytes(b"\0asm")
    (stick / "site" / "engine.mjs").write_text("export default 1;")
    assert get(server, "/engine.wasm")[0].headers["Content-Type"] == "application/wasm"
    assert get(server, "/engine.mjs")[0].headers["Content-Type"] == "text/javascript"
    for path in ("engine.wasm", "engine.mjs"):
        (stick / "site" / path).unlink()


@pytest.mark.parametrize("path", ["/../serve.py", "/%2e%2e/serve.py", "/..%2fserve.py"])
def test_nothing_beside_the_site_is_served(server, path):
    assert get(server, path)[0].status == 404


def test_pages_ask_no_other_host_and_are_isolated(server, browser):
    asked, errors = [], []
    page = browser.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{server}page.html", wait_until="networkidle")
    assert page.evaluate("crossOriginIsolated && isSecureContext")
    page.close()
    assert len(asked) > 3
    assert [url for url in asked if not url.startswith((server, "data:", "blob:"))] == []
    assert errors == []


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
@pytest.mark.parametrize("script", STARTS)
def test_a_start_script_serves_from_any_folder(stick, tmp_path, script):
    process, address = started(tmp_path, "sh", str(stick / script), str(free_port()))
    assert get(address, "/index.html")[0].status == 200
    process.send_signal(signal.SIGINT)
    assert process.wait(120) == 0


def test_starters_can_be_run_and_windows_can_read_its_own(small_book, tmp_path):
    offline.pack(small_book, tmp_path / "book.zip")
    with zipfile.ZipFile(tmp_path / "book.zip") as archive:
        rights = {
            name: archive.getinfo(f"tile-by-tile/{name}").external_attr >> 16 for name in STARTS
        }
        batch = archive.read("tile-by-tile/start.bat")
    assert set(rights.values()) == {0o755}
    assert batch.count(b"\r\n") == batch.count(b"\n") > 5
    for way in (b"py -3 serve.py", b"python serve.py", b"no Python is here", b"site\\index.html"):
        assert way in batch

"""What the build fetches for the pages' Python: pinned, kept, and refused when it differs."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import io
import json
import tarfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from book import build, vendor
from book.live import fetch

WHEELS = {
    "numpy": b"a wheel",
    "matplotlib": b"another",
    "contourpy": b"compiled",
    "unused": b"nobody asks",
}
NEEDS = {"matplotlib": ["contourpy", "numpy"], "contourpy": ["numpy"]}


def lock() -> bytes:
    """A lock of these wheels."""
    packages = {
        name: {
            "file_name": f"{name}-1-py3-none-any.whl",
            "sha256": hashlib.sha256(data).hexdigest(),
            "depends": NEEDS.get(name, []),
        }
        for name, data in WHEELS.items()
    }
    return json.dumps({"info": {}, "packages": packages}).encode()


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A folder with a small Pyodide in the place of the real one."""
    monkeypatch.delenv("PAGE_PYTHON", raising=False)
    monkeypatch.delenv("PAGE_PYTHON_WHEELS", raising=False)
    monkeypatch.setattr(fetch.shutil, "which", lambda program: program)
    folder = tmp_path / "kept"
    folder.mkdir()
    archive = folder / f"pyodide-{fetch.PYODIDE.version}.tgz"
    with tarfile.open(archive, "w:gz") as files:
        for name, data in {fetch.LOCK: lock(), **dict.fromkeys(fetch.PYODIDE.files, b"")}.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = len(data)
            files.addfile(entry, io.BytesIO(data))
    digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
    monkeypatch.setattr(fetch, "PYODIDE", dataclasses.replace(fetch.PYODIDE, sha512=digest))
    return folder


@pytest.fixture
def source(tmp_path):
    """A server of the wheels: its address, its folder, and what it was asked for."""
    folder, asked = tmp_path / "served", []
    folder.mkdir()
    for name, data in WHEELS.items():
        (folder / f"{name}-1-py3-none-any.whl").write_bytes(data)

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            asked.append(self.path)

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/", folder, asked
    server.shutdown()
    server.server_close()


def test_the_wheels_come_once_and_with_what_they_need(kept, source):
    address, _, asked = source
    found = fetch.fetch(kept, source=address)
    assert list(found.wheels) == ["numpy", "contourpy", "matplotlib"]
    assert found.wheels["numpy"].read_bytes() == WHEELS["numpy"]
    assert len(asked) == 3
    fetch.fetch(kept, source=address)
    assert len(asked) == 3, "they are kept"


def test_a_wheel_of_another_checksum_is_refused_in_a_line(kept, source):
    address, folder, _ = source
    (folder / "numpy-1-py3-none-any.whl").write_bytes(b"not the wheel")
    with pytest.raises(SystemExit) as refused:
        fetch.fetch(kept, source=address)
    said = str(refused.value)
    assert "numpy-1-py3-none-any.whl has SHA-256" in said and "\n" not in said
    assert not list(kept.glob("*.whl"))


def test_without_the_distribution_there_is_no_page_python(kept):
    with pytest.raises(fetch.NoPagePython, match="cannot be fetched"):
        fetch.fetch(kept, source="http://127.0.0.1:9/")


@pytest.mark.parametrize("missing", ["npm", "node"])
def test_without_npm_and_its_node_there_is_no_page_python(tmp_path, monkeypatch, missing):
    monkeypatch.delenv("PAGE_PYTHON", raising=False)
    monkeypatch.setattr(fetch.shutil, "which", lambda program: program != missing)
    with pytest.raises(fetch.NoPagePython, match="comes from npm"):
        fetch.fetch(tmp_path / "kept")


def test_a_folder_may_stand_in_for_the_distribution(kept, tmp_path, monkeypatch):
    folder = tmp_path / "named"
    folder.mkdir()
    for name in ("numpy-2-cp313-any.whl", "Other_Thing-1-py3-none-any.whl"):
        (folder / name).write_bytes(b"whatever")
    monkeypatch.setenv("PAGE_PYTHON_WHEELS", str(folder))
    assert list(fetch.fetch(kept, source="http://127.0.0.1:9/").wheels) == ["numpy"]
    (folder / "numpy-2-cp313-any.whl").unlink()
    with pytest.raises(fetch.NoPagePython, match="holds no wheel of numpy"):
        fetch.fetch(kept)
    monkeypatch.setenv("PAGE_PYTHON_WHEELS", str(tmp_path / "nowhere"))
    with pytest.raises(fetch.NoPagePython, match="which is no folder"):
        fetch.fetch(kept)


def test_the_pin_is_one_of_npm():
    assert len(base64.b64decode(fetch.PYODIDE.sha512)) == 64
    assert isinstance(fetch.PYODIDE, vendor.Package)


def test_a_book_without_it_says_why_and_none_is_published(monkeypatch, capsys):
    def gone():
        raise fetch.NoPagePython("there is no network")

    monkeypatch.setattr(build.fetch, "fetch", gone)
    monkeypatch.setenv("PAGE_PYTHON", "")
    assert build.pages_python() is None
    said = capsys.readouterr().out
    assert said == "The pages will not run Python by themselves: there is no network.\n"
    monkeypatch.setenv("PAGE_PYTHON", "required")
    with pytest.raises(SystemExit, match="is required: there is no network"):
        build.pages_python()

"""What the site serves for the pages' Python: a folder named by its contents, and a manifest."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from book.live import archives, fetch, library, pack
from tests.book.conftest import ROOT


@dataclass
class Fake:
    """A distribution with files of a few bytes."""

    wheels: dict[str, Path] = field(default_factory=dict)

    def read(self, name: str) -> bytes:
        """A file that repeats its name."""
        return name.encode() * 50

    @property
    def lock(self) -> dict[str, Any]:
        """A lock that knows more packages than there are."""
        names = ("numpy", "contourpy", "matplotlib", "other")
        entry = {"sha256": "0" * 64, "depends": ["numpy", "other"]}
        return {"info": {"python": "3.13"}, "packages": {name: entry for name in names}}


def wheel(folder: Path, name: str) -> Path:
    """A wheel with something for everyone."""
    made = folder / f"{name}-1-py3-none-any.whl"
    with zipfile.ZipFile(made, "w") as files:
        for file in ("__init__.py", "core.so", "typed.pyi", "include/a.h", "f2py/rules.py"):
            files.writestr(f"{name}/{file}", file * 9)
    return made


def written(distribution: Fake, target: Path) -> dict[str, Any]:
    """What `pack.write` says, with Python's own library as it is."""
    return pack.write(distribution, target, made_library=lambda files: files[library.NAME])


@pytest.fixture
def distribution(tmp_path) -> Fake:
    """A small distribution that draws."""
    names = ("numpy", "contourpy", "matplotlib")
    return Fake({name: wheel(tmp_path, name) for name in names})


def test_every_file_is_named_with_its_size_on_the_way(distribution, tmp_path):
    manifest = written(distribution, tmp_path / "live")
    folder = tmp_path / "live" / manifest["folder"]
    assert json.loads((tmp_path / "live" / "manifest.json").read_text()) == manifest
    sizes = dict(manifest["first"])
    for part in manifest["later"]:
        sizes |= part["files"]
    there = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert sizes.keys() == there - pack.of_page().keys()
    for name, size in sizes.items():
        data = (folder / name).read_bytes()
        packed = name.endswith((".whl", ".zip", ".gz"))
        assert size == (len(data) if packed else len(gzip.compress(data, 6))), name


def test_every_file_is_named_with_the_checksum_that_browsers_take(distribution, tmp_path):
    manifest = written(distribution, tmp_path / "live")
    folder = tmp_path / "live" / manifest["folder"]
    assert manifest["integrity"].keys() == manifest["first"].keys() | {
        name for part in manifest["later"] for name in part["files"]
    }
    for name, named in manifest["integrity"].items():
        digest = hashlib.sha256((folder / name).read_bytes()).digest()
        assert named == f"sha256-{base64.b64encode(digest).decode()}", name


def test_what_draws_waits_for_a_word(distribution, tmp_path):
    manifest = written(distribution, tmp_path / "live")
    drawing = manifest["later"][-1]
    assert drawing["packages"] == ["contourpy", "matplotlib"] and "plots" in drawing["words"]
    assert not [name for name in manifest["first"] if "matplotlib" in name]
    assert [name for name in manifest["first"] if name.startswith("numpy")]
    assert not [name for name in manifest["first"] if name in ("rich.zip", "markdown.zip")]


def test_the_lock_names_what_is_served(distribution, tmp_path):
    manifest = written(distribution, tmp_path / "live")
    folder = tmp_path / "live" / manifest["folder"]
    packages = json.loads((folder / fetch.LOCK).read_text())["packages"]
    assert packages.keys() == distribution.wheels.keys()
    for entry in packages.values():
        data = (folder / entry["file_name"]).read_bytes()
        assert entry["sha256"] == hashlib.sha256(data).hexdigest()
        assert "other" not in entry["depends"]


def test_a_wheel_loses_what_nobody_imports(tmp_path):
    kept = zipfile.ZipFile(
        io.BytesIO(archives.slim(wheel(tmp_path, "numpy").read_bytes(), pack.IDLE))
    )
    assert sorted(kept.namelist()) == ["numpy/__init__.py", "numpy/core.so"]


def test_the_folder_is_named_by_what_is_in_it(distribution, tmp_path):
    first = written(distribution, tmp_path / "live")["folder"]
    assert written(distribution, tmp_path / "live")["folder"] == first
    del distribution.wheels["matplotlib"]
    other = written(distribution, tmp_path / "live")["folder"]
    assert other != first
    assert not (tmp_path / "live" / first).exists(), "what was there before is gone"


def test_the_course_is_whole_in_its_archive(distribution, tmp_path):
    manifest = written(distribution, tmp_path / "live")
    whole = (tmp_path / "live" / manifest["folder"] / pack.COURSE).read_bytes()
    packed = zipfile.ZipFile(io.BytesIO(gzip.decompress(whole)))
    names = set(packed.namelist())
    for path in ("kernels/rungs/tiled.py", "kernels/rungs/tiled.cu", "inpage/cells.py"):
        assert path in names
    assert {name for name in names if name.startswith("chapters/records/")}
    assert {"traitlets/__init__.py", "platformdirs/__init__.py"} <= names
    assert not [name for name in names if "__pycache__" in name or name.startswith("kernels/cli")]
    assert packed.read("kernels/__init__.py") == (ROOT / "kernels/__init__.py").read_bytes()


def test_without_a_python_there_is_what_leads_to_a_server(tmp_path):
    manifest = pack.write(None, tmp_path / "live")
    assert manifest.keys() == {"folder"}
    folder = tmp_path / "live" / manifest["folder"]
    assert {"page.js", "kernel.js", "kernel.py", "needs.py"} <= {x.name for x in folder.iterdir()}

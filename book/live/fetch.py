"""Fetch the page's Python: Pyodide from npm, and what is compiled for it from its distribution.

Both are pinned: the archive by the SHA-512 that stands here, each wheel by the SHA-256 in the lock
inside that archive. They are kept in ``_build/page-python`` and checked anew on each build.

``PAGE_PYTHON_WHEELS`` names a folder of wheels to take instead of the distribution's, as they are:
for machines that do not reach it, and for tests. ``PAGE_PYTHON=off`` builds without it;
``PAGE_PYTHON=required`` builds nothing without it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from book import vendor

ROOT = Path(__file__).resolve().parents[2]
KEPT = ROOT / "_build" / "page-python"
PYODIDE = vendor.Package(
    "pyodide",
    "0.29.5",
    "TkYrUv9m8QmfImADKRmpwZulL48E0uUaBSO+dvRQKyAJc0qh9gu7jn8btyHPh3NZm1r2IH2YrJhIr7Q2B9urAw==",
    KEPT,
    ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip"),
)
LOCK = "pyodide-lock.json"
DISTRIBUTION = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE.version}/full/"
#: What every page needs, and what the first cell that draws needs.
FIRST, DRAWING = "numpy", "matplotlib"
PATIENCE = 60  #: seconds without an answer


class NoPagePython(Exception):
    """The page's Python cannot be fetched here: one line that says why."""


@dataclass(frozen=True)
class Distribution:
    """Pyodide's archive, and the wheels by name: what each needs comes before it."""

    archive: Path
    wheels: dict[str, Path]

    def read(self, name: str) -> bytes:
        """A file of Pyodide."""
        with tarfile.open(self.archive) as files:
            return files.extractfile(f"package/{name}").read()

    @property
    def lock(self) -> dict[str, Any]:
        """Pyodide's own lock: every package of its distribution, with its SHA-256."""
        return json.loads(self.read(LOCK))


def fetch(kept: Path = KEPT, wheels: str | None = None, source: str = DISTRIBUTION) -> Distribution:
    """Return Pyodide and its wheels, from `kept` where they lie there already.

    Parameters
    ----------
    kept : Path
        Where downloads are kept.
    wheels : str
        A folder of wheels to take instead; by default what ``PAGE_PYTHON_WHEELS`` names.
    source : str
        The address of the distribution.

    Raises
    ------
    NoPagePython
        When something cannot be had here: the book is built without it then.
    SystemExit
        When something is not what its checksum says.
    """
    if os.environ.get("PAGE_PYTHON", "").strip().lower() == "off":
        raise NoPagePython("PAGE_PYTHON=off asks for none")
    named = os.environ.get("PAGE_PYTHON_WHEELS", "") if wheels is None else wheels
    pyodide = Distribution(runtime(kept), {})
    if named:
        found = from_folder(pyodide.lock, Path(named))
    else:
        packages = pyodide.lock["packages"]
        found = {name: wheel(packages[name], kept, source) for name in closure(packages)}
    return Distribution(pyodide.archive, found)


def runtime(kept: Path) -> Path:
    """Pyodide's archive, checked."""
    if not (shutil.which("npm") and shutil.which("node")):
        raise NoPagePython(
            f"{PYODIDE.name} {PYODIDE.version} comes from npm, which is not installed"
        )
    archive = kept / f"{PYODIDE.name}-{PYODIDE.version}.tgz"
    if archive.exists():
        return vendor.checked(PYODIDE, archive)
    kept.mkdir(parents=True, exist_ok=True)
    try:
        return vendor.download(PYODIDE, kept)
    except subprocess.CalledProcessError as error:
        said = (error.stderr.strip().splitlines() or ["no answer"])[-1]
        raise NoPagePython(
            f"npm could not fetch {PYODIDE.name} {PYODIDE.version}: {said}"
        ) from None


def closure(packages: dict[str, Any]) -> list[str]:
    """The packages that the course takes from a lock, with all that they need, in that order."""
    order: list[str] = []

    def add(name: str) -> None:
        for other in packages[name]["depends"]:
            add(other)
        if name not in order:
            order.append(name)

    add(FIRST)
    add(DRAWING)
    return order


def wheel(entry: dict[str, Any], kept: Path, source: str) -> Path:
    """A wheel of the distribution, checked."""
    file = kept / entry["file_name"]
    if not file.exists():
        try:
            with urllib.request.urlopen(source + file.name, timeout=PATIENCE) as answer:
                data = answer.read()
        except (urllib.error.URLError, OSError) as error:
            reason = getattr(error, "reason", error)
            raise NoPagePython(f"{source}{file.name} cannot be fetched: {reason}") from None
        refuse_others(file.name, data, entry["sha256"])
        file.write_bytes(data)
    refuse_others(file.name, file.read_bytes(), entry["sha256"])
    return file


def refuse_others(name: str, data: bytes, wanted: str) -> None:
    """Exit with one line when a wheel is not the one that the lock names."""
    found = hashlib.sha256(data).hexdigest()
    if found != wanted:
        sys.exit(f"{name} has SHA-256 {found}, and Pyodide's lock names {wanted}: delete it")


def from_folder(lock: dict[str, Any], folder: Path) -> dict[str, Path]:
    """The wheels of a folder that the course would take; without Matplotlib, pages draw nothing."""
    if not folder.is_dir():
        raise NoPagePython(f"PAGE_PYTHON_WHEELS names {folder}, which is no folder")
    there = {name_of(file): file for file in sorted(folder.glob("*.whl"))}
    if FIRST not in there:
        raise NoPagePython(f"{folder} holds no wheel of {FIRST}")
    return {name: there[name] for name in closure(lock["packages"]) if name in there}


def name_of(file: Path) -> str:
    """The name of a wheel's package, as a lock writes it."""
    return file.name.partition("-")[0].lower().replace("_", "-")

"""Write what the site serves to run cells: a folder named by a digest of its files.

So a new book never meets the files of an old one, and a browser may keep what it has. Beside the
folder lies ``manifest.json``: its name and, where pages have a Python of their own, what its first
run loads, and what waits for the cells that use certain words.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import shutil
import zipfile
from collections.abc import Callable, Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from . import fetch, library
from .archives import archive, slim

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
#: What cells import and read, from the course's folder.
FROM_COURSE = (
    "kernels/**/*.*",
    "microscope/**/*.py",
    "chapters/records/*",
    "chapters/**/*.py",
    "chapters/*/widgets/**/*.*",
    "chapters/*/quiz.toml",
    "index.md",
)
#: What no cell reaches: the command line.
LEFT_OUT = ("kernels/cli/*", "*/__pycache__/*")
#: Where the course and what runs it lie together.
COURSE = "course.zip.gz"
#: Pure Python packages, from the environment that builds the book: its lock pins them.
PURE = ("platformdirs", "traitlets")
#: Archives of more of them that wait for a cell which uses one of some words.
LATER = {
    "markdown": (("markdown-it-py", "mdurl"), ("Markdown",)),
    "rich": (("rich", "pygments"), ("rich", "report")),
}
#: Words of the cells that draw.
DRAWS = ("matplotlib", "plots", "drawings", "describe", "request_picture", "Roofline")
#: What a wheel holds for those who build against it or type it.
IDLE = re.compile(r"\.(?:pyi|pxd|h|a|c|ini)$|/(?:f2py|_pyinstaller|_examples)/")


def write(
    distribution: fetch.Distribution | None,
    target: Path,
    course: Path = ROOT,
    made_library: Callable[[dict[str, bytes]], bytes] = library.library,
) -> dict[str, Any]:
    """Write the page's Python into a folder of the built book.

    Parameters
    ----------
    distribution : fetch.Distribution, optional
        Pyodide and its wheels; without it pages run on a server alone.
    target : Path
        The folder; what it held before goes.
    course : Path
        The course's own folder.
    made_library : callable
        Makes Python's own library from the files of the page's Python.

    Returns
    -------
    dict
        The manifest: ``folder`` and, with a Python, ``python``, ``first`` and ``later`` with the
        bytes of each of its files as a server sends it compressed, and ``integrity`` with the
        checksum of each, as browsers take it.
    """
    files, manifest = of_python(distribution, course, made_library) if distribution else ({}, {})
    files |= of_page()
    manifest = {"folder": digest(files)} | manifest
    shutil.rmtree(target, ignore_errors=True)
    folder = target / manifest["folder"]
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
    (target / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    return manifest


def of_page() -> dict[str, bytes]:
    """What runs cells on the page's side, and what it sends to a server's kernel."""
    page = HERE / "page"
    editor = [page / "vendor" / name for name in ("codemirror.js", "LICENSE")]
    files = {path.relative_to(page).as_posix(): path for path in (*page.glob("*.*"), *editor)}
    files["needs.py"] = HERE / "inpage" / "needs.py"
    return {name: path.read_bytes() for name, path in sorted(files.items())}


def of_python(
    distribution: fetch.Distribution,
    course: Path,
    made_library: Callable[[dict[str, bytes]], bytes],
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The files of the pages' own Python, and what the manifest says of them."""
    files = {name: distribution.read(name) for name in fetch.PYODIDE.files}
    wheels = {name: slim(file.read_bytes(), IDLE) for name, file in distribution.wheels.items()}
    named = {name: file.name for name, file in distribution.wheels.items()}
    files |= {named[name]: data for name, data in wheels.items()}
    files[fetch.LOCK] = lock(distribution, wheels)
    files[COURSE] = course_archive(course)
    files[library.NAME] = made_library(files)
    for name, (packages, _) in LATER.items():
        files[f"{name}.zip"] = archive(of_packages(packages))
    sizes = {name: sent(name, data) for name, data in files.items()}

    drawing = [name for name in wheels if name != fetch.FIRST]
    later = [part([], [f"{name}.zip"], words, sizes) for name, (_, words) in LATER.items()]
    if fetch.DRAWING in wheels:
        later.append(part(drawing, [], DRAWS, sizes, [named[name] for name in drawing]))
    waits = {name for each in later for name in each["files"]}
    return files, {
        "python": fetch.PYODIDE.version,
        "packages": [fetch.FIRST] if fetch.FIRST in wheels else [],
        "first": {name: size for name, size in sizes.items() if name not in waits},
        "later": later,
        "integrity": {name: integrity(data) for name, data in files.items()},
    }


def part(
    packages: list[str],
    archives: list[str],
    words: Iterable[str],
    sizes: dict[str, int],
    wheels: Iterable[str] = (),
) -> dict[str, Any]:
    """What waits for a word: packages to load, archives to unpack, and their files."""
    files = {name: sizes[name] for name in (*archives, *wheels)}
    return {"words": [*words], "packages": packages, "archives": archives, "files": files}


def lock(distribution: fetch.Distribution, wheels: dict[str, bytes]) -> bytes:
    """Pyodide's lock of these wheels alone, each under the SHA-256 of what is served."""
    whole = distribution.lock
    packages = {}
    for name, data in wheels.items():
        packages[name] = whole["packages"][name] | {
            "file_name": distribution.wheels[name].name,
            "sha256": hashlib.sha256(data).hexdigest(),
            "depends": [each for each in whole["packages"][name]["depends"] if each in wheels],
        }
    return json.dumps({"info": whole["info"], "packages": packages}).encode()


def course_archive(course: Path) -> bytes:
    """The course and what runs it: compressed as a whole a quarter smaller than by file."""
    files = [*of_course(course), *of_packages(PURE), *of_runner()]
    return gzip.compress(archive(files, zipfile.ZIP_STORED), 9, mtime=0)


def of_course(course: Path) -> Iterator[tuple[str, bytes]]:
    """The files of the course that cells import and read."""
    for file in sorted({file for pattern in FROM_COURSE for file in course.glob(pattern)}):
        if file.is_file() and not any(file.match(pattern) for pattern in LEFT_OUT):
            yield file.relative_to(course).as_posix(), file.read_bytes()


def of_packages(names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """The modules of pure Python packages, with their licences."""
    for name in names:
        for file in metadata.files(name):
            if file.suffix == ".py" or "LICENSE" in file.name.upper():
                yield file.as_posix(), file.read_binary()


def of_runner() -> Iterator[tuple[str, bytes]]:
    """What runs the cells."""
    for file in sorted((HERE / "inpage").glob("*.py")):
        yield f"inpage/{file.name}", file.read_bytes()


def sent(name: str, data: bytes) -> int:
    """The bytes of a file on the way to a browser: what is not packed yet is compressed."""
    return len(data) if name.endswith((".whl", ".zip", ".gz")) else len(gzip.compress(data, 6))


def integrity(data: bytes) -> str:
    """The checksum by which a browser refuses another file."""
    return f"sha256-{base64.b64encode(hashlib.sha256(data).digest()).decode()}"


def digest(files: dict[str, bytes]) -> str:
    """A name for the contents of some files."""
    found = hashlib.sha256()
    for name, data in sorted(files.items()):
        found.update(f"{name}\0{len(data)}\0".encode() + data)
    return found.hexdigest()[:16]

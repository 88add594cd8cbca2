"""Write what the site serves for the page's own Python: a folder named by a digest of its files.

So a new book never meets the files of an old one, and a browser may keep what it has. Beside the
folder lies ``manifest.json``: its name, what the first run loads, and what waits for the cells that
use certain words.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import re
import shutil
import zipfile
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from . import fetch

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
#: What cells import and read, from the course's folder.
COURSE = ("kernels/**/*.*", "chapters/records/*", "chapters/quizzes/*", "index.md")
#: What no cell reaches: the command line.
LEFT_OUT = ("kernels/cli/*", "*/__pycache__/*")
#: Pure Python packages, from the environment that builds the book: its lock pins them.
PURE = ("platformdirs", "traitlets")
#: Archives of more of them that wait for a cell which uses one of some words.
LATER = {
    "markdown": (("markdown-it-py", "mdurl"), ("Markdown",)),
    "rich": (("rich", "pygments"), ("rich", "report")),
}
#: Words of the cells that draw.
DRAWS = ("matplotlib", "plots", "describe", "request_picture", "Roofline")
#: Python's own library.
LIBRARY = "python_stdlib.zip"
#: What a wheel holds for those who build against it, type, or test it.
IDLE = re.compile(r"\.(?:pyi|pxd|h|a|c|ini|build)$|/(?:tests|f2py|_pyinstaller|_examples)/")

#: What of Python's own library nobody in a page reaches: mail, servers, consoles, old encodings.
UNREACHED = re.compile(
    r"^(?:_pyio|_pyrepl/|bdb|doctest|ensurepip/|ftplib|http/server|imaplib|mailbox|multiprocessing/"
    r"|optparse|pdb|pickletools|poplib|smtplib|socketserver|turtle|wsgiref/|xmlrpc/"
    r"|encodings/(?:big5|cp(?!437)\d|euc|gb|hp_|hz|iso2022|iso8859_(?!1\.|15)|johab|koi|mac_|ptcp|shift|tis))"
)


def write(distribution: fetch.Distribution, target: Path, course: Path = ROOT) -> dict[str, Any]:
    """Write the engine into a folder of the built book.

    Parameters
    ----------
    distribution : fetch.Distribution
        Pyodide and its wheels.
    target : Path
        The folder; what it held before goes.
    course : Path
        The course's own folder.

    Returns
    -------
    dict
        The manifest: ``folder``, ``python``, ``first`` and ``later`` with the bytes of each file
        as a server sends it compressed, and ``integrity`` with the checksum of each, as browsers
        take it.
    """
    files = {name: distribution.read(name) for name in fetch.PYODIDE.files}
    files[LIBRARY] = slim(files[LIBRARY], UNREACHED)
    wheels = {name: slim(file.read_bytes(), IDLE) for name, file in distribution.wheels.items()}
    named = {name: file.name for name, file in distribution.wheels.items()}
    files |= {named[name]: data for name, data in wheels.items()}
    files[fetch.LOCK] = lock(distribution, wheels)
    files["course.zip"] = archive([*of_course(course), *of_packages(PURE), *of_runner()])
    for name, (packages, _) in LATER.items():
        files[f"{name}.zip"] = archive(of_packages(packages))
    files |= {file.name: file.read_bytes() for file in sorted((HERE / "page").glob("*.js"))}
    sizes = {name: sent(name, data) for name, data in files.items()}

    drawing = [name for name in wheels if name != fetch.FIRST]
    later = [part([], [f"{name}.zip"], words, sizes) for name, (_, words) in LATER.items()]
    if fetch.DRAWING in wheels:
        later.append(part(drawing, [], DRAWS, sizes, [named[name] for name in drawing]))
    waits = {name for each in later for name in each["files"]}
    manifest = {
        "folder": digest(files),
        "python": fetch.PYODIDE.version,
        "packages": [fetch.FIRST] if fetch.FIRST in wheels else [],
        "first": {name: size for name, size in sizes.items() if name not in waits},
        "later": later,
        "integrity": {name: integrity(data) for name, data in files.items()},
    }
    shutil.rmtree(target, ignore_errors=True)
    folder = target / manifest["folder"]
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    (target / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    return manifest


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


def slim(packed: bytes, without: re.Pattern[str]) -> bytes:
    """A wheel, or another archive, without the files of some names."""
    with zipfile.ZipFile(io.BytesIO(packed)) as files:
        kept = [name for name in files.namelist() if not without.search(name) and name[-1] != "/"]
        return archive((name, files.read(name)) for name in kept)


def of_course(course: Path) -> Iterator[tuple[str, bytes]]:
    """The files of the course that cells import and read."""
    for file in sorted({file for pattern in COURSE for file in course.glob(pattern)}):
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


def archive(files: Iterable[tuple[str, bytes]]) -> bytes:
    """One zip file: the same bytes for the same files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        for name, data in files:
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            made.writestr(entry, data, zipfile.ZIP_DEFLATED, 9)
    return packed.getvalue()


def sent(name: str, data: bytes) -> int:
    """The bytes of a file on the way to a browser: what is not packed yet is compressed."""
    return len(data) if name.endswith((".whl", ".zip")) else len(gzip.compress(data, 6))


def integrity(data: bytes) -> str:
    """The checksum by which a browser refuses another file."""
    return f"sha256-{base64.b64encode(hashlib.sha256(data).digest()).decode()}"


def digest(files: dict[str, bytes]) -> str:
    """A name for the contents of some files."""
    found = hashlib.sha256()
    for name, data in sorted(files.items()):
        found.update(f"{name}\0{len(data)}\0".encode() + data)
    return found.hexdigest()[:16]

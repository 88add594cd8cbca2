"""Python's own library for pages: compiled where a start needs it, in the same bytes each time."""

from __future__ import annotations

import io
import zipfile

import pytest

from book.live import fetch, library, pack


@pytest.fixture(scope="module")
def files(runtime) -> dict[str, bytes]:
    """The files of the page's Python without NumPy, and a course of one module."""
    there = {name: runtime.read(name) for name in fetch.PYODIDE.files}
    return there | {
        fetch.LOCK: pack.lock(runtime, {}),
        pack.COURSE: pack.gzip.compress(pack.archive([("inpage/cells.py", b"import shelve")])),
    }


@pytest.fixture(scope="module")
def made(files) -> bytes:
    """The library."""
    return library.library(files)


def test_what_a_start_imports_is_compiled(made):
    names = zipfile.ZipFile(io.BytesIO(made)).namelist()
    for compiled, source in (("shelve.pyc", "shelve.py"), ("re/__init__.pyc", "re/__init__.py")):
        assert compiled in names and source not in names
    assert "tomllib/__init__.py" in names, "nothing imports it at the start"


def test_what_nobody_reaches_is_gone(made):
    names = zipfile.ZipFile(io.BytesIO(made)).namelist()
    assert "encodings/utf_8.pyc" in names
    assert not {"pdb.py", "encodings/big5.py", "asyncio/windows_utils.py"} & {*names}


def test_it_is_the_same_each_time(files, made):
    assert library.library(files) == made


def test_files_that_do_not_start_are_told_in_a_line(files):
    broken = pack.gzip.compress(pack.archive([("inpage/cells.py", b"1 / 0")]))
    with pytest.raises(SystemExit) as told:
        library.library(files | {pack.COURSE: broken})
    said = str(told.value)
    assert said.endswith("doesn't start under Node: ZeroDivisionError: division by zero")
    assert "\n" not in said

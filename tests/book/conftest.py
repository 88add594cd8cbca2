"""What the tests of the site share: the built books, and `make serve`."""

from __future__ import annotations

import fcntl
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
FIXTURE = Path(__file__).parent / "fixture"
SERVE = (sys.executable, "-m", "book.serve")


def built(source: Path, name: str, tmp_path_factory: pytest.TempPathFactory, python=None) -> Path:
    """Build a book, once for all processes that share a run; `python` is its pages' own."""
    from book.build import build

    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    output = folder / name
    with open(folder / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = output / "done"
        if not done.exists():
            build(source, output, python)
            done.touch()
    return output / "_build" / "html"


@pytest.fixture(scope="session")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The course's own pages, built once."""
    return built(ROOT, "book", tmp_path_factory)


@pytest.fixture(scope="session")
def small_book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two pages that hold one of each thing the machinery must handle, built once."""
    return built(FIXTURE, "small", tmp_path_factory)


class Served(NamedTuple):
    """A running server of the small book."""

    process: subprocess.Popen
    base: str
    token: str

    @property
    def page(self) -> str:
        """The address of the page of cells, as `make serve` would print it."""
        return f"{self.base}book/page.html?token={self.token}"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The small book, served with live kernels."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    output = str(tmp_path_factory.mktemp("served"))
    command = [*SERVE, "--port", port, "--source", str(FIXTURE), "--output", output]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    said = (re.search(r"(http\S+)book/\?token=(\S+)", line) for line in process.stdout)
    address = next(filter(None, said))
    yield Served(process, address[1], address[2])
    process.kill()


@pytest.fixture
def serve(run):
    """Run `make serve`'s script with some arguments and return what it said."""
    return lambda *arguments: run(*SERVE, *arguments)


@pytest.fixture
def run():
    """Run a command in the course's folder and return what it said."""

    def call(*command: str, **options) -> subprocess.CompletedProcess:
        return subprocess.run(
            command, cwd=options.pop("cwd", ROOT), capture_output=True, text=True, **options
        )

    return call

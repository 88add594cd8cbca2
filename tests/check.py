"""`make check`: the tests of what changed and of what imports it, the nearest first.

Everything that differs from the last commit of ``main`` counts, committed or not. For each file:

0. the tests of the file: itself where it is one, or its mirror in ``tests/``;
1. the tests that import it, or name it;
2. the tests of the modules that import it;
3. the other tests of its folder, and those that import what its package passes on.

Before them comes style, and for Python the names, which take a second or two. When the time is up
the rest is left to ``make test``, and the last line says how much: no test is judged by its time.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("kernels", "microscope", "authoring", "book", "chapters")
STYLE, NAMES, FLOORS = "tests/book/test_style.py", "tests/test_names.py", "tests/test_floors.py"
#: Tests of every page, whose ids name it; the first of these are the shortest.
OF_PAGES = (
    "tests/authoring/test_words.py", "tests/chapters/test_static.py",
    "tests/chapters/test_reference.py", "tests/chapters/test_notebooks.py",
)  # fmt: skip
#: Tests of what else stands beside a page, by the end of the file's name.
BESIDE = {
    ".predict.toml": "tests/book/test_predict.py", "quiz.toml": "tests/lab/widgets/test_quiz.py",
}  # fmt: skip
#: Tests of every exercise, whose ids name it.
OF_EXERCISES = tuple(f"tests/lab/exercises/test_{name}.py" for name in ("answers", "cells"))
#: Seconds from the first test after which no further one starts: a page of text, and anything else.
#: To find the tests takes some seconds more; on a busy machine longer, and as many still run.
PAGE, OTHER = 4, 20
#: What `--all` runs: the unit tests, the interpreter's shorter ones, one chapter.
ALL = [
    *map(str, sorted(Path(__file__).parent.glob("test_*.py"))),
    *(f"tests/{name}" for name in "basics backend host rungs patterns primitives records measure "
      "tuning lab authoring chapters/test_static.py book/test_style.py".split()),
    "tests/chapters/test_notebooks.py::test_outputs_are_those_stored[02-vector-add-cpu]",
    *(f"--ignore=tests/lab/{name}" for name in ("exercises/test_answers.py", "widgets")),
]  # fmt: skip


def changed(since: str = "main", root: Path = ROOT) -> list[str]:
    """The files that differ from the last commit that this one shares with another.

    Raises
    ------
    LookupError
        Where git knows no such commit.
    """

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=root, capture_output=True, text=True, check=True
        ).stdout

    try:
        base = git("merge-base", "HEAD", since).strip()
    except subprocess.CalledProcessError:
        raise LookupError(f"git knows no {since!r} here: name a commit with --since") from None
    told = git("diff", "--name-only", base) + git("ls-files", "--others", "--exclude-standard")
    return sorted(set(told.splitlines()))


def modules(folders: tuple[str, ...], root: Path = ROOT) -> dict[str, Path]:
    """The Python files of some folders by the names that they are imported by."""
    found = {}
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts).removesuffix(".__init__")] = path
    return found


def importers(name: str, among: dict[str, Path]) -> Iterator[str]:
    """The modules among some that import another anywhere in their text."""
    stem, package = name.rpartition(".")[2], name.rpartition(".")[0]
    for own, path in among.items():
        text = path.read_text(encoding="utf-8")
        if own == name or stem not in text:
            continue
        above = own.split(".") if path.name == "__init__.py" else own.split(".")[:-1]
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                if any(alias.name == name for alias in node.names):
                    yield own
                    break
            elif isinstance(node, ast.ImportFrom):
                base = node.module or ""
                if node.level:
                    base = ".".join([*above[: len(above) - node.level + 1], *filter(None, [base])])
                names = {alias.name for alias in node.names}
                if base == name or (base == package and stem in names):
                    yield own
                    break


def page_of(path: Path) -> str:
    """What the ids of tests call the page of a file: of a quiz, all pages of its chapter."""
    if path.name.endswith(".predict.toml"):
        return path.name.removesuffix(".predict.toml")
    chapter = re.match(r"ch(\d\d\w?)_", path.parent.name)
    return path.stem if path.suffix in (".ipynb", ".md") or not chapter else f"{chapter[1]}-"


def exercises_of(path: Path) -> list[str]:
    """The exercises that a file of a chapter sets, or holds the answers of."""
    if path.parent.name == "answers":
        return [path.stem.replace("_", "-")]
    if path.parent.name == "exercises" and path.exists():
        return re.findall(r'^ +name="([\w-]+)"', path.read_text(encoding="utf-8"), re.MULTILINE)
    return []


def mirrors(path: str, root: Path = ROOT) -> list[str]:
    """The tests that mirror a file, or the nearest module that it is in.

    Those of ``kernels/records/roofline.py`` are ``tests/records/test_roofline.py``.
    """
    inner = _inner(path)
    while inner:
        places = Path("tests", *inner[:-1], f"test_{inner[-1]}.py"), Path("tests", *inner)
        found = [str(place) for place in places if (root / place).exists()]
        if found and (root / found[0]).is_file():
            return found
        if found:
            break
        inner = inner[:-1]
    return found if inner == _inner(path) else []


def neighbours(path: str, root: Path = ROOT) -> list[str]:
    """The tests that lie in the folder of a file's mirror."""
    folder = root.joinpath("tests", *_inner(path)[:-1])
    while not folder.is_dir():
        folder = folder.parent
    if folder == root / "tests":
        return []
    return [str(test.relative_to(root)) for test in sorted(folder.glob("test_*.py"))]


def _inner(path: str) -> tuple[str, ...]:
    """The parts of a path as its mirror in ``tests/`` has them."""
    parts = Path(path).with_suffix("").parts
    if parts[0] == "chapters" and "widgets" in parts:
        parts = ("lab", *parts[parts.index("widgets") :])
    parts = parts[1:] if parts[0] == "kernels" else parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def selected(files: list[str], root: Path = ROOT) -> list[str]:
    """The tests for some changed files, the nearest first: paths, and ``path -k page`` for pages.

    Parameters
    ----------
    files : list of str
        As `changed` names them.
    """
    levels: tuple[dict[str, None], ...] = ({}, {}, {}, {})
    near, further, users, furthest = levels
    product, helpers = modules(FOLDERS, root), modules(("tests",), root)
    tests = {name: path for name, path in helpers.items() if path.name.startswith("test_")}
    named = {path: name for name, path in (product | helpers).items()}

    def testing(name: str) -> dict[str, None]:
        return dict.fromkeys(str(tests[t].relative_to(root)) for t in importers(name, tests))

    for file in files:
        path = root / file
        if path in tests.values():
            near[file] = None
            continue
        if exercises := exercises_of(path):
            near |= dict.fromkeys(f"{test} {name}" for test in OF_EXERCISES for name in exercises)
            continue
        if file.startswith("chapters/") and path.suffix in (".ipynb", ".md", ".toml"):
            own = [test for end, test in BESIDE.items() if path.name.endswith(end)]
            near |= dict.fromkeys(f"{test} {page_of(path)}" for test in (*own, *OF_PAGES))
            continue
        near |= dict.fromkeys(mirrors(file, root))
        source = path if path in named else path.with_suffix(".py")  # of a .cu, .js or .css
        if source in named:
            name = named[source]
            further |= testing(name)
            for user in importers(name, product):
                users |= dict.fromkeys(mirrors(str(product[user].relative_to(root)), root))
                if product[user].name == "__init__.py":
                    furthest |= testing(user)
            if name in product:
                furthest |= dict.fromkeys(neighbours(file, root))
        if path.suffix != ".py":
            pattern = re.compile(rf"\b{re.escape(path.name)}\b")
            further |= dict.fromkeys(
                str(test.relative_to(root))
                for test in tests.values()
                if pattern.search(test.read_text(encoding="utf-8"))
            )
    first = [STYLE]
    if any(file.endswith(".py") for file in files):
        first.append(NAMES)
        further[FLOORS] = None
    return list(dict.fromkeys([*first, *(test for level in levels for test in level)]))


class Budget:
    """A plugin that starts no test once the time is up, and says how many it left."""

    def __init__(self, seconds: float, chosen: list[str]) -> None:
        self.seconds, self.until = seconds, None
        self.order = {test.partition(" ")[0]: place for place, test in enumerate(chosen)}
        self.pages = {
            file: {c.partition(" ")[2] for c in chosen if c.startswith(f"{file} ")}
            for file in self.order
        }
        self.left = self.total = 0

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list) -> None:
        def wanted(item) -> bool:
            pages = self.pages.get(self.file(item), set())
            if self.seconds <= PAGE and "book" in getattr(item, "fixturenames", ()):
                return False  # to build the book alone takes longer
            return not pages or any(page in item.nodeid for page in pages)

        dropped = [item for item in items if not wanted(item)]
        items[:] = sorted(filter(wanted, items), key=self.place)
        config.hook.pytest_deselected(items=dropped)
        self.total = len(items)

    def file(self, item) -> str:
        return item.nodeid.partition("::")[0]

    def place(self, item) -> int:
        """A test's place: that of the nearest file or folder that it was chosen for."""
        path = Path(self.file(item))
        return min(self.order.get(str(each), len(self.order)) for each in (path, *path.parents))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item) -> bool | None:
        self.until = self.until or time.monotonic() + self.seconds
        if time.monotonic() < self.until:
            return None
        self.left += 1
        return True

    def pytest_terminal_summary(self, terminalreporter) -> None:
        if self.left:
            terminalreporter.write_line(
                f"{self.left} of {self.total} tests were left when the time was up, the furthest "
                "from the change: `make test` runs them, or ARGS='--seconds 300'"
            )


def main(arguments: list[str] | None = None) -> int:
    """Run the tests; the exit code is pytest's, and 0 where nothing has changed."""
    parser = argparse.ArgumentParser(prog="make check ARGS=...", description=__doc__.split("\n")[0])
    parser.add_argument("--all", action="store_true", help="all unit tests: three minutes")
    parser.add_argument("--since", default="main", help="a commit (main)")
    parser.add_argument("--seconds", type=float, help=f"{PAGE} for pages alone, {OTHER} otherwise")
    parser.add_argument("--list", action="store_true", help="say what would run, and run nothing")
    asked = parser.parse_args(arguments)
    if asked.all:
        return pytest.main(["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", *ALL])
    try:
        files = changed(asked.since)
    except LookupError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if not files:
        print(f"Nothing differs from {asked.since}: nothing to check. (--all runs all unit tests.)")
        return 0
    chosen = selected(files)
    if asked.list:
        print("\n".join(chosen))
        return 0
    pages = all(file.startswith("chapters/") for file in files)
    budget = Budget(asked.seconds or (PAGE if pages else OTHER), chosen)
    return pytest.main(["-q", *budget.order], plugins=[budget])


if __name__ == "__main__":
    sys.exit(main())

"""The chapters: which pages they have, where these lie, and what a chapter still lacks.

A chapter is a folder, ``chapters/chNN_name``; a letter follows the number in the second half of
one, ``ch05b_banks``. It holds a core page, ``NN-name.ipynb``, any number of deeper pages,
``NN-name-deeper.ipynb`` and the like, which nobody needs in order to go on, and what belongs to
them: ``quiz.toml``, ``chapter.toml``, and ``PAGE.predict.toml`` for each page that asks for a
prediction.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

from kernels.basics.files import ROOT

CHAPTERS = ROOT / "chapters"
#: How a cell with a Predict box is known.
PREDICT = "{admonition} Predict"
#: How the heading of an exercise begins, behind its marks.
EXERCISE = re.compile(r"(?:(?:Exercise )?\d+[.:]|Warm-up:) ")


def paths(folder: Path = CHAPTERS) -> list[Path]:
    """Return the notebooks of all chapters in reading order: a core page, then its deeper pages."""
    return sorted(folder.glob("ch[0-9][0-9]*_*/[0-9][0-9]*-*.ipynb"), key=lambda path: path.stem)


def folder_of(page: str, folder: Path = CHAPTERS) -> Path:
    """Return the folder of a page's chapter: ``chapters/ch04_tiled`` for ``"04-tiled-deeper"``."""
    return folder / f"ch{chapter_of(page).replace('-', '_')}"


def path_of(page: str, folder: Path = CHAPTERS) -> Path:
    """Return the notebook of a page."""
    return folder_of(page, folder) / f"{page}.ipynb"


def address_of(page: str) -> str:
    """Return a page as `_toc.yml` names it: ``"chapters/ch04_tiled/04-tiled"``."""
    return f"chapters/{folder_of(page).name}/{page}"


def predictions_of(page: str, folder: Path = CHAPTERS) -> Path:
    """Return the file that says what answers the Predict boxes of a page."""
    return folder_of(page, folder) / f"{page}.predict.toml"


def chapter_of(page: str) -> str:
    """Return the core page of a page's chapter: ``"04-tiled"`` for ``"04-tiled-deeper"``."""
    return page.partition("-deeper")[0]


def core_page_of(folder: Path) -> str:
    """Return the core page of a chapter's folder: ``"04-tiled"`` for ``chapters/ch04_tiled``."""
    return folder.name.removeprefix("ch").replace("_", "-")


def is_deeper(page: str) -> bool:
    """Whether a page is a deeper page."""
    return chapter_of(page) != page


def settings(page: str, folder: Path = CHAPTERS) -> dict[str, Any]:
    """Return the ``chapter.toml`` of a page's chapter.

    It holds the `title` on the first page, what a reader can do `after` it, its `place` in the plan
    of the GPU, and ``quiz = false`` if it has no quiz.
    """
    path = folder_of(page, folder) / "chapter.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def has_quiz(page: str) -> bool:
    """Whether a page ends with a quiz: a core page does, unless its chapter says otherwise."""
    return not is_deeper(page) and settings(page).get("quiz", True)


def missing(folder: Path = CHAPTERS) -> list[str]:
    """Return what the chapters lack, a line for each part, with the way to mend it."""
    contents = (folder.parent / "_toc.yml").read_text(encoding="utf-8")
    lines = []
    for chapter in sorted(folder.glob("ch[0-9][0-9]*_*")):
        name = core_page_of(chapter)
        held = {path.stem for path in chapter.glob("*.ipynb")}
        parts = {
            f"{name}.ipynb": "its core page",
            "chapter.toml": 'title = "…", after = "…", place = "…"',
        }
        if settings(name, folder).get("quiz", True):
            parts["quiz.toml"] = "its questions; without any, say quiz = false in chapter.toml"
        for page in sorted(held):
            cells = json.loads((chapter / f"{page}.ipynb").read_text(encoding="utf-8"))["cells"]
            if any(PREDICT in "".join(cell["source"]) for cell in cells):
                parts[f"{page}.predict.toml"] = f"what answers the Predict boxes of {page}.ipynb"
        lines += [
            f"chapters/{chapter.name} has no {part}: write {what}"
            for part, what in parts.items()
            if not (chapter / part).is_file()
        ]
        if problem := settings(name, folder):
            lines += [
                f'chapters/{chapter.name}/chapter.toml has no {key}: write {key} = "…"'
                for key in ("title", "after", "place")
                if key not in problem
            ]
        for page in sorted(held):
            if chapter_of(page) != name:
                lines.append(f"chapters/{chapter.name}/{page}.ipynb: name it {name}-….ipynb")
            elif not re.search(rf"file: {address_of(page)}$", contents, re.MULTILINE):
                lines.append(f"_toc.yml has no line for it: write file: {address_of(page)}")
    return lines

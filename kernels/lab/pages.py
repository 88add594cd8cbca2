"""The pages of the course that run: which there are, and which chapter each belongs to.

A chapter is a core page, ``NN-name.ipynb``, and any number of deeper pages,
``NN-name-deeper.ipynb`` and the like, which nobody needs in order to go on.
"""

from __future__ import annotations

import re
from pathlib import Path

from kernels.basics.files import ROOT

CHAPTERS = ROOT / "chapters"
#: Core pages that have no quiz: the hour before chapter 1, and the collection of problems.
WITHOUT_QUIZ = ("00-climb", "10-practice")
#: How the heading of an exercise begins, behind its marks.
EXERCISE = re.compile(r"(?:(?:Exercise )?\d+[.:]|Warm-up:) ")


def paths(folder: Path = CHAPTERS) -> list[Path]:
    """Return the notebooks of a folder in reading order: a core page, then its deeper pages."""
    return sorted(folder.glob("[0-9][0-9]-*.ipynb"), key=lambda path: path.stem)


def chapter_of(page: str) -> str:
    """Return the core page of a page's chapter: ``"04-tiled"`` for ``"04-tiled-deeper"``."""
    return page.partition("-deeper")[0]


def is_deeper(page: str) -> bool:
    """Whether a page is a deeper page."""
    return chapter_of(page) != page


def has_quiz(page: str) -> bool:
    """Whether a page ends with a quiz: core pages do, but for the first and the last."""
    return not is_deeper(page) and page not in WITHOUT_QUIZ

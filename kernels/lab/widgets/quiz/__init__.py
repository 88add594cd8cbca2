"""Questions at the end of a chapter; every answer, right or wrong, says why."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import traitlets as t

from kernels.lab.pages import CHAPTERS, folder_of
from kernels.lab.widgets.base import Widget

FEWEST = {"questions": 5, "options": 3}


class QuizError(ValueError):
    """A quiz that does not exist or is not well formed."""


class Quiz(Widget):
    """The questions of a chapter. What was answered is kept in the reader's browser alone.

    Parameters
    ----------
    chapter : str
        The chapter's core page, such as ``"04-tiled"``; its folder holds a ``quiz.toml``.

    Attributes
    ----------
    questions : list of dict
        As `load` returns them.
    """

    shown = ("chapter",)

    chapter = t.Unicode().tag(sync=True)
    questions = t.List().tag(sync=True)

    def __init__(self, chapter: str, **settings: Any) -> None:
        super().__init__(**{"chapter": chapter, "questions": load(chapter)} | settings)


def load(chapter: str, folder: Path = CHAPTERS) -> list[dict[str, Any]]:
    """Read and check the questions of a chapter.

    Returns
    -------
    list of dict
        Each has an ``id``, the question ``ask``, the heading of the ``section`` that answers it,
        the ``page`` with that section, and ``options``: dictionaries with a ``text``, whether it
        is ``right`` (one of them is), and ``why``. Text between backticks is code.

    Raises
    ------
    QuizError
        Names the file, the question and what is wrong with it.
    """
    path = folder_of(chapter, folder) / "quiz.toml"
    name = f"{path.parent.name}/{path.name}"
    if not path.is_file():
        there = ", ".join(sorted(file.parent.name for file in folder.glob("*/quiz.toml"))) or "none"
        raise QuizError(f"no quiz {name} in {folder.name}/: there are those of {there}")
    try:
        questions = tomllib.loads(path.read_text(encoding="utf-8")).get("questions", [])
    except tomllib.TOMLDecodeError as error:
        raise QuizError(f"{name}: {error}") from None
    if len(questions) < FEWEST["questions"]:
        raise QuizError(f"{name} has {len(questions)} questions: write {FEWEST['questions']}")
    names = [question.get("id") for question in questions]
    checked = []
    for number, question in enumerate(questions, 1):
        fault = _fault(question, names)
        if fault:
            raise QuizError(f"{name}, question {number}: {fault}")
        options = [
            {"text": each["text"], "right": bool(each.get("right")), "why": each["why"]}
            for each in question["options"]
        ]
        where = {"section": question["section"], "page": question.get("page", chapter)}
        checked.append({"id": question["id"], "ask": question["ask"], **where, "options": options})
    return checked


def _fault(question: dict[str, Any], names: list[Any]) -> str:
    """What is wrong with a question; empty if nothing is."""
    for key in ("id", "ask", "section"):
        if not isinstance(question.get(key), str) or not question[key].strip():
            return f"it has no {key!r}"
    if names.count(question["id"]) > 1:
        return f"the id {question['id']!r} is taken: choose another"
    options = question.get("options", [])
    if len(options) < FEWEST["options"]:
        return f"it has {len(options)} options: write {FEWEST['options']} or more"
    for option in options:
        if not all(isinstance(option.get(key), str) and option[key] for key in ("text", "why")):
            return f"an option needs a 'text' and a 'why': {option}"
    if len({option["text"] for option in options}) < len(options):
        return "two options are the same"
    right = sum(bool(option.get("right")) for option in options)
    return "" if right == 1 else f"{right} of its options are right: mark one with 'right = true'"

"""What a learner has solved, kept in one file on this machine and nowhere else.

``KERNELS_EXERCISES`` names the file, or is ``off``: then nothing is kept beyond this Python. Unset,
it is ``progress.json`` in the course's folder (`kernels.basics.application`).
"""

from __future__ import annotations

import datetime
import json
import os
import tempfile
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from kernels.basics.application import application_folder

FORMAT = 1


class BrokenProgress(ValueError):
    """The file of the progress cannot be read as one."""


@dataclass
class Entry:
    """One exercise: how many failed tries, and the day it was solved."""

    tries: int = 0
    solved: str = ""


@dataclass
class Answers:
    """Everything in the file; `note` is what to tell the learner about it."""

    entries: dict[str, Entry] = field(default_factory=dict)
    note: str = ""


_kept: dict[str, Entry] = {}  # where nothing is written


def path() -> Path | None:
    """Where the progress is kept; None where it is not."""
    wish = os.environ.get("KERNELS_EXERCISES", "").strip()
    if wish.lower() == "off":
        return None
    if wish:
        return Path(wish).expanduser()
    return application_folder() / "progress.json"


def read(where: Path) -> dict[str, Entry]:
    """Read a file of progress.

    Raises
    ------
    BrokenProgress
        One line that says what is wrong with it.
    """
    try:
        found = json.loads(where.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise BrokenProgress(f"{where} cannot be read ({type(error).__name__})") from None
    try:
        if found["format"] != FORMAT:
            raise ValueError
        return {name: _entry(name, **value) for name, value in found["exercises"].items()}
    except (AttributeError, LookupError, TypeError, ValueError):
        raise BrokenProgress(
            f"{where} is no progress of this course, or of another version"
        ) from None


def _entry(name: str, tries: int, solved: str) -> Entry:
    from .catalogue import EXERCISES

    if name not in EXERCISES or solved and not datetime.date.fromisoformat(solved):
        raise ValueError
    return Entry(int(tries), solved)


def record() -> Answers:
    """Return what is kept; a broken file is left as it is, and `note` says so."""
    where = path()
    if where is None:
        return Answers(_kept)
    try:
        return Answers(read(where))
    except BrokenProgress as error:
        return Answers(_kept, f"{error}: it stays as it is; move or mend it to go on keeping it")


def keep(name: str, right: bool) -> str:
    """Count a try; returns what the learner should know about the file, mostly nothing.

    A file that cannot be read is never written over.
    """
    now = record()
    entry = now.entries.setdefault(name, Entry())
    if right:
        entry.solved = entry.solved or datetime.date.today().isoformat()
    else:
        entry.tries += 1
    where = path()
    if where is None or now.note:
        return now.note
    try:
        _write(where, now.entries)
    except OSError as error:
        return f"the progress could not be written to {where} ({type(error).__name__})"
    return ""


def _write(where: Path, entries: dict[str, Entry]) -> None:
    """Write a file whole or not at all."""
    text = json.dumps(
        {"format": FORMAT, "exercises": {n: vars(e) for n, e in sorted(entries.items())}}, indent=1
    )
    where.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=where.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        os.replace(temporary, where)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise


class Progress:
    """The exercises by chapter and what became of them. Prints as text, shows itself as a table.

    Attributes
    ----------
    solved, total : int
    """

    def __init__(self):
        from .catalogue import EXERCISES

        self.record, self.exercises = record(), EXERCISES
        self.total = len(EXERCISES)
        self.solved = sum(bool(e.solved) for e in self.record.entries.values())

    def _rows(self):
        for name, exercise in self.exercises.items():
            entry = self.record.entries.get(name, Entry())
            state = f"solved {entry.solved}" if entry.solved else "open"
            if entry.tries:
                state += f", {entry.tries} failed " + ("try" if entry.tries == 1 else "tries")
            yield exercise.chapter, name, exercise.title, state

    def __str__(self) -> str:
        lines, chapter = [f"{self.solved} of {self.total} exercises solved"], None
        width = max(len(name) for name in self.exercises)
        for page, name, title, state in self._rows():
            if page != chapter:
                lines.append(page)
                chapter = page
            lines.append(f"  {name:<{width}}  {title}: {state}")
        return "\n".join(lines + [self.record.note] * bool(self.record.note))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr>" + "".join(f"<td style='text-align:left'>{escape(c)}</td>" for c in row) + "</tr>"
            for row in self._rows()
        )
        heads = "".join(
            f"<th scope='col' style='text-align:left'>{h}</th>"
            for h in ("chapter", "exercise", "title", "state")
        )
        note = f"<p>{escape(self.record.note)}</p>" if self.record.note else ""
        return (
            f"<p><strong>{self.solved} of {self.total} exercises solved</strong></p>{note}"
            f"<div style='overflow-x:auto'><table><thead><tr>{heads}</tr></thead>"
            f"<tbody>{rows}</tbody></table></div>"
        )

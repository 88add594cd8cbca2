"""What `check` answers: right, or what is wrong, where, and what to try next."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from html import escape

from .flaws import Flaw

WIDTH = 96


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with an answer.

    Attributes
    ----------
    kind : Flaw
    message : str
        What happened, to which thread, at which element.
    line : int or None
        Line of the cell, or of the file, that the kernel stands in.
    source : str
        That line.
    where : str
        The sizes at which it happened.
    edge : bool
        Of an access out of bounds: of a matrix, which a guard may cure, not of a tile.
    other_line, other_source : int or None, str
        Of a race: the line of the other access.
    hint : str
        What says more of this one than the hint for its kind.
    """

    kind: Flaw
    message: str
    line: int | None = None
    source: str = ""
    where: str = ""
    edge: bool = False
    other_line: int | None = None
    other_source: str = ""
    hint: str = ""


@dataclass(frozen=True)
class Spent:
    """What an answer spent of its budget."""

    what: str
    spent: int
    most: int
    why: str = ""

    def __str__(self) -> str:
        return f"{self.what}: {self.spent:,} of at most {self.most:,}"


#: What is neither right nor wrong: nobody has begun.
OPEN = {Flaw.EMPTY, Flaw.UNTOUCHED}


@dataclass(frozen=True)
class Result:
    """The verdict on an answer. Prints as text; in a notebook it shows itself with a mark.

    Attributes
    ----------
    name : str
        The exercise.
    right : bool
    findings : tuple of Finding
        What is wrong, the most urgent first; empty if the answer is right.
    tried : str
        What the answer was tried on.
    budget : tuple of Spent
    hint : str
        The next hint, empty where there is none to give.
    hint_number : int
        Which of the exercise's three it is; 0 for one that follows from what is wrong.
    after : str
        What to take away, once the answer is right.
    note : str
        What the learner should know beside the verdict, such as of the file of the progress.
    """

    name: str
    right: bool
    findings: tuple[Finding, ...] = ()
    tried: str = ""
    budget: tuple[Spent, ...] = field(default=())
    hint: str = ""
    hint_number: int = 0
    after: str = ""
    note: str = ""

    @property
    def kind(self) -> Flaw | None:
        """What is wrong, in two or three words; None if nothing is."""
        return self.findings[0].kind if self.findings else None

    @property
    def line(self) -> int | None:
        """The line to look at."""
        return self.findings[0].line if self.findings else None

    def __bool__(self) -> bool:
        return self.right

    @property
    def headline(self) -> str:
        """The exercise and the verdict."""
        if self.right:
            return f"{self.name}: right"
        return f"{self.name}: not yet ({self.kind})"

    def lines(self) -> list[tuple[str, str]]:
        """The verdict as pairs of a label and a sentence."""
        rows: list[tuple[str, str]] = []
        if self.right and self.tried:
            rows.append(("tried", self.tried))
        for finding in self.findings[:1]:
            places = {finding.line: finding.source, finding.other_line: finding.other_source}
            places.pop(None, None)
            rows += [
                ("line", f"{line}: {text}" if text else f"{line}") for line, text in places.items()
            ]
            rows.append(("what", finding.message))
            if finding.where:
                rows.append(("where", finding.where))
        others = dict.fromkeys(f.kind for f in self.findings[1:] if f.kind != self.kind)
        if others:
            rows.append(("also", ", ".join(others)))
        rows += [("budget", str(spent)) for spent in self.budget]
        if self.hint:
            number = f" {self.hint_number} of 3" if self.hint_number else ""
            rows.append((f"hint{number}", self.hint))
        if self.after:
            rows.append(("so", self.after))
        if self.note:
            rows.append(("note", self.note))
        return rows

    def __str__(self) -> str:
        lines = [self.headline]
        for label, sentence in self.lines():
            first = f"  {label}: "
            lines += textwrap.wrap(
                sentence.replace("`", ""), WIDTH, initial_indent=first, subsequent_indent="    "
            ) or [first.rstrip()]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        mark, colour, edge = ("✓", "#1f9464", "solid") if self.right else ("✗", "#d63a5e", "double")
        if self.kind in OPEN:
            mark, colour, edge = "…", "#808080", "dotted"
        rows = "".join(
            f"<dt style='font-weight:600'>{escape(label)}</dt>"
            f"<dd style='margin:0'{_place(label, sentence)}>{_code(label, sentence)}</dd>"
            for label, sentence in self.lines()
        )
        return (
            f"<div class='exercise' style='border-left:.4em {edge} {colour};padding:.1em .8em'>"
            f"<p style='margin:.2em 0'><span aria-hidden='true' style='background:{colour};"
            "border-radius:1em;color:#fff;display:inline-block;font-weight:700;line-height:1.5;"
            f"text-align:center;width:1.5em'>{mark}</span> "
            f"<strong>{escape(self.headline)}</strong></p>"
            "<dl style='display:grid;grid-template-columns:max-content 1fr;gap:.2em .8em;"
            f"margin:.2em 0'>{rows}</dl></div>"
        )


def _place(label: str, sentence: str) -> str:
    """What tells a page's script the line, so that it can lead there."""
    return f" data-line='{sentence.partition(':')[0]}'" if label == "line" else ""


def _code(label: str, sentence: str) -> str:
    if label != "line":
        parts = escape(sentence).split("`")
        return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(parts))
    number, _, source = sentence.partition(": ")
    return f"{escape(number)}: <code>{escape(source)}</code>" if source else escape(number)

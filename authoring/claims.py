"""What the course's sources claim, in our words and in theirs, from ``claims.json``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("claims.json")


@dataclass(frozen=True)
class Claim:
    """What one of the sources says.

    ``claim`` says it in our words, ``quotes`` in the source's own: the number of a line of its
    text, the title being line 1, and a few words of that line without its Markdown. ``judged_by``
    says what decides it (``"arithmetic"``, ``"data sheet"``, ``"record"``, ``"trace"`` or
    ``"definition"``); ``fact`` is the correction where it needs no measurement. A claim that only a
    measurement can judge has none: print the record beside it. ``where`` is the page of
    ``chapters/``, with the heading, under which it is tried.
    """

    id: str
    source: str
    chapter: int
    topic: str
    claim: str
    quotes: list[tuple[int, str]]
    verdict: str
    judged_by: str
    where: str
    fact: str = ""
    low: float | None = None
    high: float | None = None
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.source}: {self.claim}"


@cache
def _read() -> dict[str, Any]:
    return json.loads(FILE.read_text(encoding="utf-8"))


def sources() -> dict[str, str]:
    """Titles of the sources: ``{"S0": "…"}``."""
    return _read()["sources"]


def claims(
    chapter: int | None = None, topic: str | None = None, source: str | None = None
) -> list[Claim]:
    """What the sources claim, in the order of the chapters; narrowed by what is given."""
    wanted = {"chapter": chapter, "topic": topic, "source": source}
    return [
        claim
        for claim in (Claim(**entry) for entry in _read()["claims"])
        if all(value in (None, getattr(claim, name)) for name, value in wanted.items())
    ]


def claim(id: str) -> Claim:
    """One claim by its id, such as ``"s2-vector-add-guard"``."""
    for found in claims():
        if found.id == id:
            return found
    raise LookupError(f"no claim {id!r}; there are {', '.join(c.id for c in claims())}")

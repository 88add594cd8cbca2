"""The glossary beside the text: its definitions in one small script, which glossary.js asks for."""

from __future__ import annotations

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

PAGE = "chapters/glossary"
#: The last words of an entry name its chapter.
CHAPTER = re.compile(r"\s*Chapters? \d[^.]*$")
SENTENCES = re.compile(r"(?<=[.!?])\s+(?=[A-Z(])")
LONGEST = 240


def define(app: Sphinx) -> dict[str, tuple[str, str]]:
    """Every entry by its anchor: its word, and as many whole sentences as a glance takes."""
    entries = {}
    for section in app.env.get_doctree(PAGE).findall(nodes.section):
        text = section.next_node(nodes.paragraph, descend=True)
        if text is None or text.parent is not section or section.parent.parent is None:
            continue
        title = section.next_node(nodes.title).astext()
        entries[section["ids"][0]] = title, brief(CHAPTER.sub("", text.astext()))
    return entries


def brief(text: str) -> str:
    """The first sentences of a text, one at least."""
    first, *others = SENTENCES.split(" ".join(text.split()))
    for other in others:
        if len(first) + len(other) > LONGEST:
            break
        first += " " + other
    return first


def write(app: Sphinx) -> None:
    """Write the definitions of a book that has a glossary."""
    if PAGE in app.env.found_docs:
        text = json.dumps(define(app), ensure_ascii=False, separators=(",", ":"))
        path = Path(app.outdir) / "_static" / "book" / "words.js"
        path.write_text(f"window.tileWords = {text};\n", encoding="utf-8")

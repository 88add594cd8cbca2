"""The search: every section of the book with its words in one script, which search.js asks for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

#: What holds words to find, besides headings.
PROSE = (nodes.paragraph, nodes.term, nodes.caption)


def sections(app: Sphinx) -> Iterator[tuple[str, str, str, str]]:
    """Every section: its address, its page's title, its own, and its words."""
    for page in sorted(app.env.found_docs):
        title = app.env.titles[page].astext()
        for section in app.env.get_doctree(page).findall(nodes.section):
            heading = section.next_node(nodes.title).astext()
            own = (part for part in section.children if not isinstance(part, nodes.section))
            text = " ".join(" ".join(_prose(part)) for part in own)
            anchor = "" if heading == title else f"#{section['ids'][0]}"
            yield f"{page}.html{anchor}", title, heading, " ".join(text.split())


def _prose(part: nodes.Node) -> Iterator[str]:
    if isinstance(part, nodes.Element):
        for each in part.findall(lambda node: isinstance(node, PROSE)):
            yield each.astext()


def write(app: Sphinx) -> None:
    """Write the script."""
    text = json.dumps(list(sections(app)), ensure_ascii=False, separators=(",", ":"))
    path = Path(app.outdir) / "_static" / "book" / "sections.js"
    path.write_text(f"window.tileSections = {text};\n", encoding="utf-8")

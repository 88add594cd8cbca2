"""Programs in a page: marks for what has a colour of its own, and folds that say what they hide."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import IO, Any

from bs4 import Tag
from pygments.formatters import HtmlFormatter
from pygments.token import Name, Operator, Punctuation, String, Text, Whitespace
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge

#: What looks like the rest of a program: names, operators, brackets.
PLAIN = {Name, Name.Namespace, Name.Other, Operator, Punctuation, Punctuation.Marker, Whitespace}
#: The first line of a cell that is folded away: its title, or that it sets up the page.
TITLE = re.compile(r"# (?:@title (?P<title>.+)|set-up: )")


class Formatter(HtmlFormatter):
    """Writes a program with a mark for each run of what has a colour of its own, and no others."""

    def format_unencoded(self, tokensource: Iterable, outfile: IO[str]) -> None:
        """Write the marked program."""
        super().format_unencoded(runs(tokensource), outfile)


def runs(tokens: Iterable[tuple[Any, str]]) -> Iterator[tuple[Any, str]]:
    """Tokens with neighbours that look alike joined, and the space between them.

    The prefix of a string looks like the string.
    """
    kind, text, blank = Text, "", ""
    for each, part in tokens:
        each = Text if each in PLAIN else each
        if each is Text and part.isspace():
            blank += part
            continue
        if kind is String.Affix and not blank:
            kind = each
        elif each is not kind:
            yield from ((kind, text), (Text, blank))
            kind, text, blank = each, "", ""
        text, blank = text + blank + part, ""
    yield from ((kind, text), (Text, blank))


def name_folds(page: Tag) -> None:
    """Name the folds of titled cells by their titles."""
    for fold in page.select("details.hide"):
        summary, program = fold.find("summary", recursive=False), fold.find("pre")
        # Its text names it; the label that myst-nb gives it contradicts that text.
        del summary["aria-label"]
        first = TITLE.match(program.text) if program else None
        if not first:
            continue
        title = first["title"] or "The set-up of this page"
        for label in summary.find_all("p"):
            named = label.text.replace("the code", title[0].lower() + title[1:])
            label.string.replace_with(named)


def setup(app: Sphinx) -> None:
    """Let Sphinx write programs so."""
    PygmentsBridge.html_formatter = Formatter

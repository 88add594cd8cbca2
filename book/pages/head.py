"""The head of a page: what it says to search engines, and which scripts it loads."""

from __future__ import annotations

import html
import re
from typing import Any

from bs4 import Tag
from docutils import nodes
from sphinx.application import Sphinx

DESCRIPTION_LENGTH = 160
#: What the pages that no author wrote are for.
GENERATED = {
    "search": "Search the chapters, the glossary and the reference pages of the course.",
    "genindex": "The index of the course.",
    "404": "There is no page at this address.",
}
#: sphinx-thebe, which Jupyter Book always loads: its script is not the course's.
THEBE = re.compile(r"sphinx-thebe|THEBE_JS_URL|kernelName")
#: Marks the words of Sphinx's own search, which is not the course's.
HIGHLIGHT = "sphinx_highlight"
#: Sheets that no page needs: sphinx-thebe's, and colours of programs, which book.css chooses.
UNUSED = re.compile(r"sphinx-thebe|pygments\.css")


def describe(app: Sphinx, page: str, title: str, doctree: nodes.document | None) -> str:
    """Return the tags that describe a page to search engines and to those who link to it."""
    if doctree is None:
        return f'<meta name="description" content="{GENERATED.get(page, page)}">'
    base, text = app.config.html_baseurl, description(doctree)
    shared = {
        "og:type": "article",
        "og:site_name": app.config.html_title,
        "og:title": html.unescape(re.sub(r"<[^>]+>", "", title)),
        "og:description": text,
        "og:url": base if page == app.config.root_doc else f"{base}{page}.html",
        "og:image": f"{base}_static/book/card.png",
    }
    tags = [f'<meta name="description" content="{html.escape(text)}">'] if text else []
    tags += [
        f'<meta property="{key}" content="{html.escape(value)}">' for key, value in shared.items()
    ]
    return "\n".join([*tags, '<meta name="twitter:card" content="summary_large_image">'])


def description(doctree: nodes.document) -> str:
    """Return the first sentences of a page that are prose, cut at a word."""
    for paragraph in doctree.findall(nodes.paragraph):
        links = sum(len(link.astext()) for link in paragraph.findall(nodes.reference))
        text = " ".join(paragraph.astext().split())
        if len(text) > 40 and links < len(text) / 2:
            if len(text) <= DESCRIPTION_LENGTH:
                return text
            return text[:DESCRIPTION_LENGTH].rpartition(" ")[0].rstrip(" ,;:") + " …"
    return ""


def skips(body: Tag) -> list[tuple[str, str]]:
    """Where the first stops of the Tab key lead, and its name: a page's text, its first cell."""
    found = [(body.section["id"], "the text")] if body.section else []
    cell = body.select_one("section section div.cell:not(.tag_hide-input)")
    if cell:
        cell["id"] = cell.get("id", "first-cell")
        found.append((cell["id"], "the first cell"))
    return found


def choose_files(context: dict[str, Any], *, wait: bool) -> None:
    """Keep the scripts and sheets that a page uses; let scripts `wait` for its text."""
    tabs = "sd-tab-set" in context.get("body", "")
    scripts = [
        script
        for script in context["script_files"]
        if not THEBE.search(f"{getattr(script, 'filename', script)} {_body(script)}")
        and HIGHLIGHT not in str(script.filename)
        and (tabs or "design-tabs" not in str(script.filename))
    ]
    context["script_files"][:] = [deferred(each) for each in scripts] if wait else scripts
    context["css_files"][:] = [
        sheet
        for sheet in context["css_files"]
        if not UNUSED.search(str(getattr(sheet, "filename", sheet)))
    ]


def _body(script: Any) -> str:
    return getattr(script, "attributes", {}).get("body") or ""


def deferred(script: Any) -> Any:
    """Return a script that waits for the page; those that the page's own lines rely on stay."""
    if not script.filename or "documentation_options" in script.filename:
        return script
    attributes = {**script.attributes, "defer": "defer"}
    return type(script)(script.filename, priority=script.priority, **attributes)

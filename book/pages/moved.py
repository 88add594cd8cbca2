"""Old addresses: where what stood under a heading can be found now.

``chapters/moved.toml`` has a line for each heading that was renamed or went to another page:
``"04-tiled#old" = "04-tiled-deeper#new"``. Links in the pages may still use an old address; they
are built with the new one. Where a reader's own link leads to an old address, there is a line with
a link to the new place, at the end of the page, and a script that follows it.
"""

from __future__ import annotations

import html
import re
import tomllib
from pathlib import Path

from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

FILE = "chapters/moved.toml"
#: A line that nobody asked for is not shown (book.css); the one that was asked for is followed.
FOLLOW = """<script>
(() => {
  const follow = () => {
    const line = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (line?.closest(".moved")) location.replace(line.querySelector("a").href);
  };
  follow();
  addEventListener("hashchange", follow);
})();
</script>"""


def places(app: Sphinx) -> dict[tuple[str, str], tuple[str, str]]:
    """Every old place and its new one, each a page and a heading's anchor ("" for the page)."""
    path = Path(app.srcdir) / FILE
    entries = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return {_place(app, old): _place(app, new) for old, new in entries.items()}


def _place(app: Sphinx, address: str) -> tuple[str, str]:
    name, _, anchor = address.partition("#")
    return (name if name in app.env.found_docs else f"chapters/{name}"), anchor


def _bare(anchor: str) -> str:
    """Letters and digits: a page's own ``it-s`` is ``its`` where Markdown links to it."""
    return re.sub(r"[^a-z0-9]", "", anchor)


def _heading(app: Sphinx, page: str, anchor: str) -> tuple[str, str]:
    """How Markdown names a heading, and its text; the page's title where there is no anchor."""
    slugs = app.env.metadata[page].get("myst_slugs", {})
    found = ((slug, text) for slug, (_, _, text) in slugs.items() if _bare(slug) == _bare(anchor))
    return next(found, (anchor, app.env.titles[page].astext()))


def leave(app: Sphinx, page: str) -> str:
    """Return what a page says of the headings that have left it; nothing if none has."""
    lines = []
    for (old_page, old), (new_page, new) in places(app).items():
        if old_page == page:
            address = app.builder.get_relative_uri(page, new_page) + (f"#{new}" if new else "")
            title = html.escape(_heading(app, new_page, new)[1])
            lines.append(f'<p id="{old}">This has moved: <a href="{address}">{title}</a></p>')
    return "\n".join(['<div class="moved">', *lines, "</div>", FOLLOW]) if lines else ""


def former(app: Sphinx, page: str, anchor: str) -> list[str]:
    """Return the anchors that a heading had before, on any page."""
    return [old for (_, old), new in places(app).items() if new == (page, anchor)]


class FollowMoved(SphinxPostTransform):
    """Let links that still name an old place lead to the new one, before they are resolved."""

    default_priority = 8

    def run(self, **_: object) -> None:
        known = {(page, _bare(old)): new for (page, old), new in places(self.app).items()}
        for link in self.document.findall(pending_xref):
            old = (link.get("reftarget"), _bare(link.get("reftargetid") or ""))
            if old in known:
                page, new = known[old]
                link["reftarget"], link["reftargetid"] = (
                    page,
                    new and _heading(self.app, page, new)[0],
                )


def watch(app: Sphinx, page: str, source: list[str]) -> None:
    """Let a page be built anew when the list changes."""
    path = Path(app.srcdir) / FILE
    if path.is_file():
        app.env.note_dependency(str(path))


def setup(app: Sphinx) -> None:
    """Register the events and the transform with Sphinx."""
    app.connect("source-read", watch)
    app.add_post_transform(FollowMoved)

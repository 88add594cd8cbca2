"""What the built site adds to the theme and drops of it, and the map of its pages."""

from __future__ import annotations

import html
import re
import shutil
from pathlib import Path
from typing import Any

from bs4 import Tag
from sphinx.application import Sphinx
from sphinx.util import logging

from . import glossary, progress, search, styles

#: Files of the theme that no page asks for: icon fonts (book.css draws the icons) and source maps.
UNUSED = [
    "vendor/fontawesome",
    "scripts/fontawesome.js*",
    "**/*.map",
    "**/*LICENSE.txt",
    "webpack-macros.html",
    "../searchindex.js",
    "searchtools.js",
    "language_data.js",
]
ICON_RULES = re.compile(
    r"@font-face\{[^}]*Font Awesome[^}]*\}|(?<=[}/])(?:\.fa[\w:-]*,?)+\{[^{}]*\}".replace(
        " ", r"\\? "
    )
)
#: The selectors of a loop in the theme's script that lays the page out anew for each element it
#: finds, again after every change of the page: scroll.js does its work.
THRASHING = re.compile(r'\["pre","\.nboutput[^\]]*\]\.join\(", "\)')

logger = logging.getLogger(__name__)


def name_toggles(context: dict[str, Any]) -> None:
    """Name the buttons that unfold a chapter's deeper pages in the contents."""
    generate = context["generate_toctree_html"]

    def named(*arguments: Any, **options: Any) -> Tag | str:
        contents = generate(*arguments, **options)
        for toggle in contents.select("a + details > summary") if contents else ():
            chapter = toggle.parent.find_previous_sibling("a").text
            toggle["aria-label"] = f"Deeper pages of “{chapter}”"
        return contents

    context["generate_toctree_html"] = named


def finish_site(app: Sphinx, error: Exception | None) -> None:
    """Write the site map and drop what no page asks for."""
    if error or app.builder.name != "html":
        return
    out = Path(app.outdir)
    static = out / "_static"
    write_map(app, out / "sitemap.xml")
    glossary.write(app)
    search.write(app)
    progress.write(app)
    for unused in [path for pattern in UNUSED for path in static.glob(pattern)]:
        shutil.rmtree(unused) if unused.is_dir() else unused.unlink(missing_ok=True)
    sheet = static / "styles" / "pydata-sphinx-theme.css"
    text = ICON_RULES.sub("", sheet.read_text(encoding="utf-8"))
    sheet.write_text(re.sub(r"/\*# sourceMappingURL=.*?\*/", "", text), encoding="utf-8")
    script = static / "scripts" / "pydata-sphinx-theme.js"
    text = script.read_text(encoding="utf-8")
    if THRASHING.search(text):
        script.write_text(THRASHING.sub('":not(*)"', text), encoding="utf-8")
    elif '":not(*)"' not in text:
        logger.warning("the theme's script has changed: see THRASHING in book/pages/theme.py")
    styles.combine(out, Path(app.doctreedir) / "styles.txt")


def write_map(app: Sphinx, path: Path) -> None:
    """Write the addresses of all pages for search engines."""
    base = app.config.html_baseurl
    pages = [
        "" if page == app.config.root_doc else f"{page}.html" for page in sorted(app.env.found_docs)
    ]
    addresses = "\n".join(f"  <url><loc>{html.escape(base + page)}</loc></url>" for page in pages)
    path.write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{addresses}\n</urlset>\n'
    )

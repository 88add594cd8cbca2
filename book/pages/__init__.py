"""Sphinx extension: what turns the chapters into pages that need no other host and no kernel.

A page's body is a tree, which `code`, `text`, `slim`, `opening`, `hero`, `legible`,
`predict`, `quiz`, `widgets`, `your_gpu`, `progress`, `calibration`, `ways`, `live` and `floorplan`
change in turn. `maths` writes formulas, `head` describes a page and chooses its scripts, `fonts`
holds its letters, `search` and `glossary` its words, `theme` drops what no page uses, and `styles`
makes one style sheet of what is left.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util import logging

from kernels.lab import pages as chapters

from . import (
    calibration,
    code,
    floorplan,
    fonts,
    head,
    hero,
    legible,
    live,
    maths,
    opening,
    predict,
    progress,
    quiz,
    slim,
    text,
    theme,
    ways,
    widgets,
    your_gpu,
)

BOOK = Path(__file__).resolve().parents[1]


def finish_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Change one page just before it is written."""
    # The text of a page comes first; the search page runs its scripts as it is read.
    head.choose_files(context, wait=doctree is not None)
    theme.name_toggles(context)
    tags = head.describe(app, page, context.get("title", ""), doctree)
    base = f'<base href="{urlsplit(app.config.html_baseurl).path}">' if page == "404" else ""
    context["metatags"] = base + fonts.ask(page) + context.get("metatags", "") + tags
    load(app, "search")
    if doctree is None:
        return
    body = BeautifulSoup(context["body"], "html.parser")
    for script in body.find_all("script"):
        if script.get("type") == "text/x-thebe-config" or head.THEBE.search(script.text):
            script.decompose()
    for change in (
        code.name_folds, text.keep_units, text.let_keys_scroll, text.shape_drawings,
        text.shorten_hatches, slim.dress, opening.fold, legible.dress,
    ):  # fmt: skip
        change(body)
    text.name_origins(body, Path(app.env.doc2path(page)))
    for script in ("parts", "scroll", "place", "glossary", "code", "kept", "totals", "done"):
        load(app, script)
    if body.select_one("a.start"):
        hero.fill(body)
        load(app, "hero")
    exercises = app.env.metadata[page].get("exercises", [])
    if predict.dress(body, page, app):
        load(app, "guesses")
        # Without it the answers are in view.
        load(app, "predict", onerror="document.documentElement.dataset.unasked = ''")
    quiz.link(body, page, app)
    kinds = widgets.mount(body, page)
    if kinds:
        for kind in ("common", *dict.fromkeys(kinds)):
            load(app, f"widgets/{kind}")
        # Without it the stills stay, in full.
        load(app, "widgets", onerror="delete document.documentElement.dataset.draws")
    if page == your_gpu.PAGE:
        your_gpu.fill(body)
        for script in your_gpu.SCRIPTS:
            load(app, script)
    if page == progress.PAGE:
        progress.fill(body, app)
        calibration.fill(body, app)
        load(app, "guesses")
        load(app, "calibration")
    if exercises or page == progress.PAGE:
        progress.tick(body, page, exercises)
        load(app, "progress")
    if any("cell" in node["classes"] for node in doctree.findall(nodes.container)):
        ways.gather(body, context["theme_repository_url"], app.config.page_python)
        settings = {"repository": context["theme_repository_url"], "page": page}
        app.add_js_file(None, body=f"window.liveCode = {json.dumps(settings)};")
        load(app, "live")
        live.equip(body, app.config.page_draws)
        floorplan.dress(body, page)
    context["skips"] = head.skips(body)
    context["body"] = str(body)


def load(app: Sphinx, script: str, **attributes: str) -> None:
    """Let a page load a script of the course once its text is there."""
    app.add_js_file(f"book/{script}.js", loading_method="defer", **attributes)


def watch_widgets(app: Sphinx, page: str, source: list[str]) -> None:
    """Let a page be built anew when its pictures are, or the records that its widgets show."""
    stills = widgets.FOLDER
    pictures = stills.glob(f"{page.rpartition('/')[2]}-*.svg")
    for path in (stills, *pictures, *widgets.sources(source[0])):
        app.env.note_dependency(str(path))


def add_static(app: Sphinx) -> None:
    """Put the course's own files into the built book, on every build."""
    static = Path(app.outdir) / "_static"
    shutil.copytree(BOOK / "static", static / "book", dirs_exist_ok=True)
    widgets.write(static / "book")
    fonts.write(static / "book")


def tell_gaps(app: Sphinx) -> None:
    """Warn of each part that a chapter lacks: the build fails with these lines."""
    if Path(app.srcdir) == chapters.CHAPTERS.parent:
        for line in chapters.missing():
            logging.getLogger(__name__).warning(line)


def use_own_files(app: Sphinx, config: Config) -> None:
    """Name the templates, the logo and the favicon, wherever the pages lie."""
    config.html_additional_pages = {"404": "404.html"}
    config.templates_path = [str(BOOK / "templates")]
    config.html_logo = str(BOOK / "static" / "logo.svg")
    config.html_favicon = str(BOOK / "static" / "favicon.svg")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    code.setup(app)
    maths.setup(app)
    live.setup(app)
    app.connect("config-inited", use_own_files, priority=100)
    app.connect("builder-inited", tell_gaps)
    app.connect("builder-inited", add_static)
    app.connect("source-read", watch_widgets)
    app.connect("source-read", predict.watch)
    app.connect("doctree-read", progress.collect)
    app.connect("env-get-outdated", progress.outdated)
    app.connect("env-get-outdated", your_gpu.outdated)
    app.connect("html-page-context", finish_page, priority=900)
    app.connect("build-finished", theme.finish_site, priority=900)  # after the theme's own colours
    return {"parallel_read_safe": True, "parallel_write_safe": True}

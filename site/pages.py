"""Sphinx extension: what turns the chapters into pages that need no other host and no kernel.

It puts the course's own files under `_static/book` and the vendored ones under
`_static/vendor`, writes mathematics as MathML, mounts stored widgets (with a picture and their
numbers where no script can draw them), tells live.js where the code can run, describes each page to
search engines, writes the site map, and drops from the theme what no page uses.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util import logging

SITE = Path(__file__).resolve().parent
sys.path[:0] = [str(SITE.parent), str(SITE)]

import moved  # noqa: E402
import pictures  # noqa: E402
import progress  # noqa: E402
import styles  # noqa: E402

from kernels.lab.widgets.stills import still  # noqa: E402

VIEW = re.compile(
    r'<script type="application/vnd\.jupyter\.widget-view\+json">(\{.*?\})</script>', re.DOTALL
)
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
#: Traits of a widget that only the notebook's own machinery reads.
INTERNAL = {"layout", "tabbable", "tooltip"}
#: What a page says above the still of a widget, and on the button that calls its script.
NOTES = {
    "": (
        "This figure is interactive: it needs JavaScript, and a browser of 2020 or later. "
        "Here is what it starts with.",
        "Draw the figure",
    ),
    "Quiz": (
        "Open an answer to see what there is to say about it. (To keep what you answered, the page "
        "needs JavaScript, and a browser of 2020 or later.)",
        "Start the quiz",
    ),
}
#: Files of the theme that no page asks for: icon fonts (book.css draws the icons) and source maps.
UNUSED = [
    "vendor/fontawesome",
    "scripts/fontawesome.js*",
    "**/*.map",
    "**/*LICENSE.txt",
    "webpack-macros.html",
]
ICON_RULES = re.compile(
    r"@font-face\{[^}]*Font Awesome[^}]*\}|(?<=[}/])(?:\.fa[\w:-]*,?)+\{[^{}]*\}".replace(
        " ", r"\\? "
    )
)
#: sphinx-thebe, which Jupyter Book always loads: live.js does its work.
THEBE = re.compile(r"sphinx-thebe|THEBE_JS_URL|kernelName")
THEBE_SETTINGS = re.compile(
    r'<script type="text/x-thebe-config">.*?</script>|<script>kernelName = .*?</script>', re.DOTALL
)
#: The selectors of a loop in the theme's script that lays the page out anew for each element it
#: finds, again after every change of the page: scroll.js does its work.
THRASHING = re.compile(r'\["pre","\.nboutput[^\]]*\]\.join\(", "\)')
#: The head of a page: its title, and the badges if there are any. The bar of live.js follows it.
TITLE = re.compile(r"<h1\b.*?</h1>(?:\s*<!-- badges -->\s*<p>.*?</p>)?", re.DOTALL)
#: The label of a fold, up to the first line of the code in it.
FOLD = re.compile(
    r'(<p class="collapsed admonition-title">Show )the code(</p>\s*'
    r'<p class="expanded admonition-title">Hide )the code(</p>\s*</summary>\s*'
    r'(?:<[^>]*>\s*)*?<span></span><span class="c1"># (?:@title ([^<]+)|(set-up): [^<]*)</span>)'
)
#: What may be too wide for its place: keys reach it, and scroll.js excuses what has room.
WIDE = re.compile(
    r"""<pre(?=>)|<div class='trace'"""
    r"""|<div class="(?:output\b[^"]*|pst-scrollable-table-container|math-block)\""""
)
#: What a highlighter marks in a program though it looks like the rest: names, operators, brackets.
PLAIN = re.compile(r'<span class="(?:n|nn|nx|o|p|pm|w)">([^<]*)</span>')
#: The prefix of a string, and neighbours of one kind, each marked on its own.
PREFIX = re.compile(r'<span class="sa">([^<]*)</span><span class="(s\w)">')
SAME = re.compile(r'(<span class="(\w\w?)">[^<]*)</span>(\s*)<span class="\2">')
#: Where a section of a page begins that is not inside another but the page's own.
SECTION = re.compile(r'<section id="[^"]*">(?=\s*(?:<span id="[^"]*"></span>)*<h2>)')
FOLDED = re.compile(r"<details\b(?:(?!<details\b).)*?</details>", re.DOTALL)
STILL = re.compile(r'<div class="widget-fallback">.*?</script>', re.DOTALL)
UNWRITTEN = re.compile(r"<(svg|math|script)\b.*?</\1>", re.DOTALL)
CODE = re.compile(r"<pre\b.*?</pre>", re.DOTALL)
BLOCK = re.compile(r"<(?:p|pre|li|tr|h3|h4|dt|dd|figure|summary)\b")
TAG = re.compile(r"<[^>]*>")
#: A drawing of site/assets in a page.
DRAWING = re.compile(r'<img (?=[^>]*\bsrc="[^"]*?([\w-]+\.svg)")(?![^>]* height=)')
SHAPE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
#: What is no running text, kept whole; every other tag on its own.
MARKUP = re.compile(r"(<(script|style|pre|code|svg|math)\b.*?</\2>|<[^>]*>)", re.DOTALL)
FIGURE = re.compile(
    r"(?<=\d) (?=(?:[nµmkMGTP]?(?:FLOP(?:/s)?|B(?:/s)?|s|Hz|W)|[KMG]iB|bytes|%)(?!\w))"
)
DESCRIPTION_LENGTH = 160
#: What the pages that no author wrote are for.
GENERATED = {
    "search": "Search the chapters, the glossary and the reference pages of the course.",
    "genindex": "The index of the course.",
}

logger = logging.getLogger(__name__)


def mathml(latex: str, display: str) -> str:
    """Return one formula as MathML, which browsers draw without a script.

    Parameters
    ----------
    latex : str
        The formula in LaTeX.
    display : {"inline", "block"}
        Whether it stands in a line or on its own.
    """
    code = convert(latex.strip(), display=display)
    return code.replace("<math ", f'<math alttext="{html.escape(latex.strip())}" ', 1)


def visit_math(self: Any, node: nodes.math) -> None:
    """Write inline mathematics."""
    self.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def visit_math_block(self: Any, node: nodes.math_block) -> None:
    """Write displayed mathematics, with its number if it has one."""
    self.body.append(self.starttag(node, "div", CLASS="math-block"))
    self.body.append(mathml(node.astext(), "block"))
    if node.get("number"):
        self.body.append(f'<span class="eqno">({node["number"]})</span>')
        self.add_permalink_ref(node, "Link to this equation")
    self.body.append("</div>")
    raise nodes.SkipNode


def mount(body: str, states: dict[str, Any], page: str) -> str:
    """Return a page's body with every widget view turned into an element that widgets.js can mount.

    Parameters
    ----------
    body : str
        The page's HTML.
    states : dict
        The widget models stored in the notebook, by identifier.
    page : str
        The page's name, for warnings.
    """

    kinds: list[str] = []

    def element(view: re.Match[str]) -> str:
        name = json.loads(view[1])["model_id"]
        state = states.get(name, {}).get("state", {})
        if "_esm" not in state:
            logger.warning("%s: widget %s is no anywidget, so it needs a kernel", page, name)
            return view[0]
        kept = {
            key: value
            for key, value in state.items()
            if key in ("_esm", "_css") or not (key.startswith("_") or key in INTERNAL)
        }
        kind = state.get("_anywidget_id", "").rpartition(".")[2]
        picture = image(page, kind, kinds.count(kind))
        kinds.append(kind)
        stands = picture + still(kind, state)
        note, way = NOTES.get(kind, NOTES[""])
        data = json.dumps(kept, sort_keys=True).replace("</", "<\\/")
        return (
            f'<div class="widget" data-kind="{html.escape(kind)}">'
            f'<div class="widget-fallback"><p>{note}</p>'
            f'<button type="button">{way}</button>{stands}</div>'
            f'<script type="application/json">{data}</script></div>'
        )

    return VIEW.sub(element, body)


def name_folds(body: str) -> str:
    """Return a page's body with the folds of titled cells named by their titles."""

    def named(fold: re.Match[str]) -> str:
        title = fold[4][0].lower() + fold[4][1:] if fold[4] else f"the {fold[5]} of this page"
        return fold[1] + title + fold[2] + title + fold[3]

    return FOLD.sub(named, body)


def lean_code(body: str) -> str:
    """Return a page's body whose programs mark what has a colour of its own, and nothing else."""
    body = PREFIX.sub(r'<span class="\2">\1', PLAIN.sub(r"\1", body))
    while (merged := SAME.sub(r"\1\3", body)) != body:
        body = merged
    return body


def measure_parts(body: str) -> str:
    """Return a page's body whose sections say how tall they are at most on a telephone, roughly.

    Where the browser passes over a section (parts.js), that height keeps its place.
    """
    starts = [match.start() for match in SECTION.finditer(body)]
    parts = [body[a:b] for a, b in zip([0, *starts], [*starts, len(body)], strict=True)]
    sized = [
        part.replace("<section ", f'<section style="--tall: {height(part)}px" ', 1)
        for part in parts[1:]
    ]
    return "".join([parts[0], *sized])


def height(part: str) -> int:
    """Pixels that a part of a page takes on a telephone: more than it does, rather than less."""
    tall = 100 + 70 * part.count("<details")
    while (unfolded := FOLDED.sub("", part)) != part:  # the innermost folds first
        part = unfolded
    tall += 2600 * part.count('<div class="widget"')
    part = STILL.sub("", part)
    for shape in SHAPE.finditer(part):
        width, rise = map(float, shape.groups())
        tall += 60 + 600 * rise / width if width > 100 else 0  # a drawing, not an icon
    part = UNWRITTEN.sub("", part)
    written = [code[0] for code in CODE.finditer(part)]
    tall += sum(60 + 21 * max(code.count("\n"), len(TAG.sub("", code)) / 44) for code in written)
    part = CODE.sub("", part)
    tall += 54 * len(BLOCK.findall(part))
    return round(tall + 27 * len(" ".join(TAG.sub(" ", part).split())) / 38)


def keep_units(body: str) -> str:
    """Return a page's body with every figure of the running text tied to its unit."""
    parts = MARKUP.split(body)
    # Each tag comes with the name of what was kept whole, or with None.
    texts = [FIGURE.sub("\N{NO-BREAK SPACE}", text) for text in parts[::3]]
    tags = [*parts[1::3], ""]
    return "".join(text + tag for text, tag in zip(texts, tags, strict=True))


def shape_drawings(body: str) -> str:
    """Return a page's body whose drawings keep their place until they are loaded."""

    def shaped(tag: re.Match[str]) -> str:
        path = SITE / "assets" / tag[1]
        shape = SHAPE.search(path.read_text("utf-8")) if path.is_file() else None
        size = [round(float(side)) for side in shape.groups()] if shape else []
        return f'<img width="{size[0]}" height="{size[1]}" {tag[0][5:]}' if size else tag[0]

    return DRAWING.sub(shaped, body)


def image(page: str, kind: str, number: int) -> str:
    """The recorded picture of a widget, as an element that loads it when it is needed."""
    path = pictures.FOLDER / pictures.name_of(page, kind, number)
    if not path.is_file():
        return ""
    width, height = pictures.size_of(path)
    root = "../" * page.count("/")
    return (
        f'<img src="{root}_static/book/stills/{path.name}" width="{width}" height="{height}" '
        'class="dark-light" loading="lazy" '  # as the theme calls a picture that it need not dim
        'alt="The figure as it starts; the tables below tell its numbers.">'
    )


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


def head(app: Sphinx, page: str, title: str, text: str) -> str:
    """Return the tags that describe a page to search engines and to those who link to it."""
    base = app.config.html_baseurl
    address = base if page == app.config.root_doc else f"{base}{page}.html"
    title = re.sub(r"<[^>]+>", "", title)
    named = {"description": text} if text else {}
    shared = {
        "og:type": "article",
        "og:site_name": app.config.html_title,
        "og:title": html.unescape(title),
        "og:description": text,
        "og:url": address,
        "og:image": f"{base}_static/book/card.png",
    }
    tags = [f'<meta name="{key}" content="{html.escape(value)}">' for key, value in named.items()]
    tags += [
        f'<meta property="{key}" content="{html.escape(value)}">' for key, value in shared.items()
    ]
    tags.append('<meta name="twitter:card" content="summary_large_image">')
    return "\n".join(tags)


def deferred(script: Any) -> Any:
    """Return a script that waits for the page; those that the page's own lines rely on stay."""
    if not script.filename or "documentation_options" in script.filename:
        return script
    attributes = {**script.attributes, "defer": "defer"}
    return type(script)(script.filename, priority=script.priority, **attributes)


def finish_page(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Change one page just before it is written."""
    states = {}
    kept = []
    for script in context["script_files"]:
        attributes = getattr(script, "attributes", {})
        body = attributes.get("body") or ""
        if attributes.get("type") == WIDGET_STATE:
            states = json.loads(body.replace("<\\/", "</"))["state"]
        elif not (THEBE.search(str(getattr(script, "filename", ""))) or THEBE.search(body)):
            kept.append(script)
    if "sd-tab-set" not in context.get("body", ""):
        kept = [script for script in kept if "design-tabs" not in str(script.filename)]
    # The text of a page comes first; the search page runs its scripts as it is read.
    context["script_files"][:] = kept if doctree is None else [deferred(each) for each in kept]
    context["css_files"][:] = [
        style
        for style in context["css_files"]
        if not THEBE.search(str(getattr(style, "filename", style)))
    ]
    if doctree is None:
        tag = f'<meta name="description" content="{GENERATED.get(page, page)}">'
        context["metatags"] = context.get("metatags", "") + tag
        return
    body = THEBE_SETTINGS.sub("", context["body"])
    # The text of a fold names it; the label that myst-nb gives it contradicts that text.
    body = body.replace('<summary aria-label="Toggle hidden content">', "<summary>")
    body = WIDE.sub(r'\g<0> tabindex="0"', body)
    context["body"] = lean_code(shape_drawings(keep_units(name_folds(body))))
    for name in ("parts", "scroll"):
        app.add_js_file(f"book/{name}.js", loading_method="defer")
    if states:
        context["body"] = mount(context["body"], states, page)
        # Without it the stills stay, in full.
        lost = "delete document.documentElement.dataset.draws"
        app.add_js_file("book/widgets.js", loading_method="defer", onerror=lost)
    exercises = app.env.metadata[page].get("exercises", [])
    if page == progress.PAGE:
        context["body"] = progress.fill(context["body"], app)
    if exercises or page == progress.PAGE:
        context["body"] = progress.tick(context["body"], page, exercises)
        app.add_js_file("book/progress.js", loading_method="defer")
    if any("cell" in node["classes"] for node in doctree.findall(nodes.container)):
        # Its place is kept from the start, so that nothing moves when live.js fills it.
        context["body"] = TITLE.sub(r'\g<0><div class="live-bar"></div>', context["body"], count=1)
        settings = {"repository": context["theme_repository_url"], "page": page}
        app.add_js_file(None, body=f"window.liveCode = {json.dumps(settings)};")
        app.add_js_file("book/live.js", loading_method="defer")
    context["body"] = measure_parts(context["body"]) + moved.leave(app, page)
    context["metatags"] += head(app, page, context["title"], description(doctree))


def watch_pictures(app: Sphinx, page: str, source: list[str]) -> None:
    """Let a page be built anew when its pictures are."""
    for path in (pictures.FOLDER, *pictures.FOLDER.glob(f"{page.rpartition('/')[2]}-*.svg")):
        app.env.note_dependency(str(path))


def add_static(app: Sphinx) -> None:
    """Copy the course's own files and the vendored ones into the built book, on every build."""
    static = Path(app.outdir) / "_static"
    for source, name in ((SITE / "static", "book"), (SITE / "vendor", "vendor")):
        shutil.copytree(source, static / name, dirs_exist_ok=True)


def finish_site(app: Sphinx, error: Exception | None) -> None:
    """Write the site map and drop what no page asks for."""
    if error or app.builder.name != "html":
        return
    out = Path(app.outdir)
    base = app.config.html_baseurl
    pages = [
        "" if page == app.config.root_doc else f"{page}.html" for page in sorted(app.env.found_docs)
    ]
    addresses = "\n".join(f"  <url><loc>{html.escape(base + page)}</loc></url>" for page in pages)
    (out / "sitemap.xml").write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{addresses}\n</urlset>\n'
    )
    static = out / "_static"
    for unused in [path for pattern in UNUSED for path in static.glob(pattern)]:
        if "vendor/thebe" in unused.as_posix():
            continue  # its licences
        shutil.rmtree(unused) if unused.is_dir() else unused.unlink(missing_ok=True)
    theme = static / "styles" / "pydata-sphinx-theme.css"
    text = theme.read_text(encoding="utf-8")
    text = re.sub(r"/\*# sourceMappingURL=.*?\*/", "", ICON_RULES.sub("", text))
    theme.write_text(text, encoding="utf-8")
    script = static / "scripts" / "pydata-sphinx-theme.js"
    text = script.read_text(encoding="utf-8")
    if THRASHING.search(text):
        script.write_text(THRASHING.sub('":not(*)"', text), encoding="utf-8")
    elif '":not(*)"' not in text:
        logger.warning("the theme's script has changed: see THRASHING in pages.py")
    styles.combine(out, Path(app.doctreedir) / "styles.txt")


def use_own_files(app: Sphinx, config: Config) -> None:
    """Name the templates, the logo and the favicon, wherever the pages lie."""
    config.templates_path = [str(SITE / "templates")]
    config.html_logo = str(SITE / "static" / "logo.svg")
    config.html_favicon = str(SITE / "static" / "favicon.svg")


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension with Sphinx."""
    app.connect("config-inited", use_own_files, priority=100)
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.connect("builder-inited", add_static)
    app.connect("source-read", watch_pictures)
    app.connect("doctree-read", progress.collect)
    app.connect("env-get-outdated", progress.outdated)
    app.connect("html-page-context", finish_page, priority=900)
    moved.setup(app)
    app.connect("build-finished", finish_site, priority=900)  # after the theme's own colours
    return {"parallel_read_safe": True, "parallel_write_safe": True}

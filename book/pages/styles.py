"""One style sheet for the whole site, with the rules that its pages can use and no others.

The theme and its extensions bring ten sheets made for every site there could be. A browser draws
nothing before it has read them all, so the pages get one: in the same order, without the rules
whose classes and identifiers neither a page nor a script names, and with the dark colours also
for readers in the dark whose browser runs no script.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

import tinycss2
from tinycss2.ast import AtRule, Node, QualifiedRule

NAME = "course.css"
LINKS = re.compile(
    r'(?:\s*<link\b(?=[^>]*\brel="stylesheet")[^>]*\bhref="(?:\.\./)*_static/[^"]*"[^>]*>)+'
)
LINK = re.compile(r'<link\b[^>]*\bhref="((?:\.\./)*)_static/([^"?]*)[^"]*"[^>]*>')
RELATIVE = re.compile(r"""(url\(\s*["']?)(?!data:|#|/|https?:)([^"')]+)""")
WORD = re.compile(r"-?[A-Za-z_][\w-]*")
ATTRIBUTE = re.compile(r"""\b(?:class|id)=(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""")
DARK = re.compile(r"""html\[data-theme="?dark"?\]""")
#: What the scripts of Bootstrap and the theme name for pages that have it; none of ours does.
ABSENT = re.compile(
    r"(?:carousel|offcanvas|popover|toast|modal|dropstart|dropend|dropup|bd-header-announcement"
    r"|version-switcher|pst-button-link|pst-sidebar-collapse|pst-squeeze"
    r"|pst-(?:collapse|expand)-sidebar|margin-caption)(?:[-_]|$)|sidebar$"
)
VARIABLE = re.compile(r"--[\w-]+")
SET = re.compile(r"""(?<=[{;\s])(--[\w-]+)\s*:(?:"[^"]*"|'[^']*'|[^;{}"'])*(?:;|(?=\}))""")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
SPACE = re.compile(r"\s+")
#: The course's own sheets keep every rule: some are for what a running cell shows.
OWN = "book/"


def combine(out: Path, kept: Path) -> Path:
    """Write the site's one style sheet and let every page link to it.

    Parameters
    ----------
    out : Path
        The folder of the built pages.
    kept : Path
        A file that remembers, from build to build, which sheets the pages were made with.

    Returns
    -------
    Path
        The sheet.
    """
    static = out / "_static"
    pages = [page for page in out.rglob("*.html") if static not in page.parents]
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    sheets = next(filter(None, map(linked, texts.values())), None)
    if sheets is None:  # no page was written anew
        sheets = kept.read_text().split()
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text("\n".join(sheets))
    scripts = [path.read_text("utf-8") for path in static.rglob("*.js")]
    names = {name for name in used([*texts.values()], scripts) if not ABSENT.match(name)}
    sheet = static / NAME
    text = "\n".join(slim(static, name, names) for name in sheets)
    read = {name for each in (*texts.values(), *scripts) for name in VARIABLE.findall(each)}
    sheet.write_text(without_idle(text, read), encoding="utf-8")
    version = hashlib.sha256(sheet.read_bytes()).hexdigest()[:8]
    for page, text in texts.items():
        root = "../" * (len(page.relative_to(out).parts) - 1)
        links = iter([f'\n    <link rel="stylesheet" href="{root}_static/{NAME}?v={version}">'])
        changed = LINKS.sub(lambda _, links=links: next(links, ""), text)
        if changed != text:
            page.write_text(changed, encoding="utf-8")
    return sheet


def linked(page: str) -> list[str]:
    """The sheets that a page links to, by their paths under `_static`; none if it has the one."""
    found = [link[2] for block in LINKS.finditer(page) for link in LINK.finditer(block[0])]
    return [] if found == [NAME] else found


def used(pages: list[str], scripts: list[str]) -> set[str]:
    """Every class and identifier that a page has or that a script may give to an element."""
    names: set[str] = set()
    for page in pages:
        for groups in ATTRIBUTE.findall(page):
            names.update("".join(groups).split())
        for script in re.findall(r"<script\b[^>]*>(.*?)</script>", page, re.DOTALL):
            names.update(WORD.findall(script))
    for script in scripts:
        names.update(WORD.findall(script))
    return names


def slim(static: Path, name: str, names: set[str]) -> str:
    """A sheet with its imports in place and its addresses mended, less what no page can use."""
    text = (static / name).read_text(encoding="utf-8")
    folder = posixpath.dirname(name)

    def moved(match: re.Match[str]) -> str:
        return match[1] + posixpath.normpath(posixpath.join(folder, match[2]))

    rules = tinycss2.parse_stylesheet(
        RELATIVE.sub(moved, text), skip_comments=True, skip_whitespace=True
    )
    parts = []
    for rule in rules:
        if rule.type == "at-rule" and rule.lower_at_keyword == "import":
            address = next(node.value for node in rule.prelude if node.type in ("string", "url"))
            other = posixpath.normpath(posixpath.join(folder, address))
            parts.append(slim(static, other, names))
        elif rule.type == "at-rule" and rule.lower_at_keyword == "charset":
            continue
        elif rule.type == "error":
            raise ValueError(f"{name}:{rule.source_line}: {rule.message}")
        else:
            parts.extend(_kept(rule, None if name.startswith(OWN) else names))
    return "\n".join(parts)


def without_idle(text: str, read: set[str]) -> str:
    """A sheet without the variables that nothing reads: not it, nor pages and scripts (`read`)."""
    asked = read | set(re.findall(r"var\(\s*(--[\w-]+)", text))
    left = SET.sub(lambda one: one[0] if one[1] in asked else "", text)
    return text if left == text else without_idle(left, read)


def _kept(rule: Node, names: set[str] | None) -> Iterator[str]:
    """A rule as text, its selectors narrowed to those that can match; nothing if none can."""
    if isinstance(rule, QualifiedRule):
        selectors = [
            each for each in _split(rule.prelude) if names is None or _needs(each) <= names
        ]
        if selectors:
            heads = [tinycss2.serialize(each).strip() for each in selectors]
            body = tight(tinycss2.serialize(rule.content))
            yield f"{','.join(heads)}{{{body}}}"
            auto = [
                DARK.sub('html[data-theme="auto"]', each) for each in heads if DARK.search(each)
            ]
            if auto:  # where no script decides, the theme stays "auto"
                yield f"@media (prefers-color-scheme:dark){{{','.join(auto)}{{{body}}}}}"
    elif isinstance(rule, AtRule):
        if rule.content is not None and rule.lower_at_keyword in ("media", "supports", "layer"):
            inner = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            body = "\n".join(part for each in inner for part in _kept(each, names))
            if body:
                head = tinycss2.serialize(rule.prelude).strip()
                yield f"@{rule.at_keyword} {head}{{{body}}}"
        else:
            yield rule.serialize()


def tight(declarations: str) -> str:
    """Declarations without comments, and with one space where there were more."""
    return SPACE.sub(" ", COMMENT.sub("", declarations)).strip()


def _split(prelude: list[Node]) -> list[list[Node]]:
    """The selectors of a list, parted at its commas."""
    parts: list[list[Node]] = [[]]
    for node in prelude:
        if node == ",":
            parts.append([])
        else:
            parts[-1].append(node)
    return parts


def _needs(selector: list[Node]) -> set[str]:
    """The classes and identifiers without which a selector matches nothing."""
    needed = set()
    for before, node in zip([None, *selector], selector, strict=False):
        if node.type == "hash" or (node.type == "ident" and before == "."):
            needed.add(node.value)
    return needed

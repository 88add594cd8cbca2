"""What a screen folds away, on paper: hints, answers and solutions stand at the back of the book.

Their places in the text name the page to turn to. The set-up of a page and the code that only
draws a figure are left out.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from bs4 import BeautifulSoup, Tag

FOLDS = "details, .admonition.dropdown"
#: Where a fold says what it holds, the first of them that there is.
LINES = (".collapsed", ".sd-summary-text", ".admonition-title", "summary")
#: Folded programs that say nothing about the subject.
LEFT_OUT = ("the code", "the set-up of this page")


class Fold(NamedTuple):
    """Something folded away: what it is called, the section it belongs to, and what it holds."""

    name: str
    section: str
    place: str
    content: Tag


def turn_back(article: Tag, page: str) -> list[Fold]:
    """Take what is folded out of a page, and leave a link to where it is printed.

    Parameters
    ----------
    article : Tag
        The text of the page, changed in place.
    page : str
        The name that the places on this page begin with.

    Returns
    -------
    list of Fold
        In the order of the text.
    """
    folds = []
    for terms in article.select("details.terms"):  # paper has room for them where they stand
        terms.summary.decompose()
        terms.unwrap()
    for quiz in article.select('[data-kind="Quiz"]'):
        ask(quiz)
    for fold in article.select(FOLDS):
        if fold.find_parent(class_="turned"):
            continue  # goes with the fold around it
        cell = fold.find_parent("div", "cell")
        name = name_of(fold)
        if name in LEFT_OUT:
            fold.decompose()
            if cell and not cell.get_text(strip=True) and not cell.find(["img", "svg"]):
                cell.decompose()
            continue
        place = f"{page}--fold-{len(folds) + 1}"
        heading = fold.find_previous(re.compile("^h[1-6]$"))
        leave_link(fold, name, place)
        folds.append(Fold(capital(name), heading.get_text(), place, unfold(fold)))
    return folds


def capital(text: str) -> str:
    """A text with a capital at its start."""
    return text[:1].upper() + text[1:]


def name_of(fold: Tag) -> str:
    """What the line says that opens a fold, without its verb."""
    lines = (fold.select_one(kind) for kind in LINES)
    return re.sub(r"^Show ", "", next(filter(None, lines)).get_text(strip=True))


def leave_link(fold: Tag, name: str, place: str) -> None:
    """Put a link to what was folded in its place, beside that of the fold before it."""
    link = f'<a href="#{place}" id="from-{place}">{capital(name)}</a>'
    before = fold.previous_sibling
    while before and not isinstance(before, Tag) and not before.strip():
        before = before.previous_sibling
    if isinstance(before, Tag) and "turned-to" in before.get("class", []):
        before.span.insert_before(", ", BeautifulSoup(link, "html.parser"))
    else:
        number = f'<span> on page <span data-page-of="{place}">000</span></span>'
        line = f'<p class="turned-to">{link}{number}</p>'
        fold.insert_before(BeautifulSoup(line, "html.parser"))


def unfold(fold: Tag) -> Tag:
    """Take a fold out of its page, and open it and all in it."""
    fold.extract()
    for each in fold.select("summary, .admonition-title"):
        if each.find_parent(["details", "div"]) in (fold, None):
            each.decompose()
    fold.name, fold["class"] = "div", ["turned"]
    return fold


def ask(quiz: Tag) -> None:
    """Print a quiz as its questions with lettered options, and fold away what there is to say."""
    questions = quiz.select_one("ol")
    answers = BeautifulSoup(
        '<details><summary>Answers to the quiz</summary><ol class="answers"></ol></details>',
        "html.parser",
    )
    for question in questions.find_all("li", recursive=False):
        said, options = ordered(), ordered()
        for option in question.find_all("details", recursive=False):
            options.append(item(option.summary.extract()))
            said.append(item(option.extract()))
        question.append(options)
        line = answers.new_tag("li")
        line.append(said)
        answers.ol.append(line)
    questions.insert_after(answers)


def ordered() -> Tag:
    """An empty list with letters."""
    return BeautifulSoup('<ol type="a"></ol>', "html.parser").ol.extract()


def item(holder: Tag) -> Tag:
    """An item of a list with the text of another element."""
    holder.name = "li"
    return holder


def back(pages: list[tuple[str, str, list[Fold]]]) -> str:
    """The pages at the back of the book.

    Parameters
    ----------
    pages : list of tuple
        The place, the title and the folds of each page.

    Returns
    -------
    str
        Their text, by page and by section; empty where nothing was folded.
    """
    parts = []
    for place, title, folds in pages:
        section = None
        if folds:
            parts.append(f'<h2><a href="#{place}">{title}</a></h2>')
        for fold in folds:
            if fold.section != section and fold.section != title:
                parts.append(f"<h3>{fold.section}</h3>")
            section = fold.section
            parts.append(
                f'<div class="back" id="{fold.place}">'
                f'<p class="name"><a href="#from-{fold.place}">{fold.name}</a></p>'
                f"{fold.content}</div>"
            )
    return "\n".join(parts)

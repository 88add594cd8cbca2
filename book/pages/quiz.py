"""The quiz of a page: a wrong answer leads back to the section that answers its question."""

from __future__ import annotations

import json

from bs4 import Tag
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from kernels.lab.pages import address_of

logger = logging.getLogger(__name__)


def link(body: Tag, page: str, app: Sphinx) -> None:
    """Write the address of its section into each question of a page's quiz."""
    for script in body.select("div.widget[data-kind=Quiz] > script"):
        state = json.loads(script.string)
        for question in state["questions"]:
            question["href"] = address(question, page, app)
        text = json.dumps(state, ensure_ascii=False)
        script.string = text.replace("</", "<\\/")  # a string must not end the element


def address(question: dict[str, str], page: str, app: Sphinx) -> str:
    """The address of the section that a question names, from the page that asks it."""
    asked = question["page"]
    name = page if page.rpartition("/")[2] == asked else address_of(asked)
    heading = question["section"].replace("`", "")
    for section in app.env.get_doctree(name).findall(nodes.section):
        title = (
            section.next_node(nodes.title).astext().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
        )
        if title == heading:
            there = "" if name == page else app.builder.get_relative_uri(page, name)
            return f"{there}#{section['ids'][0]}"
    logger.warning("%s: %s has no section %r for question %r", page, name, heading, question["id"])
    return "#"

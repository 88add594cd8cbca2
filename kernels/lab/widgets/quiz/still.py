"""The questions; each option unfolds what there is to say about it, without a script."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any, NamedTuple


class Questions(NamedTuple):
    """The questions of a quiz, as `kernels.lab.widgets.quiz.load` returns them.

    A book adds the ``href`` of the section that answers a question.
    """

    questions: list[dict[str, Any]]

    def html(self) -> str:
        items = []
        for question in self.questions:
            options = "".join(
                f"<details><summary>{_words(option['text'])}</summary>"
                f"<p>{_verdict(option)}{'' if option['right'] else _again(question)}</p></details>"
                for option in question["options"]
            )
            items.append(f"<li><p>{_words(question['ask'])}</p>{options}</li>")
        return f"<ol>{''.join(items)}</ol>"


def still(state: dict[str, Any]) -> Iterable[Questions]:
    yield Questions(state["questions"])


def _verdict(option: dict[str, Any]) -> str:
    return f"{'Right.' if option['right'] else 'Not so.'} {_words(option['why'])}"


def _again(question: dict[str, Any]) -> str:
    """Where to read what answers a question."""
    heading = _words(question["section"])
    if "href" in question:
        heading = f'<a href="{escape(question["href"])}">{heading}</a>'
    return f' <span class="again">Read again: {heading}</span>'


def _words(text: str) -> str:
    """Text as HTML; what stands between backticks is code."""
    parts = (escape(part) for part in text.split("`"))
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))

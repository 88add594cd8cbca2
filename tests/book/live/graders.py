"""Judge answers in the page's Python: ``python -m tests.book.live.graders`` takes them all."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from tests.lab.exercises.answers import KERNELS, Answer, options, right, wrong

JUDGE = """
import json
from kernels.lab.exercises import judge
found = judge({exercise!r}, {text!r}, **{options!r})
print(json.dumps([found.right, found.kind.name if found.kind else ""]))
"""
RUN = """async (source) => {
  const page = await livePage(), said = [];
  page.backend.hears = (message) => said.push(message);
  await page.backend.run(1, source);
  return said;
}"""


def start(page) -> None:
    """Start the Python of an open page."""
    page.locator("[data-do=run]").first.click()
    page.wait_for_function("document.querySelector('.run-bar').dataset.done > 0")


def verdict(page, answer: Answer) -> tuple[bool, str]:
    """Whether the page's Python finds an answer right, and the kind of its mistake."""
    source = JUDGE.format(
        exercise=answer.exercise, text=answer.text, options=options(answer.exercise)
    )
    said = page.evaluate(RUN, source)
    if said[-1]["type"] != "stream":
        return False, f"{said[-1].get('name')}: {said[-1].get('value')}"
    return tuple(json.loads("".join(each["text"] for each in said)))


def disagreements(page, answers: Iterable[Answer]) -> dict[str, str]:
    """Answers that get another verdict in the page than they should."""
    found = {}
    for answer in answers:
        accepted, kind = verdict(page, answer)
        wanted = [each.name for each in answer.kinds]
        if accepted is bool(wanted) or (wanted and kind not in wanted):
            found[answer.id] = f"{accepted}, {kind}; wanted {wanted or 'right'}"
    return found


def main() -> None:
    """Judge every answer, and print those that are judged otherwise."""
    from playwright.sync_api import sync_playwright

    from tests.book.live.pages import notebooks, opened

    with sync_playwright() as playwright:
        from book.browser import launch

        book: Path = notebooks.ROOT / "_build" / "html"
        with opened(launch(playwright), book, "10-practice") as page:
            start(page)
            for name in KERNELS:
                answers = [*right(name), *wrong(name)]
                found = disagreements(page, answers)
                print(f"{name:16} {len(answers):3} answers, {len(found)} otherwise", flush=True)
                for what, told in found.items():
                    print(f"    {what}: {told}", flush=True)


if __name__ == "__main__":
    main()

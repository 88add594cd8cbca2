"""Exercises are judged in the page as at home: for each kernel its solution and two wrong ones."""

from __future__ import annotations

import pytest

from tests.book.live.graders import RUN, disagreements, start
from tests.book.live.pages import opened
from tests.lab.exercises.answers import KERNELS, right, wrong


@pytest.fixture(scope="module")
def page(browser, live_book):
    with opened(browser, live_book, "10-practice") as page:
        start(page)
        yield page


@pytest.mark.parametrize("name", KERNELS)
def test_verdicts_are_those_at_home(page, name):
    bad = wrong(name)
    assert disagreements(page, [right(name)[0], bad[0], bad[len(bad) // 2]]) == {}


def test_a_try_is_kept_over_a_reload(page):
    answer = wrong("tiled")[0]
    page.evaluate(RUN, f"from kernels.lab.exercises import check\ncheck('tiled', {answer.text!r})")
    page.reload()
    start(page)
    tries = "from kernels.lab.exercises.keeping import record\nrecord().entries['tiled'].tries"
    (shown,) = page.evaluate(RUN, tries)
    assert shown["data"]["text/plain"] == "1"

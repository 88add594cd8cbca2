"""Drawn pictures are written in few bytes, and look as they did."""

import pytest
from bs4 import BeautifulSoup

from book.pages import slim
from chapters.ch11_at_work import drawings
from kernels.lab import plots


@pytest.mark.parametrize(
    ("long", "short"),
    [
        ("M 1.50 2 \nL 3.00 2 \nL 3.00 4.5 \nL 1.50 2 \nz\n", "M1.5 2h1.5v2.5l-1.5 -2.5z"),
        ("M 0 0 \nL 1 0 \nz\nM 5 1 \nL 6 1 \nz\n", "M0 0h1zm5 1h1z"),
        ("M 0 0 \nL 1 0 \nM 5 1 \nL 5 1 \n", "M0 0h1m4 1h0"),
        ("M 1 1 \nQ 2 2 3 1 \nL 3 0 \nC 1 2 3 4 5 6 \nL 5 7 \n", "M1 1Q2 2 3 1v-1C1 2 3 4 5 6v1"),
    ],
)
def test_a_path_says_how_far_its_lines_go(long, short):
    assert slim.shorten(long) == short


def test_a_picture_says_nothing_that_the_style_sheet_says():
    fig = drawings.late_error()
    body = BeautifulSoup(plots.Picture(fig, "what it shows")._repr_html_(), "html.parser")
    before, words = len(str(body)), body.svg.get_text(" ", strip=True)
    slim.dress(body)
    assert len(str(body)) < 0.6 * before
    assert body.svg["aria-label"] == "what it shows" and body.svg.get_text(" ", strip=True) == words
    assert "font-family" not in str(body) and not body.select("style, g:not([clip-path])")


def test_the_arcs_of_hatches_stay():
    arcs = "M0 1a1 1 0 1 0 0 -2a1 1 0 1 0 0 2z"
    page = f'<figure class="drawn"><svg><pattern><path d="{arcs}"></path></pattern></svg></figure>'
    body = BeautifulSoup(page, "html.parser")
    slim.dress(body)
    assert body.path["d"] == arcs

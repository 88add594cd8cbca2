"""A core page opens with its idea and soon shows a picture, on a desk and on a telephone."""

from __future__ import annotations

import pytest

from kernels.lab.pages import address_of, is_deeper
from tests.pages import CHAPTERS, settle

SCREENS = [(1280, 800), (390, 844)]
#: Where the first paragraph ends, and by where a third of the first picture is seen, in pixels.
OPENING = """() => {
  delete document.documentElement.dataset.parts;
  const place = (each) => each.getBoundingClientRect();
  const idea = place(document.querySelector(".bd-article > section > p")).bottom;
  const drawn = "figure.drawn, .bd-article .widget:not([data-kind=Quiz])";
  const seen = [...document.querySelectorAll(drawn)].filter((each) => each.checkVisibility());
  const picture = seen.find((each) => place(each).height > 60);
  return [idea + scrollY, place(picture).top + place(picture).height / 3 + scrollY];
}"""


@pytest.mark.parametrize("name", [name for name in CHAPTERS if not is_deeper(name)])
def test_the_idea_is_on_the_first_screen_and_a_picture_on_the_second(browser, book, name):
    page = browser.new_page()
    page.goto((book / f"{address_of(name)}.html").as_uri())
    for width, height in SCREENS:
        page.set_viewport_size({"width": width, "height": height})
        settle(page)
        idea, picture = page.evaluate(OPENING)
        assert idea <= height, f"at {width} × {height}, the first paragraph ends at {idea:.0f}"
        assert picture <= 2 * height, (
            f"at {width} × {height}, a third of the first picture ends at {picture:.0f}"
        )
    page.close()

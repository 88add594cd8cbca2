"""Where a reader is: the list follows, a phone's bar says it, keys turn pages, the plan is lit."""

from __future__ import annotations

import pytest

from book.pages import floorplan
from kernels.lab.pages import settings
from tests.pages import CHAPTERS, lay_out

PAGE = "chapters/ch04_tiled/04-tiled"
CURRENT = "document.querySelector('#page-toc [aria-current]')"


@pytest.fixture
def opened(browser, book):
    pages = []

    def go(name=PAGE, **options):
        pages.append(browser.new_page(reduced_motion="reduce", **options))
        pages[-1].goto((book / f"{name}.html").as_uri())
        lay_out(pages[-1])
        return pages[-1]

    yield go
    for page in pages:
        page.close()


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 0.9])
def test_the_list_follows_and_keeps_in_view(opened, share):
    page = opened(viewport={"width": 1280, "height": 500})
    page.evaluate(f"scrollTo(0, {share} * document.documentElement.scrollHeight)")
    page.wait_for_function(CURRENT)
    link = page.locator("#page-toc :is([aria-current], .active)")
    assert link.count() == 1
    heading = page.locator(link.get_attribute("href").replace("#", "[id='") + "']").first
    assert heading.bounding_box()["y"] <= 0.3 * 500 + 1
    box = link.bounding_box()
    assert 0 <= box["y"] and box["y"] + box["height"] <= 500


def test_the_bar_of_a_phone_says_where(opened):
    page = opened(viewport={"width": 390, "height": 800})
    assert not page.locator(".whereabouts").is_visible()
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)")
    page.wait_for_function("document.querySelector('.whereabouts').textContent")
    chapter, section, share = page.locator(".whereabouts > span").all_inner_texts()
    assert chapter == "4" and section
    assert 40 < int(share.split()[-2]) < 60


def test_the_bar_of_a_phone_shows_both_figures_of_a_number(opened):
    page = opened("chapters/ch12_elsewhere/12-elsewhere", viewport={"width": 390, "height": 800})
    page.evaluate("document.querySelector('#a-matrix-times-a-vector').scrollIntoView()")
    page.wait_for_function("document.querySelector('.whereabouts > .section').offsetWidth > 100")
    assert page.locator(".whereabouts > span").first.inner_text() == "12"
    assert page.evaluate(
        "(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)"
        "(document.querySelector('.whereabouts > span'))"
    )


def test_arrow_keys_turn_pages_but_not_from_a_field(opened):
    page = opened()
    page.focus(".search-button-field")
    page.keyboard.press("ArrowRight")
    assert PAGE in page.url
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**/04-tiled-deeper.html")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**/04-tiled.html")


def test_every_chapter_has_its_place():
    assert {settings(name)["place"] for name in CHAPTERS} == set(floorplan.PLACES)


@pytest.mark.parametrize(("width", "shown"), [(390, "narrow"), (1280, "wide")])
def test_the_plan_is_drawn_for_its_width(opened, width, shown):
    page = opened(viewport={"width": width, "height": 800})
    drawn = page.locator(".floor svg:visible")
    assert drawn.count() == 1 and shown in drawn.get_attribute("class")
    assert drawn.locator(".lit").count() and drawn.bounding_box()["y"] < 800


def test_a_chapter_shows_how_much_of_it_is_done(opened):
    page = opened()
    link = page.locator(".bd-sidebar-primary nav a.current").first
    assert "begun" not in link.get_attribute("class")
    page.locator("input[data-exercise]").first.check()
    page.wait_for_function("document.querySelector('.bd-sidebar-primary a.current.begun')")
    assert link.get_attribute("title").endswith("% of its exercises and questions done")


def test_a_chapter_opens_with_its_idea(opened):
    page = opened(viewport={"width": 390, "height": 844})
    first = page.locator(".bd-article > section > p:not(:has(a))").first
    assert first.bounding_box()["y"] < 844
    terms = page.locator("details.terms")
    assert "45 minutes" in terms.locator("summary").first.inner_text()
    assert not terms.locator("p").first.is_visible()
    assert "# set-up" in terms.locator(".cell pre").first.text_content()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert terms.locator("p").first.is_visible()


@pytest.mark.parametrize(
    ("name", "stops", "there"),
    [("index", 1, "a.start"), (PAGE, 1, ".live-bar *"), (PAGE, 2, "#first-cell *")],
)
def test_keys_reach_the_text_or_a_cell_in_a_few_steps(opened, name, stops, there):
    page = opened(name, viewport={"width": 1280, "height": 800})
    for key in (*["Tab"] * stops, "Enter", "Tab"):
        page.keyboard.press(key)
    assert page.evaluate(f"document.activeElement.matches('{there}')")


def test_no_listing_scrolls_for_a_few_pixels(opened):
    page = opened(viewport={"width": 1280, "height": 800})
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    lacking = """[...document.querySelectorAll(".cell pre")].filter(
        ({ scrollWidth, clientWidth }) =>
            scrollWidth > clientWidth && scrollWidth <= clientWidth + 32).length"""
    page.wait_for_function(f"{lacking} === 0")
    assert page.locator(".cell pre[style*=font-size]").count()


def test_the_bar_of_a_phone_is_as_tall_as_what_a_thumb_hits(opened):
    page = opened(viewport={"width": 390, "height": 844})
    assert page.locator(".bd-header-article").bounding_box()["height"] == 44
    boxes = [
        each.bounding_box()
        for each in page.locator(".bd-header-article button").all()
        if each.is_visible()
    ]
    assert len(boxes) == 4
    assert all(min(box["width"], box["height"]) >= 44 for box in boxes)
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes)


def test_an_address_that_is_not_there_has_a_page(book):
    page = (book / "404.html").read_text("utf-8")
    assert "<base href=" in page.partition("<script")[0] and "No page here" in page

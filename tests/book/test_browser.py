"""Pages in a real browser: silent, within their width, searchable; and code that runs in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kernels.lab import widgets
from kernels.lab.pages import address_of, has_quiz
from tests.colours import contrast
from tests.lab.widgets import keys
from tests.pages import CHAPTERS, MOUNT, PAGES, lay_out, mount_all, settle

FIGURES = ".widget:not([data-kind='Quiz'], [data-kind='Micro'])"
SMALL = ".widget[data-kind='Micro']"
#: A page with two figures far from each other, a roofline and what a warp touches.
FIGURE_AND_OTHERS = "chapters/ch03_naive/03-naive"
SECTIONS = ".bd-article > section > section"
OVERFLOW = "document.documentElement.scrollWidth - innerWidth"
#: The accessibility engine.
AXE = Path(__file__).parent / "vendor" / "axe-core" / "axe.min.js"
RUN_AXE = """async () => {
    const rules = { "target-size": { enabled: true } }; // new in WCAG 2.2, so axe wants to be asked
    const options = { resultTypes: ["violations"], rules, preload: false }; // from a file none can
    const { violations } = await axe.run(document, options);
    const where = ({ target }) => target.join(" ");
    // A section that the browser still passes over has no places: it is judged once it is laid out.
    const passedOver = (node) => {
        const found = document.querySelector(where(node));
        return found && !found.checkVisibility({ contentVisibilityAuto: true });
    };
    return violations.flatMap(({ id, nodes }) => nodes.filter((node) => !passedOver(node))
        .map((node) => `${id}: ${where(node)}`));
}"""
SHIFTS = """window.moved = 0;
new PerformanceObserver((list) => list.getEntries().forEach(({ value, sources }) => {
    const list = ({ node }) => node?.parentElement?.closest(".bd-sidebar-secondary"); // it unfolds
    if (!sources.every(list)) moved += value;
})).observe({ type: "layout-shift", buffered: true });"""


class Listener:
    """Notes what a page says and asks for."""

    def __init__(self, page) -> None:
        self.said, self.asked = [], []
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("request", lambda request: self.asked.append(request.url))

    @property
    def errors(self) -> list[str]:
        return [line for line in self.said if line.startswith(("error", "warning"))]

    @property
    def foreign(self) -> list[str]:
        ours = ("file:", "data:", "blob:", "http://127.0.0.1:", "ws://127.0.0.1:")
        return [url for url in self.asked if not url.startswith(ours)]


def kinds(book, name: str) -> list[str]:
    """The widgets that a page shows."""
    return re.findall(r'data-kind="(\w+)"', (book / f"{name}.html").read_text("utf-8"))


def test_every_kind_of_widget_is_used_on_some_page(book):
    shown = {name: kinds(book, address_of(name)) for name in CHAPTERS}
    used = {kind for found in shown.values() for kind in found}
    assert used == {*widgets.__all__}
    assert [name for name in CHAPTERS if "Quiz" in shown[name]] == list(filter(has_quiz, CHAPTERS))


@pytest.mark.parametrize(("width", "mode"), keys.PROFILES)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_read_to_its_end_and_used_by_keys(browser, book, name, width, mode):
    """One visit: it scrolls and nothing moves, fits, pleases axe, and its widgets take keys."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=mode)
    listener = Listener(page)
    page.add_init_script(SHIFTS)
    page.goto((book / f"{name}.html").as_uri(), wait_until="load")
    assert page.get_attribute("html", "data-theme") == mode
    scroll_through(page)
    if name in map(address_of, CHAPTERS):
        assert page.evaluate("moved") < 0.005
    assert page.locator(".widget:not([data-mounted])").count() == 0
    lay_out(page)
    assert page.evaluate(OVERFLOW) <= 0
    page.add_script_tag(path=AXE)
    page.evaluate("scrollTo(0, 0)")  # where the header covers nothing
    assert page.evaluate(RUN_AXE) == []
    play(page, kinds(book, name))
    assert page.evaluate(OVERFLOW) <= 0
    assert (listener.errors, listener.foreign) == ([], [])
    page.close()


def scroll_through(page) -> None:
    """Turn the wheel to the end of a page, as a reader does."""
    page.mouse.move(page.viewport_size["width"] / 2, 450)
    rest = "document.documentElement.scrollHeight - innerHeight - scrollY"
    while page.evaluate(rest) > 2:
        page.mouse.wheel(0, 850)
        settle(page)


def play(page, shown: list[str]) -> None:
    """Use each kind of widget of a page by keys alone, as it stands there."""
    page.locator(".guess .show").evaluate_all("(all) => all.forEach((show) => show.click())")
    for kind in shown:
        page.evaluate("document.querySelectorAll('details.hide').forEach((d) => { d.open = true })")
        keys.tests_of(kind).by_keys(page.locator(f".widget[data-kind={kind}] .tile-widget").first)
    assert page.locator(".widget .tile-widget").count() == len(shown)


def test_axe_finds_nothing_before_most_of_a_page_is_laid_out(browser, book):
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto((book / f"{FIGURE_AND_OTHERS}.html").as_uri())
    page.add_script_tag(path=AXE)
    assert page.evaluate(RUN_AXE) == []
    page.close()


def test_axe_finds_a_mistake(browser):
    page = browser.new_page()
    page.set_content("<html lang='en'><title>t</title><main><h1>t</h1><img src='data:,'></main>")
    page.add_script_tag(path=AXE)
    assert page.evaluate(RUN_AXE) == ["image-alt: img"]
    page.close()


def test_a_stored_widget_reacts_without_a_kernel(browser, small_book):
    page = browser.new_page()
    listener = Listener(page)
    page.goto((small_book / "page.html").as_uri())
    page.wait_for_selector(".widget[data-mounted]")
    thread, formula = page.get_by_role("slider", name="Thread"), page.locator(".widget .formula")
    assert "1 * 32 + 5 = 37" in formula.inner_text()
    thread.fill("38")
    formula.filter(has_text="1 * 32 + 6 = 38").wait_for()
    thread.press("ArrowRight")
    formula.filter(has_text="1 * 32 + 7 = 39").wait_for()
    assert (listener.errors, listener.foreign) == ([], [])
    page.close()


def test_without_scripts_the_page_says_what_is_missing(browser, small_book):
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto((small_book / "page.html").as_uri())
    assert "needs JavaScript" in page.inner_text(".widget")
    assert page.inner_text(".cell_output >> nth=0").strip() == "48 elements"
    assert not page.is_visible(".live-bar li")
    page.click(".live-bar summary")
    assert "make serve" in page.inner_text(".live-bar li")
    assert page.locator(".live-bar button").count() == 0
    page.context.close()


def check_stills(page, book, name: str, row: str) -> None:
    """Open a chapter and see its widgets' numbers, as tables that fit."""
    page.goto((book / f"{address_of(name)}.html").as_uri())
    lay_out(page)
    assert page.locator(FIGURES).count()
    for widget in page.locator(FIGURES).all():
        assert "needs JavaScript" in widget.inner_text()
        assert widget.locator("table").first.is_visible()
        widget.locator("img").scroll_into_view_if_needed()
        page.wait_for_function(
            "(image) => image.naturalWidth > 300", arg=widget.locator("img").element_handle()
        )
    for small in page.locator(SMALL).all():
        assert small.locator("svg").is_visible() and small.locator(".say p").first.is_visible()
        assert not small.locator("button").is_visible()
    quiz = page.locator(".widget[data-kind='Quiz']")
    quiz.locator("summary").first.click()
    assert quiz.locator("details[open] p").is_visible()
    assert row in page.inner_text(f"{FIGURES} > .widget-fallback >> nth=0").replace("\xa0", " ")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


STILLS = [
    ("01-hardware", "blocks on the GPU at once\t1,056"),
    ("02-vector-add", "threads the guard stops\t14"),
    ("03-naive", "tiled 32, CUDA C++"),
    ("04-tiled", "global loads\t3,072\t24,576"),
]


@pytest.mark.parametrize(("name", "row"), STILLS)
def test_without_scripts_widgets_are_tables(browser, book, name, row):
    page = browser.new_context(
        java_script_enabled=False, viewport={"width": 390, "height": 900}
    ).new_page()
    check_stills(page, book, name, row)
    page.context.close()


def test_in_an_old_browser_widgets_are_tables(browser, book):
    page = browser.new_page(viewport={"width": 390, "height": 900})
    # A browser that does not read the language of the scripts: the parser refuses them whole.
    page.add_init_script("window.Function = () => { throw new SyntaxError(); }")
    for script in ("widgets", "live"):
        page.route(f"**/book/{script}.js*", lambda route: route.fulfill(body="import(?."))
    check_stills(page, book, *STILLS[3])
    assert page.locator(".live-bar button").count() == 0
    page.close()


def test_a_widget_whose_script_is_lost_stays_a_picture_with_its_numbers(browser, book):
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.route("**/book/widgets.js*", lambda route: route.abort())
    check_stills(page, book, *STILLS[3])
    page.close()


def test_a_widget_whose_own_script_is_lost_says_so_and_the_others_work(browser, book):
    page = browser.new_page()
    page.route("**/widgets/Roofline.js*", lambda route: route.abort())
    page.goto((book / f"{FIGURE_AND_OTHERS}.html").as_uri())
    lay_out(page)
    page.evaluate(MOUNT)
    lost = page.locator(".widget[data-kind=Roofline][data-failed]")
    assert "This figure could not be drawn" in lost.inner_text()
    assert lost.locator("img").is_visible() and lost.locator("td").first.is_visible()
    assert page.locator(".widget[data-mounted] .micro").count() == 3
    page.close()


def test_the_dark_is_dark_without_scripts(browser, book):
    colours = {}
    for mode in ("light", "dark"):
        page = browser.new_context(java_script_enabled=False, color_scheme=mode).new_page()
        page.goto((book / "chapters/ch04_tiled/04-tiled.html").as_uri())
        look = """(selector) => {
            const { color, backgroundColor } = getComputedStyle(document.querySelector(selector));
            return [color, backgroundColor];
        }"""
        colours[mode] = [page.evaluate(look, each) for each in ("body", ".highlight .kn")]
        page.context.close()
    assert colours["light"][0] == ["rgb(28, 34, 43)", "rgb(253, 252, 249)"]
    assert colours["dark"][0] == ["rgb(227, 230, 234)", "rgb(20, 23, 28)"]
    assert colours["light"][1] != colours["dark"][1]


def open_chapter(browser, book, name: str = "chapters/ch04_tiled/04-tiled"):
    """A chapter, all of it laid out, without its widgets."""
    page = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page.goto((book / f"{name}.html").as_uri())
    lay_out(page)
    return page


def test_a_widget_is_mounted_when_it_comes_near(browser, book):
    page = open_chapter(browser, book, FIGURE_AND_OTHERS)
    assert page.locator(".widget[data-mounted]").count() == 0
    first, second = page.locator(FIGURES).first, page.locator(".widget").last
    first.scroll_into_view_if_needed()
    page.wait_for_selector(".widget[data-mounted] .roofline")
    assert second.get_attribute("data-mounted") is None
    assert first.locator(".widget-fallback").count() == 0
    page.close()


def test_keys_lead_into_a_widget_that_is_not_mounted_yet(browser, book):
    page = open_chapter(browser, book)
    # Focus alone, as the next stop of the Tab key: no scrolling brings the widget near before.
    page.evaluate(
        "document.querySelector('.widget-fallback button').focus({ preventScroll: true })"
    )
    page.wait_for_selector(".widget[data-mounted] .tile-player", state="attached")
    assert page.evaluate("document.activeElement.closest('.tile-player') !== null")
    page.close()


def test_words_and_numbers_of_a_widget_are_found_before_it_is_mounted(browser, book):
    page = open_chapter(browser, book)
    assert page.evaluate("find('blocks per SM')")
    page.wait_for_selector(".widget[data-mounted] .tile-player")
    page.close()


STILL = """() => new Promise((done) => {
    let last = NaN, frames = 0;
    const look = () => {
        frames = scrollY === last ? frames + 1 : 0;
        last = scrollY;
        if (frames === 20) done();
        else requestAnimationFrame(look);
    };
    look();
})"""


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("way", ["address", "contents"])
def test_a_jump_ends_at_its_heading(browser, book, way, width):
    """Whatever has yet to be laid out or mounted above it."""
    address = (book / "chapters/ch04_tiled/04-tiled.html").as_uri()
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(address)
    names = page.eval_on_selector_all(SECTIONS, "(all) => all.map((section) => section.id)")
    for name in names[5:-2:2]:  # the page goes on after them
        page.goto("about:blank")
        page.goto(f"{address}#{name}" if way == "address" else address)
        if way == "contents":
            link = page.locator(f"#page-toc a[href='#{name}']").first
            link.dispatch_event("click")
        page.evaluate(STILL)
        top = page.evaluate(
            """(name) => document.getElementById(name).getBoundingClientRect().top
            - parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop)""",
            name,
        )
        assert abs(top) < 2, name
    page.close()


def test_most_of_a_page_waits_and_none_is_forgotten(browser, book):
    page = browser.new_page()
    page.add_init_script("window.idle = []; window.requestIdleCallback = (f) => idle.push(f)")
    page.goto((book / f"{FIGURE_AND_OTHERS}.html").as_uri())
    work = "(() => { let n = 0; for (; idle.length; n++) idle.shift()(); return n; })()"
    passed_over = """(all) => all.filter((part) =>
        !part.closest("details:not([open])")
        && !part.checkVisibility({ contentVisibilityAuto: true })
    ).length"""
    parts = ".bd-article section, .bd-article div.cell"
    assert page.eval_on_selector_all(parts, passed_over) > page.locator(parts).count() / 2
    fit = "pre:not([tabindex='0'])"  # found to fit, so laid out
    assert not page.eval_on_selector_all(fit, passed_over)
    few = page.locator(fit).count()
    assert page.evaluate("document.documentElement.dataset.parts") == ""
    page.evaluate(work)  # whatever else waits for an idle moment
    page.mouse.wheel(0, 1)
    page.wait_for_function("idle.length")
    assert page.evaluate(work) >= page.locator(SECTIONS).count() - 1  # one at a time
    assert page.evaluate("document.documentElement.dataset.parts === undefined")
    assert page.eval_on_selector_all(parts, passed_over) == 0
    page.wait_for_function(f'document.querySelectorAll("{fit}").length > {few}')
    page.close()


FORMS = "(all) => all.map((form) => form.closest('.predict').id)"


@pytest.mark.parametrize("idle", [True, False])
def test_a_form_is_there_once_its_section_is_laid_out(browser, book, idle):
    page = browser.new_page()
    if not idle:
        page.add_init_script("window.requestIdleCallback = () => {}")
    page.goto((book / "chapters/ch07_register_tiling/07-register-tiling.html").as_uri())
    every = page.eval_on_selector_all(".predict", "(all) => all.map(({ id }) => id)")
    first = page.eval_on_selector_all("form.guess", FORMS)
    assert first == every[: len(first)]
    assert len(first) < len(every) / 2
    if idle:
        lay_out(page)
        assert page.eval_on_selector_all("form.guess", FORMS) == every
    else:
        page.locator(f"#{every[-1]}").evaluate("(box) => box.scrollIntoView()")
        page.locator(f"#{every[-1]} form").wait_for(state="visible")
    page.close()


def test_on_paper_a_chapter_has_its_numbers_and_no_navigation(browser, book):
    page = browser.new_page(viewport={"width": 720, "height": 1000})
    page.goto((book / f"{FIGURE_AND_OTHERS}.html").as_uri())
    lay_out(page)
    page.emulate_media(media="print")
    assert page.locator(FIGURES).count() == 1
    for still in page.locator(FIGURES).all():  # of what was not mounted, its picture and numbers
        page.wait_for_function(
            "(image) => image.naturalWidth > 300", arg=still.locator("img").element_handle()
        )
        assert still.locator("img").is_visible() and still.locator("td").first.is_visible()
    page.emulate_media(media="screen")
    mount_all(page)
    page.emulate_media(media="print")
    # One evaluation finds and reads them: a widget that paper makes narrower redraws its table.
    torn = """() => [...document.querySelectorAll(".tile-widget, .bd-article :is(figure, table)")]
        .filter((part) => getComputedStyle(part).breakInside !== "avoid")
        .map((part) => part.outerHTML.slice(0, 80))"""
    assert page.evaluate(torn) == []
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    for hidden in (".bd-sidebar-primary", ".bd-header-article", ".live-bar", ".prev-next-area"):
        assert not page.locator(hidden).first.is_visible(), hidden
    assert page.locator(".widget details[open] td").count() > 5
    code = "(all) => all.filter((pre) => pre.scrollWidth > pre.clientWidth).length"
    assert page.eval_on_selector_all(".bd-article .highlight pre", code) == 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator(".widget details[open]").count() == 0
    page.close()


def rgb(colour: str) -> list[float]:
    """Red, green and blue, from 0 to 1, of a colour as a browser computes it: ``rgb(…)``."""
    return [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_link_to_the_glossary_is_calm_and_still_a_link(browser, book, scheme):
    page = browser.new_page(color_scheme=scheme, viewport={"width": 1280, "height": 900})
    page.goto((book / "chapters/ch04_tiled/04-tiled.html").as_uri())
    look = """(link) => {
        const own = getComputedStyle(link), text = getComputedStyle(link.parentElement);
        const { textDecorationLine: line, textDecorationStyle: style, textDecorationColor } = own;
        return [own.color === text.color, line, style, textDecorationColor];
    }"""
    link = page.locator(".bd-article a[href*='glossary.html#']").first
    link.scroll_into_view_if_needed()
    page.mouse.move(0, 0)
    *calm, dots = link.evaluate(look)
    assert calm == [True, "underline", "dotted"]
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert contrast(rgb(dots), rgb(paper)) >= 4.5
    link.hover()
    assert link.evaluate(look)[:3] == [False, "underline", "solid"]
    other = page.locator(".bd-article p a[href*='03-naive.html']").first
    assert other.evaluate(look)[:3] == [False, "underline", "solid"]
    page.mouse.move(0, 0)
    page.keyboard.press("Tab")
    link.focus()
    outline = "(link) => getComputedStyle(link).outlineStyle"
    assert link.evaluate(outline) == "solid"
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_page_knows_light_from_dark_before_the_theme_runs(browser, book, scheme):
    page = browser.new_page(color_scheme=scheme)
    page.route("**/pydata-sphinx-theme.js", lambda route: route.abort())
    page.goto((book / "index.html").as_uri())
    assert page.evaluate("document.documentElement.dataset.theme") == scheme
    page.close()


@pytest.mark.parametrize(
    ("term", "chapter"), [("barrier", "04-tiled"), ("occupancy", "01-hardware")]
)
def test_search_finds_terms_in_chapters(browser, book, term, chapter):
    page = browser.new_page()
    page.goto((book / "search.html").as_uri() + f"?q={term}")
    page.wait_for_selector(".bd-search-container .found a")
    found = page.eval_on_selector_all(".found a", "links => links.map((a) => a.href)")
    assert any(chapter in address for address in found)
    page.close()

"""What axe, the accessibility engine, says of the pages with their widgets mounted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages import PAGES, mount_all

AXE = Path(__file__).parent / "vendor" / "axe-core" / "axe.min.js"
RUN = """async () => {
    const rules = { "target-size": { enabled: true } }; // new in WCAG 2.2, so axe wants to be asked
    const { violations } = await axe.run(document, { resultTypes: ["violations"], rules });
    const where = ({ target }) => target.join(" ");
    // A section that the browser still passes over has no places: it is judged once it is laid out.
    const passedOver = (node) => {
        const found = document.querySelector(where(node));
        return found && !found.checkVisibility({ contentVisibilityAuto: true });
    };
    return violations.flatMap(({ id, nodes }) => nodes.filter((node) => !passedOver(node))
        .map((node) => `${id}: ${where(node)}`));
}"""


@pytest.mark.parametrize(("width", "mode"), [(1280, "light"), (390, "dark")])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(browser, book, name, width, mode):
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=mode)
    page.goto((book / f"{name}.html").as_uri())
    page.add_script_tag(path=AXE)
    if width == 390:  # as it comes, when most of it is not laid out yet
        assert page.evaluate(RUN) == []
    mount_all(page)
    assert page.evaluate(RUN) == []
    page.close()


def test_axe_finds_a_mistake(browser):
    page = browser.new_page()
    page.set_content("<html lang='en'><title>t</title><main><h1>t</h1><img src='data:,'></main>")
    page.add_script_tag(path=AXE)
    assert page.evaluate(RUN) == ["image-alt: img"]
    page.close()

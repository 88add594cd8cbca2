"""The pictures of the widgets for readers without scripts: there, drawn today, and well-formed."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from book import pictures


def test_every_picture_is_what_its_widget_draws(browser, book):
    drawn = pictures.draw(browser, book)
    kept = {path.name: path.read_text("utf-8") for path in pictures.FOLDER.glob("*.svg")}
    assert len(drawn) >= 6
    differ = sorted(name for name in {*drawn, *kept} if drawn.get(name) != kept.get(name))
    assert differ == [], "run `make pictures`"


def test_pictures_are_svg_that_asks_for_nothing_and_runs_nothing():
    found = sorted(pictures.FOLDER.glob("*.svg"))
    assert len(found) >= 6
    for path in found:
        root = ElementTree.parse(path).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        names = [name for each in root.iter() for name in each.attrib]
        assert not [name for name in names if name.startswith("on") or name.endswith("href")]
        text = path.read_text("utf-8")
        identifiers = re.findall(r' id="([^"]+)"', text)
        assert len(identifiers) == len(set(identifiers))
        assert set(re.findall(r"url\(&quot;#([^&]+)|url\(#([^)]+)\)", text)) <= {
            pair for name in identifiers for pair in ((name, ""), ("", name))
        }

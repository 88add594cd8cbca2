"""What stands in for a widget where no script runs holds the numbers that the script shows."""

import pytest
from bs4 import BeautifulSoup

from kernels.lab import widgets
from kernels.lab.widgets.stills import still
from tests.lab.widgets import keys

#: Those whose numbers are a table.
KINDS = [kind for kind in widgets.__all__ if kind not in ("Quiz", "Micro")]
SETTINGS = [settings for kind in KINDS for settings in keys.tests_of(kind).STILLS]


def cells(row) -> list[str]:
    return ["".join(cell.text.split()) for cell in row.select("th, td")]


def tables(widget) -> list[list[str]]:
    """The rows of a widget's tables, spaces left out."""
    markup = BeautifulSoup(still(type(widget).__name__, widget.get_state()), "html.parser")
    return [cells(row) for row in markup.select("tbody tr")]


def test_of_every_widget_there_are_stills():
    assert {type(widget).__name__ for widget in SETTINGS} == {*KINDS}
    assert still("Stranger", {}) == ""


@pytest.mark.parametrize("widget", SETTINGS, ids=repr)
def test_its_numbers_are_those_of_the_script(mounted, widget):
    markup = BeautifulSoup(mounted(widget).page.content(), "html.parser")
    drawn = [cells(row) for row in markup.select(".tile-widget tbody tr")]
    told = "".join("".join(caption.text.split()) for caption in markup.select("caption"))
    held = tables(widget)
    assert len(held) > 4
    for name, *values in held:
        if isinstance(widget, widgets.Roofline) and name.endswith(("datasheet", "recorded")):
            assert all(value in told for value in (name, *values)), (name, values)
        else:
            rows = [row for row in drawn if name.partition(",")[0] in row[0]]
            assert any(set(values) <= set(row) for row in rows), (name, values)


def test_recorded_speeds_are_in_the_still():
    player = widgets.TilePlayer()
    rows = player.speeds[player.gpu]
    recorded = {(str(row["tile"]), f"{row['gflops'] / 1e3:.2f}TFLOP/s") for row in rows}
    assert recorded and recorded <= {(row[0], row[-1]) for row in tables(player)}

"""What stands in for a widget where no script runs holds the numbers that the script shows."""

import pytest
from bs4 import BeautifulSoup

from kernels.lab import widgets
from kernels.lab.widgets.stills import TABLES, still

SETTINGS = [
    widgets.Hierarchy(gpu="h200", grid=(1057, 3), block=(17, 5)),
    widgets.Launch(n=1003, block=97),
    widgets.Launch(n=50, block=33, guard=False),
    widgets.Access(side=16, M=29, N=41, K=13),
    widgets.Banks(side=16, pad=1),
    widgets.Banks(access="stride", stride=12),
    widgets.Roofline(intensity=8.0),
    widgets.Roofline(counted="compulsory"),
    widgets.TilePlayer(M=13, N=7, K=19, tile=8, speeds=[]),
    widgets.TilePlayer(M=13, N=7, K=19, tile=5, speeds=[]),
]


def cells(row) -> list[str]:
    return ["".join(cell.text.split()) for cell in row.select("th, td")]


def tables(widget) -> list[list[str]]:
    """The rows of a widget's tables, spaces left out."""
    markup = BeautifulSoup(still(type(widget).__name__, widget.get_state()), "html.parser")
    return [cells(row) for row in markup.select("tbody tr")]


def test_every_widget_has_a_still():
    assert sorted([*TABLES, "Quiz"]) == sorted(widgets.__all__)
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
    recorded = {(str(row["tile"]), f"{row['gflops'] / 1e3:.2f}TFLOP/s") for row in player.speeds}
    assert recorded and recorded <= {(row[0], row[-1]) for row in tables(player)}

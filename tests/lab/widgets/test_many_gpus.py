"""ManyGpus: its schedules and times against `kernels.distributed`, and its picture in a browser."""

from itertools import product

import pytest
import traitlets

from chapters.ch09_many_gpus.widgets.many_gpus import planned, times
from kernels.lab.widgets import ManyGpus
from tests.lab.widgets import keys

WIDEST = ManyGpus(p=4, q=4)
REDRAWS = [
    (ManyGpus(p=4, q=4), "Link", range(100, 1000, 100)),
]
SLIDER = keys.Slider("Rows of GPUs", "p", 3)
STILLS = [
    ManyGpus(),
    ManyGpus(algorithm="ring", p=4, q=1, size=1024, link=20),
    ManyGpus(algorithm="rows", p=2, q=1, itemsize=2, flops=800),
    ManyGpus(p=3, q=2, pieces=4, size=4096, link=900),
]
NAMES = ("algorithm", "p", "q", "size", "pieces", "link", "flops", "itemsize")
SETTINGS = list(
    product(
        ("summa", "rows", "ring"), (1, 2, 3, 4), (1, 2, 3), (512, 16384), (1, 3), (5, 400), (50,),
        (2, 4),
    )
)  # fmt: skip


def test_the_script_has_the_same_times(formulas):
    asked = [dict(zip(NAMES, settings, strict=True)) for settings in SETTINGS]
    found = formulas(ManyGpus, "x.map((s) => f.times(s))", asked)
    for settings, told in zip(SETTINGS, found, strict=True):
        mine, plan = times(*settings), planned(*settings[:5])
        for name in ("arithmetic", "traffic", "seconds"):
            assert told[name] == pytest.approx(getattr(mine, name)), settings
        ranks = range(plan.grid.size)
        assert told["received"] == [plan.received(rank, settings[-1]) for rank in ranks]
        for moment, theirs in zip(mine.timeline, told["moments"], strict=True):
            assert theirs["units"] == pytest.approx(list(moment.products))
            assert theirs["link"] == pytest.approx(list(moment.fetches))


def test_the_script_has_the_same_tiles(formulas):
    asked = [dict(zip(NAMES, settings, strict=True)) for settings in SETTINGS[::7]]
    found = formulas(ManyGpus, "x.map((s) => f.schedule(s))", asked)
    for settings, told in zip(SETTINGS[::7], found, strict=True):
        plan = planned(*settings[:5])
        mine = [[(t.matrix, list(t.rows), list(t.cols)) for t in tiles] for tiles in plan.holds]
        theirs = [[(t["matrix"], t["rows"], t["cols"]) for t in tiles] for tiles in told["holds"]]
        assert sorted(map(sorted, mine)) == sorted(map(sorted, theirs))
        for step, ranks in zip(plan.steps, told["steps"], strict=True):
            moves = {
                (m.to, m.source, m.tile.matrix, *m.tile.rows, *m.tile.cols) for m in step.fetches
            }
            assert moves == {
                (rank, c["source"], c["tile"]["matrix"], *c["tile"]["rows"], *c["tile"]["cols"])
                for rank, each in enumerate(ranks)
                for c in each["came"]
            }


def test_python_refuses_what_the_sliders_do_not_reach():
    for settings in ({"p": 5}, {"q": 0}, {"size": 100}, {"link": 4}, {"flops": 3000}):
        with pytest.raises(traitlets.TraitError, match="^.* is [0-9]+: use [0-9]+ to [0-9]+$"):
            ManyGpus(**settings)
    with pytest.raises(traitlets.TraitError):
        ManyGpus(algorithm="cannon")


def test_controls_change_the_picture_and_the_numbers(mounted):
    shown = mounted(ManyGpus())
    widget = shown.page.locator(".tile-widget")
    assert keys.numbers(widget, "GPUs") == ["4"]
    assert widget.locator("svg rect.gpu").count() == 4
    assert widget.locator("svg rect.came").count() == 4
    keys.press(widget, "slider", "Columns of GPUs", "ArrowRight")
    assert keys.numbers(widget, "GPUs") == ["6"]
    keys.press(widget, "slider", "Step", "End")
    widget.locator(".summary", has_text="step 6 of 6").wait_for()
    widget.get_by_role("combobox", name="Algorithm").select_option("ring")
    widget.locator(".summary", has_text="GPU 0 has what it needs").wait_for()
    assert widget.locator("svg rect.came").count() == 0
    assert shown.errors == []


def test_play_goes_on_and_pauses(mounted):
    shown = mounted(ManyGpus(algorithm="ring"))
    widget = shown.page.locator(".tile-widget")
    widget.get_by_role("button", name="Play").click()
    widget.locator(".summary", has_text="step 2 of 4").wait_for()
    widget.get_by_role("button", name="Pause").click()
    assert shown.errors == []


def by_keys(widget) -> None:
    before = keys.numbers(widget, "time of the traffic")
    keys.press(widget, "slider", "Link", "End")
    assert keys.numbers(widget, "time of the traffic") != before
    keys.press(widget, "slider", "Rows of GPUs", "Home")
    keys.press(widget, "slider", "Columns of GPUs", "Home")
    assert keys.numbers(widget, "speed-up over one GPU") == ["1.00"]

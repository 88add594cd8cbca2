"""Pipeline: its schedule against a simulation, and its picture in a browser."""

from itertools import product

import pytest
import traitlets

from kernels.lab.widgets import Pipeline
from kernels.lab.widgets.pipeline import TILES, cycles_per_tile, schedule
from tests.lab.widgets import keys

WIDEST = Pipeline(stages=4)
REDRAWS = [
    (Pipeline(stages=4), "Load", range(50, 1600, 150)),
]
SLIDER = keys.Slider("Stages", "stages", 3)
STILLS = [
    Pipeline(),
    Pipeline(stages=1, load=1600, compute=50, stage_bytes=49152),
    Pipeline(stages=4, load=1000, compute=300),
    Pipeline(stages=4, load=350, compute=300, producer=True),
]
SETTINGS = list(product((1, 2, 3, 4), (1, 3, 7, 12), (1, 2, 5, 7), (False, True)))


def simulated(stages: int, load: int, compute: int, producer: bool, tiles: int) -> list[int]:
    """When each tile is done: cycle by cycle, with stages that are free, on their way, or full."""
    # Threads that multiply, too, ask for the next tile when they begin with one.
    ahead = stages if producer or stages == 1 else stages - 1
    left = [0] * stages  # cycles until the tile of a stage has come
    state = ["free"] * stages
    asked = begun = busy = now = 0
    done: list[int] = []
    while len(done) < tiles:
        for stage in range(stages):
            if state[stage] == "coming" and not left[stage]:
                state[stage] = "full"
        if busy == 0 and len(done) < begun:
            state[(begun - 1) % stages] = "free"
            done.append(now)
        if busy == 0 and state[begun % stages] == "full":
            state[begun % stages], busy, begun = "used", compute, begun + 1
        while state[asked % stages] == "free" and asked < begun + ahead:
            state[asked % stages], left[asked % stages], asked = "coming", load, asked + 1
        now += 1
        busy = max(0, busy - 1)
        left = [max(0, cycles - 1) for cycles in left]
    return done


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_schedule_is_that_of_a_simulation(settings):
    assert [times.done for times in schedule(*settings, 12)] == simulated(*settings, 12)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_cycles_per_tile_are_what_many_tiles_come_to(settings):
    # The stages take turns, so a whole round of them always takes as long.
    stages = settings[0]
    times = schedule(*settings, 60 * stages * max(1, stages - 1))
    rounds = 30 * stages * max(1, stages - 1)
    took = times[-1].done - times[-1 - rounds].done
    assert took / rounds == pytest.approx(cycles_per_tile(*settings))


def test_a_double_buffer_takes_as_long_as_the_slower_of_the_two():
    for load, compute in ((600, 400), (400, 600), (500, 500)):
        assert cycles_per_tile(1, load, compute, False) == load + compute
        assert cycles_per_tile(2, load, compute, False) == max(load, compute)


def test_the_script_has_the_same_schedule(formulas):
    names = "stages", "load", "compute", "producer"
    asked = [dict(zip(names, settings, strict=True)) for settings in SETTINGS]
    found = formulas(Pipeline, "x.map((s) => [f.schedule(s), f.cyclesPerTile(s)])", asked)
    for settings, (times, per_tile) in zip(SETTINGS, found, strict=True):
        assert times == [each._asdict() for each in schedule(*settings)]
        assert len(times) == TILES
        assert per_tile == pytest.approx(cycles_per_tile(*settings))


def test_python_refuses_what_the_sliders_do_not_reach():
    for settings in ({"stages": 0}, {"stages": 5}, {"load": 49}, {"compute": 1601}):
        with pytest.raises(traitlets.TraitError, match="^.* is [0-9]+: use [0-9]+ to [0-9]+$"):
            Pipeline(**settings)
    with pytest.raises(traitlets.TraitError, match="stage_bytes is 0: use 1 to 232448"):
        Pipeline(stage_bytes=0)


def bars(widget, kind: str) -> int:
    """Bars of one kind in the picture."""
    return widget.locator(f".picture rect.{kind}").count()


def test_controls_change_the_picture_and_the_numbers(mounted):
    shown = mounted(Pipeline(stages=1))
    widget = shown.page.locator(".tile-widget")
    assert keys.numbers(widget, "cycles per tile, once the pipeline runs") == ["1000"]
    assert [bars(widget, kind) for kind in ("load", "compute", "wait")] == [8, 16, 8]
    keys.press(widget, "slider", "Stages", "ArrowRight")
    assert keys.numbers(widget, "cycles per tile, once the pipeline runs") == ["600"]
    assert widget.locator("svg text", has_text="stage 1").count() == 1
    widget.locator(".summary", has_text="wait 200 of every 600 cycles").wait_for()
    keys.press(widget, "checkbox", "one warp only loads", "Space")
    assert keys.numbers(widget, "cycles per tile, once the pipeline runs") == ["500"]
    keys.press(widget, "slider", "Load", *["ArrowLeft"] * 4)
    assert bars(widget, "wait") == 1, "the first tile has nothing to hide behind"
    widget.locator(".summary", has_text="never wait").wait_for()
    assert keys.numbers(widget, "bytes of shared memory, all stages") == ["16384"]
    assert shown.errors == []


def by_keys(widget) -> None:
    what = "cycles per tile, once the pipeline runs"
    keys.press(widget, "slider", "Stages", "Home")
    in_turn = keys.numbers(widget, "cycles per tile in turn")
    assert keys.numbers(widget, what) == in_turn
    keys.press(widget, "slider", "Load", "Home")
    keys.press(widget, "slider", "Stages", "End")
    assert int(keys.numbers(widget, what)[0]) == int(in_turn[0].replace(" ", "")) - 600

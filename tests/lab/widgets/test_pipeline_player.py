"""PipelinePlayer: what it takes from a trace, and its picture in a browser."""

import numpy as np
import pytest
import traitlets

from kernels import LADDER
from kernels.lab import pipeline_player, trace_rung
from kernels.lab.widgets import PipelinePlayer
from kernels.patterns import vector_add
from microscope import trace
from tests.lab.widgets import keys
from tests.lab.widgets.traced_pipelines import broken, by_pieces, in_clusters, player

WIDEST = in_clusters()
REDRAWS = [(player(), "Step", range(0, 30, 3))]
#: `traced_pipelines.player` begins with step 5; one key leads on.
SLIDER = keys.Slider("Step", "at", 5)
STILLS = [player(), broken(), in_clusters(at=40)]
SPANS = [([], 4), ([0], 4), ([1, 1, 3], 4), ([0, 2, 5], 6)]


def states(runs, steps):
    """The state of every step."""
    row = [""] * steps
    for start, end, state in runs:
        row[start:end] = [state] * (end - start)
    return row


def test_a_ring_of_three_stages_is_filled_eight_times():
    shown = player()
    assert [label for label, _ in shown.stages] == ["stage 0", "stage 1", "stage 2"]
    assert [label for label, _ in shown.roles] == [
        "warp 0: copies", "warps 4–7: products", "warps 8–11: products",
    ]  # fmt: skip
    numbers = dict(shown.numbers)
    fills = [numbers[f"stage {k}, times that copies are asked for"] for k in range(3)]
    assert fills == [3, 3, 2]
    assert [len(ends) for label, ends, _ in shown.barriers if label.startswith("full")] == fills
    assert not shown.stuck and not shown.problems


@pytest.mark.parametrize("landing", ["earliest", "latest", "mixed"])
def test_a_stage_is_read_only_after_it_has_come_and_before_it_comes_anew(landing):
    shown = player(landing)
    for _, runs in shown.stages:
        kinds = [state for _, _, state in runs]
        assert kinds[0] == "coming"
        for before, after in zip(kinds, kinds[1:], strict=False):
            assert (before, after) in {
                ("coming", "full"), ("coming", "read"), ("full", "read"), ("read", "coming"),
                ("read", "full"), ("read", "read"),
            }  # fmt: skip


def test_a_role_that_waits_says_for_what_and_where():
    shown = player("latest")
    said = [dict(notes) for notes in shown.notes]
    consumer = "warps 4–7: products"
    waits = [step for step, words in enumerate(said) if "waits at line" in words.get(consumer, "")]
    row = states(dict(shown.roles)[consumer], shown.steps)
    assert waits and {row[step] for step in waits} <= {"waits", "acts"}
    assert any("of full 0, which lacks 24576 bytes" in said[step][consumer] for step in waits)
    assert any("requests 2 copies into stage 0" in words["warp 0: copies"] for words in said[:6])


def test_a_broken_kernel_stops_at_its_last_step():
    shown = broken()
    assert shown.stuck and shown.at == shown.steps - 1
    assert "nothing can go on" in shown.problems[0]
    assert all("waits at line" in what for who, what in shown.notes[-1] if who != "memory")


def test_each_block_of_a_cluster_has_its_own_picture():
    first, second = in_clusters(), in_clusters(block=1)
    assert first.steps == second.steps and first.roles != second.roles
    with pytest.raises(ValueError, match="^block 2: the first cluster has blocks 0 to 1$"):
        in_clusters(block=2)


def test_a_warpgroup_that_does_everything_is_one_role():
    shown = pipeline_player(trace_rung(LADDER["wgmma"], 128, 128, 256))
    assert [label for label, _ in shown.roles] == ["warps 0–3: copies and products"]
    assert [label for label, *_ in shown.barriers] == ["loaded"]


def test_copies_without_an_mbarrier_have_stages_too():
    shown = by_pieces()
    assert not shown.barriers and shown.stages


def test_what_cannot_be_shown_is_refused_in_one_line():
    a = np.zeros(64, np.float32)
    seen = trace(vector_add.vector_add, 2, 32, a, a.copy(), a.copy())
    with pytest.raises(ValueError, match="^vector_add has no asynchronous copy or product: trace"):
        pipeline_player(seen)
    with pytest.raises(ValueError, match="^step 99: the picture has steps 0 to [0-9]+$"):
        player(at=99)
    with pytest.raises(traitlets.TraitError, match="^at is -1: use 0 to [0-9]+$"):
        player().at = -1


@pytest.mark.parametrize(("ends", "steps"), SPANS, ids=str)
def test_phases_follow_each_other_without_a_gap(formulas, ends, steps):
    found = formulas(PipelinePlayer, "f.phases(x[0], x[1])", [ends, steps])
    assert [number for *_, number in found][-1] == len(ends) or found[-1][1] == steps
    assert found[0][0] == 0 and found[-1][1] == steps
    assert all(a[1] == b[0] for a, b in zip(found, found[1:], strict=False))


def test_a_place_in_the_picture_is_a_step(formulas):
    place = {"left": 100, "across": 10, "steps": 5}
    asked = [0, 100, 109, 110, 149, 400]
    found = formulas(PipelinePlayer, "x[1].map((at) => f.stepAt(at, x[0]))", [place, asked])
    assert found == [0, 0, 0, 1, 4, 4]


def said(widget) -> list[str]:
    """The table of the step at the cursor."""
    rows = widget.locator(".now table:not([aria-hidden]) tbody tr")
    return [" ".join(text.split()) for text in rows.all_inner_texts()]


def test_keys_move_the_cursor_and_the_table_follows(mounted):
    made = player()
    shown = mounted(made)
    widget = shown.page.locator(".tile-widget")
    for at, press in ((0, "Home"), (1, "ArrowRight"), (made.steps - 1, "End")):
        high = widget.bounding_box()["height"]
        keys.press(widget, "slider", "Step", press)
        assert said(widget) == [" ".join(" ".join(pair).split()) for pair in made.notes[at]]
        assert widget.bounding_box()["height"] == high
    assert shown.errors == []


def test_a_drag_leads_the_cursor(mounted):
    made = player()
    shown = mounted(made)
    widget = shown.page.locator(".tile-widget")
    box = widget.locator(".picture svg").bounding_box()
    shown.page.mouse.move(box["x"] + box["width"] - 10, box["y"] + 20)
    shown.page.mouse.down()
    shown.settled()
    assert widget.get_by_role("slider").input_value() == str(made.steps - 1)
    shown.page.mouse.move(box["x"] + 2, box["y"] + 20)
    shown.settled()
    assert widget.get_by_role("slider").input_value() == "0"
    shown.page.mouse.up()


def test_a_broken_kernel_shows_where_it_stops_and_why(mounted):
    widget = mounted(broken()).page.locator(".tile-widget")
    assert widget.locator("svg .stop").count() == 1
    assert "nothing can go on" in widget.locator(".warning").first.inner_text()


def by_keys(widget) -> None:
    keys.press(widget, "slider", "Step", "Home")
    first = said(widget)
    keys.press(widget, "slider", "Step", "End")
    assert said(widget) != first

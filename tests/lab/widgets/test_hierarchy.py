"""Hierarchy: its arithmetic against the occupancy calculator, and its picture in a browser."""

import pytest

from kernels.basics import data_sheets
from kernels.lab.widgets import Hierarchy
from kernels.measure.occupancy import occupancy
from tests.lab.widgets import keys

WIDEST = Hierarchy()
REDRAWS = [
    (Hierarchy(gpu="b200", grid=(65535, 7), block=(1, 1)), "Threads along x", range(1, 1024, 47)),
    (Hierarchy(gpu="b200", grid=(65535, 7), block=(1, 1)), "Wave", range(1, 90, 4)),
]
SLIDER = keys.Slider("Thread of a block", "thread", 1)
STILLS = [
    Hierarchy(gpu="h200", grid=(1057, 3), block=(17, 5)),
]


@pytest.mark.parametrize("name", data_sheets.gpus())
def test_resident_blocks_are_the_calculators_for_every_block_size(formulas, name):
    gpu = Hierarchy().gpus[name]
    found = formulas(Hierarchy, "Array.from({length: 1024}, (_, i) => f.occupancy(i + 1, x))", gpu)
    for threads, resident in enumerate(found, start=1):
        python = occupancy(threads, gpu=name)
        assert resident == {
            "blocks": python.blocks,
            "warps": python.warps,
            "threads": python.threads,
            "fraction": pytest.approx(python.fraction),
            "limiter": python.limiter,
        }


def dealt_one_by_one(blocks: int, sms: int, resident: int) -> list[list[int]]:
    """Blocks on each SM, wave by wave: block after block goes to the next SM with a place."""
    waves = []
    while blocks:
        here = [0] * sms
        for place in range(min(blocks, sms * resident)):
            here[place % sms] += 1
        waves.append(here)
        blocks -= sum(here)
    return waves


@pytest.mark.parametrize("name", ("t4", "rtx-3090", "h200"))
@pytest.mark.parametrize(
    ("grid", "block"),
    [((1, 1), (1, 1)), ((1057, 1), (16, 16)), ((37, 29), (33, 3)), ((500, 7), (1024, 1))],
)
def test_waves_are_those_of_dealing_the_blocks_out(formulas, name, grid, block):
    gpu = Hierarchy().gpus[name]
    found = formulas(
        Hierarchy,
        "(p => ({...p, dealt: Array.from({length: p.waves}, (_, w) => f.dealt(w, p, x[2].sms))}))"
        "(f.placement(...x))",
        [grid, block, gpu],
    )
    threads = block[0] * block[1]
    resident = occupancy(threads, gpu=name).blocks
    waves = dealt_one_by_one(grid[0] * grid[1], gpu["sms"], resident)
    assert found["dealt"] == waves
    assert found["waves"] == len(waves)
    assert found["last"] == sum(waves[-1])
    assert found["lastShare"] == pytest.approx(sum(waves[-1]) / (gpu["sms"] * resident))
    assert found["idleLanes"] == -threads % 32


def test_a_thread_sits_where_the_hardware_numbers_it(formulas):
    x, y = 24, 11
    found = formulas(Hierarchy, "Array.from({length: 264}, (_, i) => f.seat(i, x))", [x, y])
    expected = [(tx, ty) for ty in range(y) for tx in range(x)]
    assert [(s["tx"], s["ty"]) for s in found] == expected
    assert [32 * s["warp"] + s["lane"] for s in found] == list(range(x * y))


def number(shown, what: str) -> str:
    """What the table says of something."""
    row = shown.page.locator("tr", has_text=what).first
    return row.locator("td").text_content()


def test_controls_change_the_picture_and_the_numbers(mounted):
    shown = mounted(Hierarchy())
    page = shown.page
    assert [number(shown, w) for w in ("waves", "blocks in the last wave")] == ["2", "1"]
    assert page.locator("svg text", has_text="wave 1 of 2").count() == 1
    page.locator("select").select_option("rtx-3090")
    page.get_by_label("block x").fill("33")
    page.get_by_label("block y").fill("31")
    shown.settled()
    # 1023 threads are 32 warps of 48: one block an SM, 82 at once, and one lane is left over.
    assert number(shown, "blocks on the GPU at once") == "82"
    assert number(shown, "waves") == "13"
    assert number(shown, "blocks in the last wave") == str(1057 - 12 * 82)
    assert number(shown, "lanes without a thread") == "1"
    assert page.locator("svg path.idle").count() == 1
    assert number(shown, "occupancy") == "67 %"
    page.get_by_role("slider", name="Wave").fill("13")
    shown.settled()
    assert page.locator("svg text.middle", has_text="–").count() == 82 - (1057 - 12 * 82)
    assert shown.errors == []


def test_the_keyboard_is_enough(mounted):
    shown = mounted(Hierarchy())
    thread = shown.page.get_by_role("slider", name="Thread of a block")
    thread.focus()
    for _ in range(37):
        shown.page.keyboard.press("ArrowRight")
    shown.page.wait_for_function(
        "document.querySelector('.summary').textContent.includes('Thread 37 (x 5, y 2)')"
    )
    assert "lane 5 of warp 1" in shown.page.inner_text(".summary")


def test_a_bad_block_is_answered_and_the_picture_stays(mounted):
    shown = mounted(Hierarchy())
    shown.page.get_by_label("block x").fill("65")
    shown.settled()
    warning = shown.page.get_by_role("alert")
    assert "65 × 16 has 1,040 threads" in warning.inner_text()
    assert "y goes up to 15" in warning.inner_text()
    assert number(shown, "threads per block") == "256"
    shown.page.get_by_label("block y").fill("15")
    shown.settled()
    assert not warning.is_visible()
    assert number(shown, "threads per block") == "975"


def by_keys(widget) -> None:
    assert keys.numbers(widget, "threads per block") == ["256"]
    assert widget.locator("svg path.idle").count() == 0
    keys.press(widget, "slider", "Threads along x", "ArrowRight")
    assert keys.numbers(widget, "threads per block") == ["272"]
    assert keys.numbers(widget, "lanes without a thread, per block") == ["16"]
    at_once = 132 * occupancy(272, gpu="h200").blocks
    assert keys.numbers(widget, "blocks on the GPU at once") == [str(at_once)]
    assert keys.cells(widget, "idle") == 16
    keys.press(widget, "slider", "Wave", "End")
    assert widget.locator("svg text", has_text="wave 2 of 2").count() == 1

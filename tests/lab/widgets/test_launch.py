"""Launch: its counts against the microscope's, and its picture in a browser."""

import numpy as np
import pytest

from kernels import cuda, lab
from kernels.lab.widgets import Launch
from kernels.patterns import vector_add
from tests.lab.widgets import keys

WIDEST = Launch(n=1000, block=33)
REDRAWS = [
    (Launch(n=200, block=128), "Elements", range(1, 200, 9)),
    (Launch(n=100_000, block=1), "Thread", range(0, 100_000, 7000)),
]
SLIDER = keys.Slider("Thread", "thread", 38)
STILLS = [
    Launch(n=1003, block=97),
    Launch(n=50, block=33, guard=False),
]
SETTINGS = [(n, block) for n in (1, 31, 50, 64, 97, 1000) for block in (1, 32, 33, 48, 256, 1024)]


@cuda.jit
def unguarded(a, b, c):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    c[i] = a[i] + b[i]


def traced(kernel, n: int, block: int):
    a = np.zeros(n, np.float32)
    return lab.trace(kernel, -(-n // block), block, a, a.copy(), a.copy())


def test_counts_are_the_microscopes(formulas):
    for n, block in SETTINGS:
        counted = formulas(Launch, "f.count(...x)", [n, block])
        trace = traced(vector_add.vector_add, n, block)
        for site in trace.sites:
            assert (counted["requests"], counted["sectors"]) == (site.requests, site.sectors)
        blocks = trace.grid[0]
        assert counted["blocks"] == blocks
        assert counted["threads"] == blocks * block
        assert counted["beyond"] == blocks * block - n
        assert counted["warps"] == blocks * trace.warps_per_block
        assert counted["empty"] == 32 * counted["warps"] - counted["threads"]


def test_without_the_guard_as_many_threads_go_astray_as_the_microscope_reports(formulas):
    for n, block in SETTINGS:
        beyond = formulas(Launch, "f.count(...x).beyond", [n, block])
        problems = traced(unguarded, n, block).problems
        assert [problem.count for problem in problems] == ([beyond] * 3 if beyond else [])


@pytest.mark.parametrize("block", (32, 33, 100))
def test_every_thread_gets_the_index_of_the_formula(formulas, block):
    n = 250
    seats = formulas(
        Launch,
        "Array.from({length: f.count(...x).threads}, (_, i) => f.seat(i, ...x))",
        [n, block],
    )
    for i, seat in enumerate(seats):
        assert seat["blockIdx"] * block + seat["threadIdx"] == i
        assert 32 * seat["warp"] + seat["lane"] == seat["threadIdx"] < block
        assert seat["works"] == (i < n)


def number(shown, what: str) -> str:
    """What the table says of something."""
    row = shown.page.locator("tr", has_text=what).first
    return row.locator("td").text_content()


def cells(shown, kind: str) -> int:
    """Cells of one kind in the picture."""
    return shown.page.locator(f".picture path.{kind}").get_attribute("d").count("M")


def test_controls_change_the_picture_and_the_numbers(mounted):
    shown = mounted(Launch(n=50, block=32))
    assert [cells(shown, kind) for kind in ("works", "beyond", "empty")] == [50, 14, 0]
    shown.page.get_by_label("threads per block").fill("33")
    shown.settled()
    assert [cells(shown, kind) for kind in ("works", "beyond", "empty")] == [50, 16, 62]
    assert number(shown, "lanes without a thread") == "62"
    assert number(shown, "lanes at work") == "39 %"
    shown.page.get_by_label("n, elements").fill("66")
    shown.settled()
    assert cells(shown, "beyond") == 0
    shown.page.wait_for_function(
        "document.querySelector('.summary').textContent.includes('guard stops nobody')"
    )
    assert shown.errors == []


def test_without_the_guard_it_names_the_elements_that_do_not_exist(mounted):
    shown = mounted(Launch(n=50, block=32, thread=55))
    assert "50 < 50" not in shown.page.inner_text(".formula")
    shown.page.get_by_label("guard").uncheck()
    shown.settled()
    said = shown.page.inner_text(".formula")
    assert "1 * 32 + 23 = 55" in said and "writes c[55]: none of them exists" in said
    shown.page.wait_for_function(
        "document.querySelector('.summary').textContent.includes('elements 50 to 63 do not exist')"
    )
    assert number(shown, "out of bounds") == "14"


def test_the_keyboard_is_enough(mounted):
    shown = mounted(Launch(n=50, block=33, thread=0))
    slider = shown.page.get_by_role("slider", name="Thread")
    slider.focus()
    shown.page.keyboard.press("End")
    shown.settled()
    said = shown.page.inner_text(".formula")
    assert "1 * 33 + 32 = 65" in said and "no element: the guard stops it" in said
    assert slider.get_attribute("aria-valuetext").startswith("65: block 1, thread 32, warp 1")
    shown.page.keyboard.press("ArrowLeft")
    shown.settled()
    assert "1 * 33 + 31 = 64" in shown.page.inner_text(".formula")


def test_a_bad_value_is_answered_and_the_picture_stays(mounted):
    shown = mounted(Launch(n=50, block=32))
    field = shown.page.get_by_label("threads per block")
    field.fill("1025")
    shown.settled()
    warning = shown.page.get_by_role("alert")
    assert warning.inner_text().startswith("The block size is 1025: use")
    assert cells(shown, "works") == 50
    field.fill("")
    shown.settled()
    assert "The block size is “”" in warning.inner_text()
    field.fill("25")
    shown.settled()
    assert not warning.is_visible()
    assert number(shown, "blocks: cdiv") == "2"


def by_keys(widget) -> None:
    assert [keys.cells(widget, kind) for kind in ("works", "beyond", "empty")] == [50, 14, 0]
    keys.press(widget, "slider", "Block", "ArrowRight")
    assert [keys.cells(widget, kind) for kind in ("works", "beyond", "empty")] == [50, 16, 62]
    assert keys.numbers(widget, "lanes without a thread") == ["62"]
    keys.press(widget, "slider", "Thread", "End")
    assert "1 * 33 + 32 = 65" in widget.locator(".formula").inner_text()

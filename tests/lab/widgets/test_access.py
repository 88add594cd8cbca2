"""Access: its counts against the microscope's, and its picture in a browser."""

import re
from collections import Counter

import numpy as np
import pytest
import traitlets

from kernels import LADDER, lab
from kernels.lab.widgets import Access
from kernels.measure.oracle import inputs, poisoned
from tests.lab.widgets import keys
from tests.lab.widgets.screens import BAR, height

WIDEST = Access(M=64, N=64, K=64)
REDRAWS = [
    (Access(M=64, N=64, K=64, scope="grid", all_steps=True), "Row of C", range(0, 64, 3)),
    (Access(M=64, N=64, K=64, scope="grid", all_steps=True), "Step k", range(0, 64, 3)),
]
SLIDER = keys.Slider("Step k", "k", 8)
STILLS = [
    Access(side=16, M=29, N=41, K=13),
]
KERNELS = [(name, side) for name in ("naive", "swapped") for side in (8, 16, 32)]
SIZES = [(1, 1, 1), (33, 3, 5), (7, 34, 2), (37, 53, 29), (32, 64, 16), (64, 40, 33)]


def traced(name: str, side: int, sizes: tuple[int, int, int], blocks=None):
    M, N, K = sizes
    rung = LADDER[name]
    grid, block = rung.launch(M, N, block=side)
    A, B = inputs(M, N, K)
    return lab.trace(rung.kernel(block=side), grid, block, A, B, poisoned(M, N), blocks=blocks)


def named(sizes: tuple[int, int, int]) -> dict[str, int]:
    return dict(zip("MNK", sizes, strict=True))


@pytest.mark.parametrize(("name", "side"), KERNELS)
def test_totals_are_the_microscopes(formulas, name, side):
    for sizes in SIZES:
        totals = formulas(Access, "f.totals(...x)", [name, side, named(sizes)])
        for site in traced(name, side, sizes).sites:
            assert totals[site.array] == {
                "requests": site.requests,
                "sectors": site.sectors,
                "elements": site.lanes,
            }


@pytest.mark.parametrize(("name", "side"), KERNELS)
def test_loads_of_every_element_are_the_microscopes(formulas, name, side):
    M, N, K = sizes = (37, 53, 29)
    for scope, blocks in (("grid", None), ("block", "own")):
        row, col = 35, 41
        own = (col // side, row // side) if name == "naive" else (row // side, col // side)
        trace = traced(name, side, sizes, blocks and [own])
        counts = formulas(
            Access,
            "f.heat(f.scopeOwns(x[0], x[1], x[2], x[3], x[4], x[5]), x[5], null)",
            [name, side, scope, row, col, named(sizes)],
        )
        for array, shape in (("A", (M, K)), ("B", (K, N))):
            assert np.array_equal(np.reshape(counts[array], shape), trace.heat(array).loads)


def requests_by_sectors(requests: list) -> dict[int, int]:
    """Requests by their number of sectors, as a trace's histogram."""
    return dict(Counter(sectors for sectors, _, _ in requests))


@pytest.mark.parametrize(("name", "side"), KERNELS)
def test_every_request_costs_what_the_microscope_says(formulas, name, side):
    """Of the first and the last block: the requests of all warps at all steps."""
    for sizes in SIZES:
        (x, y), _ = LADDER[name].launch(*sizes[:2], block=side)
        for block in {(0, 0), (x - 1, y - 1)}:
            found = formulas(
                Access,
                """Array.from({length: Math.ceil(x.side ** 2 / 32)}, (_, warp) =>
                    f.warpOwns(x.name, x.side, {bx: x.block[0], by: x.block[1], warp}, x.sizes))
                .filter((owned) => owned.length)
                .flatMap((owned) => Array.from({length: x.sizes.K}, (_, k) => {
                    const asked = f.requests(owned, x.sizes, k);
                    return ["A", "B"].map((name) => [name, asked[name].sectors.length,
                        asked[name].lines, asked[name].elements]);
                })).flat()""",
                {"name": name, "side": side, "block": block, "sizes": named(sizes)},
            )
            for site in traced(name, side, sizes, [block]).sites:
                if site.op != "load":
                    continue
                mine = [rest for array, *rest in found if array == site.array]
                assert requests_by_sectors(mine) == site.histogram
                assert sum(lines for _, lines, _ in mine) == site.lines
                assert 4 * sum(elements for _, _, elements in mine) == site.bytes_used


@pytest.mark.parametrize(("name", "side"), KERNELS)
def test_the_sectors_of_a_request_are_those_of_its_addresses(formulas, name, side):
    sizes = (37, 53, 29)
    sectors = formulas(
        Access,
        "(r => ({A: r.A.sectors, B: r.B.sectors}))"
        "(f.requests(f.warpOwns(x[0], x[1], {bx: 0, by: 0, warp: 0}, x[2]), x[2], 0))",
        [name, side, named(sizes)],
    )
    for site in traced(name, side, sizes).sites:
        if site.op == "load":  # its example is the first warp's request at k = 0
            assert [32 * s for s in sorted(sectors[site.array])] == site.example.sectors


@pytest.mark.parametrize(("name", "side"), KERNELS)
def test_an_element_belongs_to_the_thread_of_the_index_formula(formulas, name, side):
    sizes = {"M": 37, "N": 53, "K": 5}
    for row, col in ((0, 0), (36, 52), (17, 40)):
        at = formulas(Access, "f.owner(...x)", [name, side, row, col])
        x, y = at["bx"] * side + at["tx"], at["by"] * side + at["ty"]
        assert (x, y) == ((col, row) if name == "naive" else (row, col))
        assert 32 * at["warp"] + at["lane"] == at["tx"] + at["ty"] * side
        owned = formulas(Access, "f.warpOwns(...x)", [name, side, at, sizes])
        assert [row, col] in owned


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"M": "0"}, "M is 0: use a whole number from 1 to 64."),
        ({"M": "3", "K": "65"}, "K is 65: use a whole number from 1 to 64."),
        ({"N": "wide"}, "N is “wide”: use a whole number from 1 to 64."),
        ({"M": "1", "N": "64", "K": "7"}, ""),
    ],
)
def test_a_bad_value_is_named_with_its_limit(formulas, fields, said):
    assert formulas(Access, "f.fault(x)", fields) == said


def test_python_refuses_what_the_fields_refuse():
    for settings in ({"M": 0}, {"K": 65}, {"side": 12}, {"kernel": "tiled"}):
        with pytest.raises(traitlets.TraitError):
            Access(**settings)


@pytest.mark.parametrize("size", [(390, 844), (1280, 800)], ids=["phone", "desk"])
def test_it_fits_a_screen_and_stands_still(mounted, size):
    """Whatever is set, its height stays: nothing below it moves."""
    states = (
        {},
        {"scope": "grid", "all_steps": True},
        {"kernel": "swapped", "side": 16, "row": 31, "col": 39, "k": 23},
        {"M": 64, "N": 64, "K": 64, "scope": "block", "all_steps": True, "kernel": "swapped"},
        {"M": 1, "N": 1, "K": 1, "scope": "thread"},
    )
    heights = {height(mounted(Access(**state), width=size[0])) for state in states}
    assert len(heights) == 1
    assert heights.pop() <= size[1] - BAR


def unfold(widget) -> None:
    """Open the set-up."""
    widget.locator(".set-up").evaluate("(fold) => { fold.open = true }")


def sectors(widget) -> list[str]:
    """What stands over the two pictures: sectors of a warp's request for A and for B."""
    return widget.locator(".title b").all_inner_texts()


def says(shown, *told: str) -> None:
    """Wait for words of the text, which changes at most every half second."""
    for text in told:
        shown.page.locator(".summary", has_text=text).wait_for()


def cells(widget, kind: str) -> int:
    """Cells of one kind in the picture of the chosen kernel; a rectangle may be several."""
    frame = widget.locator(".chosen .frame").last.get_attribute("width")
    cell = float(frame) / int(widget.get_by_label("N", exact=True).input_value())
    paths = "".join(
        path.get_attribute("d") for path in widget.locator(f".chosen path.{kind}").all()
    )
    return round(sum(map(float, re.findall(r"h([\d.]+)v", paths))) / cell)


def test_controls_change_the_picture_and_the_numbers(mounted):
    shown = mounted(Access(M=64, N=64, K=32, k=0))
    page = shown.page
    unfold(page)
    assert sectors(page) == ["naive: 1 + 4 sectors", "swapped: 32 + 1 sectors"]
    assert [cells(page, kind) for kind in ("a", "b", "c", "moved")] == [1, 32, 32, 8 + 32]
    page.get_by_role("combobox", name="kernel").select_option("swapped")
    shown.settled()
    assert [cells(page, kind) for kind in ("a", "b", "c", "moved")] == [32, 1, 32, 256 + 8]
    page.get_by_role("combobox", name="block").select_option("16")
    shown.settled()
    assert sectors(page) == ["naive: 2 + 2 sectors", "swapped: 16 + 1 sectors"]
    page.get_by_role("combobox", name="who loads").select_option("grid")
    page.get_by_label("all steps of k").check()
    shown.settled()
    assert [cells(page, kind) for kind in ("a", "b", "c")] == [64 * 32, 32 * 64, 64 * 64]
    page.wait_for_function(
        "document.querySelector('.summary').textContent.includes('of A, 64 times each')"
    )
    page.get_by_label("N", exact=True).fill("24")
    shown.settled()
    row = page.locator("tr", has_text="loads of each element of A")
    assert row.locator("td").all_text_contents() == ["24", "24"]
    assert shown.errors == []


def test_the_table_holds_the_microscopes_totals(mounted):
    shown = mounted(Access(M=37, N=53, K=29, side=16))
    for array in "AB":
        row = shown.page.locator("tr", has_text=f"sectors, whole launch, {array}")
        told = [int(cell.replace(",", "")) for cell in row.locator("td").all_text_contents()]
        counts = [
            traced(name, 16, (37, 53, 29)).count(op="load", array=array)["sectors"]
            for name in ("naive", "swapped")
        ]
        assert told == counts


def test_the_keyboard_is_enough(mounted):
    shown = mounted(Access(kernel="swapped"))
    for label, key in (("Row of C", "End"), ("Column of C", "Home"), ("Step k", "ArrowRight")):
        shown.page.get_by_role("slider", name=label).focus()
        shown.page.keyboard.press(key)
    says(shown, "swapped: C[31, 0] belongs to", "At k = 8,")


def test_the_pointer_picks_an_element_of_c(mounted):
    shown = mounted(Access())
    box = shown.page.locator(".chosen svg").bounding_box()
    frame = shown.page.locator(".chosen .frame").last.bounding_box()
    assert box["y"] < frame["y"]
    shown.page.mouse.move(frame["x"] + frame["width"] - 4, frame["y"] + frame["height"] - 4)
    says(shown, "naive: C[31, 39] belongs to")


def test_both_kernels_are_drawn_and_a_press_chooses_one(mounted):
    shown = mounted(Access(k=0))
    page = shown.page
    unfold(page)
    assert sectors(page) == ["naive: 1 + 4 sectors", "swapped: 32 + 1 sectors"]
    launches = page.locator(".title > span").all_inner_texts()
    totals = [sum(LADDER[name].model(32, 40, 24, block=32).reads[array].sectors for array in "AB")
              for name in ("naive", "swapped")]  # fmt: skip
    assert [int(re.sub(r"\D", "", text)) for text in launches] == totals
    other = page.locator(".panel:not(.chosen) .frame").last.bounding_box()
    page.mouse.move(other["x"] + other["width"] / 2, other["y"] + other["height"] / 2)
    shown.settled()
    assert page.get_by_role("combobox", name="kernel").input_value() == "swapped"
    page.get_by_role("button", name="Next k").click()
    shown.settled()
    says(shown, "At k = 1,")


def test_a_bad_size_is_answered_and_the_picture_stays(mounted):
    shown = mounted(Access())
    unfold(shown.page)
    shown.page.get_by_label("K", exact=True).fill("65")
    shown.settled()
    warning = shown.page.get_by_role("alert")
    assert warning.inner_text() == "K is 65: use a whole number from 1 to 64."
    says(shown, "At k = 7,")
    shown.page.get_by_label("K", exact=True).fill("1")
    shown.settled()
    assert not warning.is_visible()
    says(shown, "At k = 0,")


def by_keys(widget) -> None:
    unfold(widget)
    assert [cells(widget, kind) for kind in "abc"] == [1, 32, 32]
    keys.press(widget, "combobox", "kernel", "ArrowDown")
    assert [cells(widget, kind) for kind in "abc"] == [32, 1, 32]
    keys.press(widget, "slider", "Step k", "End")
    keys.press(widget, "slider", "Column of C", "Home")
    widget.locator(".summary", has_text="C[5, 0] belongs to").wait_for()
    assert sectors(widget) == ["naive: 1 + 4 sectors", "swapped: 32 + 1 sectors"]

"""BlockOrder: its order against the kernel's own, and its picture in a browser."""

from itertools import product

import numpy as np
import pytest
import traitlets

from chapters.ch07_register_tiling.widgets.block_order import needed
from kernels import LADDER, lab
from kernels.host.tiles import tile_of
from kernels.lab.widgets import BlockOrder
from tests.lab.widgets import keys

WIDEST = BlockOrder(running=1024)
REDRAWS = [
    (BlockOrder(running=1024), "Group", range(1, 32, 2)),
]
SLIDER = keys.Slider("Group", "group", 9)
STILLS = [
    BlockOrder(),
    BlockOrder(across=13, down=17, group=5, running=50, wave=2, BM=128, BN=256, K=1000),
    BlockOrder(across=3, down=2, group=32, running=1024, wave=9),
    BlockOrder(group=1, running=1),
]
GRIDS = list(product((1, 5, 64), (1, 7, 64), (1, 2, 8, 32)))


@pytest.mark.parametrize(("across", "down", "group"), [(3, 5, 2), (2, 4, 8), (4, 2, 1)])
def test_a_block_takes_the_tile_that_the_kernel_gives_it(across, down, group):
    rung = LADDER["swizzled"]
    options = rung.defaults | {"group": group}
    BM, BN = options["BM"], options["BN"]
    A, B = np.ones((down * BM, 1), np.float32), np.ones((1, across * BN), np.float32)
    grid, block = rung.launch(len(A), B.shape[1], **options)
    C = np.zeros((len(A), B.shape[1]), np.float32)
    for number in range(across * down):
        one = [(number % across, number // across)]
        trace = lab.trace(rung.kernel(**options), grid, block, A, B, C, blocks=one)
        (store,) = (site for site in trace.sites if (site.array, site.op) == ("C", "store"))
        element = store.example.addresses[store.example.active].min() // C.itemsize
        row, column = divmod(int(element), C.shape[1])
        assert (row // BM, column // BN) == tile_of(number, across, down, group)


@pytest.mark.parametrize(("across", "down", "group"), GRIDS)
def test_every_tile_is_taken_once(across, down, group):
    tiles = {tile_of(number, across, down, group) for number in range(across * down)}
    assert tiles == set(product(range(down), range(across)))


def test_the_script_has_the_same_order_and_the_same_strips(formulas):
    settings = [
        {"across": across, "down": down, "group": group, "running": running, "wave": wave,
         "BM": 128, "BN": 64, "K": 100}
        for across, down, group in GRIDS for running, wave in ((1, 0), (40, 1), (264, 3))
    ]  # fmt: skip
    found = formulas(BlockOrder, "x.map((s) => f.needed(s))", settings)
    for each, shown in zip(settings, found, strict=True):
        strips = needed(**each)
        assert (len(shown["A"]), len(shown["B"]), shown["bytes"]) == strips[:3]
        assert shown["intensity"] == pytest.approx(strips.intensity)
    across, down, group = 13, 17, 5
    tiles = formulas(
        BlockOrder, "Array.from({ length: 13 * 17 }, (_, n) => f.tileOf(n, x))",
        {"across": across, "down": down, "group": group},
    )  # fmt: skip
    assert [*map(tuple, tiles)] == [tile_of(n, across, down, group) for n in range(13 * 17)]


def test_a_group_of_one_is_row_order_and_a_square_needs_fewest():
    assert [tile_of(number, 5, 3, 1) for number in range(15)] == [*product(range(3), range(5))]
    settings = {"across": 64, "down": 64, "running": 256, "wave": 0, "BM": 64, "BN": 64, "K": 64}
    strips = {group: sum(needed(group=group, **settings)[:2]) for group in range(1, 33)}
    assert (strips[1], strips[16]) == (4 + 64, 16 + 16)
    assert min(strips.values()) == strips[16]


def test_python_refuses_what_the_sliders_do_not_reach():
    for settings in ({"group": 0}, {"group": 33}, {"running": 0}, {"across": 65}, {"K": 0}):
        with pytest.raises(traitlets.TraitError, match="^.* is [0-9]+: use 1 to [0-9]+$"):
            BlockOrder(**settings)


def test_controls_change_the_picture_and_the_numbers(mounted):
    shown = mounted(BlockOrder())
    widget = shown.page.locator(".tile-widget")

    def tiles(kind: str) -> list[int]:
        paths = widget.locator(f".picture path.{kind}").all()
        return [path.get_attribute("d").count("M") for path in paths]

    assert [tiles(kind) for kind in "cab"] == [[264, 264], [5, 8], [64, 33]]
    assert keys.numbers(widget, "strips in all") == ["69", "41"]
    keys.press(widget, "slider", "Group", "Home")
    assert keys.numbers(widget, "strips in all") == ["69", "69"]
    widget.locator(".summary", has_text="Move the group").wait_for()
    keys.press(widget, "slider", "Running blocks", "Home")
    assert [tiles(kind) for kind in "cab"] == [[1, 1]] * 3
    keys.press(widget, "slider", "Wave", "End")
    assert keys.numbers(widget, "strips in all") == ["2", "2"]
    assert shown.errors == []


def by_keys(widget) -> None:
    keys.press(widget, "slider", "Group", "Home")
    row_order, grouped = keys.numbers(widget, "bytes of the strips")
    assert row_order == grouped
    keys.press(widget, "slider", "Group", *["ArrowRight"] * 7)
    assert keys.numbers(widget, "bytes of the strips")[0] == row_order
    widget.locator(".summary", has_text="8 rows at a time they need").wait_for()

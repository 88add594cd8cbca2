"""The formulas in the tile player's script equal the Python models, for all settings."""

from __future__ import annotations

import importlib.util
import itertools

import numpy as np
import pytest

from chapters.ch04_tiled.widgets.tile_player import TilePlayer, source
from kernels import lab
from kernels.basics import data_sheets
from kernels.host import check_tile
from kernels.host.model import Access, rows_of_warp
from kernels.measure.occupancy import occupancy
from kernels.rungs.order import LADDER
from microscope import WARP

TILES = range(4, 33)
SHAPES = [(1, 1, 1), (2, 3, 5), (8, 12, 16), (13, 11, 21), (37, 53, 29), (64, 33, 1), (61, 64, 63)]
#: Sizes beside the edges of sectors, warps and tiles, and two that are beside none.
SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 31, 32, 33, 37, 63, 64]
BARRIERS = [(False, True), (True, False), (False, False)]


def test_requests_and_sectors_of_matrices_to_64(formulas):
    pieces = {(rows_of_warp(tile), tile) for tile in TILES if rows_of_warp(tile)}
    pieces |= {(1, 32), (4, 1), (2, 1), (1, 1), (1, 8), (1, 16)}
    cases = [
        (rows, cols, 7, 3, height, width)
        for rows, cols in itertools.product(SIZES, repeat=2)
        for height, width in sorted(pieces)
    ]
    told = formulas(
        TilePlayer,
        "x.map((c) => f.access(...c)).map((a) => [a.elements, a.requests, a.sectors])",
        cases,
    )
    want = [[a.elements, a.requests, a.sectors] for a in itertools.starmap(Access, cases)]
    assert told == want


@pytest.mark.parametrize("rung", ["tiled", "naive"])
def test_totals_and_intensity_for_every_tile(formulas, rung):
    cases = [(*shape, tile) for shape in SHAPES for tile in TILES]
    option = {"tiled": "tile", "naive": "block"}[rung]
    told = formulas(TilePlayer, f"x.map((c) => f.{rung}Model(...c))", cases)
    for (M, N, K, tile), got in zip(cases, told, strict=True):
        model = LADDER[rung].model(M, N, K, **{option: tile})
        assert got["flops"] == model.flops
        assert got["loads"] == sum(model.loads.values())
        assert got["intensity"] == pytest.approx(model.intensity, rel=1e-12)
        for what in ("requests", "sectors"):
            each = [getattr(model, what)[name] for name in "AB"]
            assert got[what] == (None if None in each else sum(each))


def test_occupancy_of_every_tile_on_every_gpu(formulas):
    sheets = TilePlayer().gpus
    cases = [
        (tile * tile, registers, 8 * tile * tile, gpu)
        for gpu in data_sheets.gpus()
        for tile in TILES
        for registers in (0, 31, 32, 40, 64)
    ]
    told = formulas(
        TilePlayer,
        "x[0].map(([t, r, s, g]) => f.occupancy(t, r, s, x[1][g]))",
        [cases, sheets],
    )
    for (threads, registers, shared, gpu), got in zip(cases, told, strict=True):
        want = vars(occupancy(threads, registers=registers, shared_bytes=shared, gpu=gpu))
        # The arithmetic in words stands in chapter 6; the widget has the numbers.
        assert got == {name: value for name, value in want.items() if name != "steps"}


def test_a_tile_above_the_limit_has_the_message_of_the_launch(formulas):
    for tile in (33, 40, 64):
        with pytest.raises(ValueError) as error:
            check_tile(tile)
        assert formulas(TilePlayer, "f.tileTrouble(x)", tile) == str(error.value)
    assert formulas(TilePlayer, "[4, 16, 32].map(f.tileTrouble)") == ["", "", ""]


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    """The tiled kernel without some of its barriers, its lines where they are in the course."""
    folder = tmp_path_factory.mktemp("broken")
    lines = open(
        importlib.util.find_spec("kernels.rungs.tiled").origin, encoding="utf-8"
    ).readlines()

    def make(tile: int, barrier1: bool, barrier2: bool):
        kept = list(lines)
        for name, number, text in source():
            removed = (name == "barrier 1" and not barrier1) or (
                name == "barrier 2" and not barrier2
            )
            if removed:
                kept[number - 1] = kept[number - 1].replace(text.strip(), "pass")
        path = folder / f"broken_{barrier1:d}{barrier2:d}.py"
        path.write_text("".join(kept), encoding="utf-8")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.make_tiled(tile)

    return make


@pytest.mark.parametrize(("barrier1", "barrier2"), BARRIERS)
def test_a_missing_barrier_is_told_in_the_words_of_the_microscope(
    formulas, without, barrier1, barrier2
):
    line = {name: number for name, number, _ in source()}
    for tile, steps in itertools.product(TILES, (1, 2, 3)):
        M = N = tile
        K = steps * tile - 1
        A, B = np.ones((M, K), np.float32), np.ones((K, N), np.float32)
        seen = lab.trace(
            without(tile, barrier1, barrier2),
            (1, 1),
            (tile, tile),
            A,
            B,
            np.zeros((M, N), np.float32),
        )
        told = formulas(TilePlayer, "f.raceMessages(...x)", [tile, steps, barrier1, barrier2, line])
        assert told == [str(problem) for problem in seen.problems], (tile, steps)


def test_with_both_barriers_there_is_nothing_to_tell(formulas):
    assert formulas(TilePlayer, "f.raceMessages(16, 3, true, true, {})") == []


def thread_and_product(formulas, settings):
    """What the player says of one thread, and what the matrices say."""
    return formulas(
        TilePlayer,
        """(() => {
            const steps = Math.ceil(x.K / x.T), moments = f.play(steps, x.T, x.b1, x.b2);
            let want = 0;
            for (let k = 0; k < x.K && x.row < x.M && x.col < x.N; k++)
                want += f.elementA(x.row, k) * f.elementB(k, x.col);
            const { sums, terms } = f.followThread(moments, x);
            return { got: sums.at(-1), want, terms: terms.length, moments: moments.length,
                     spoilt: terms.filter((t) => t.wrong).length,
                     wrong: f.wrongElements(moments, x).length };
        })()""",
        settings,
    )


@pytest.mark.parametrize("tile", [4, 5, 8, 12, 16, 32])
@pytest.mark.parametrize(("M", "N", "K"), SHAPES)
def test_the_thread_that_is_followed_gets_its_element(formulas, M, N, K, tile):
    for row, col in {(0, 0), (M - 1, N - 1), (M // 2, N // 3)}:
        told = thread_and_product(
            formulas, {"M": M, "N": N, "K": K, "T": tile, "row": row, "col": col, "b1": 1, "b2": 1}
        )
        assert told["got"] == told["want"]
        assert (told["spoilt"], told["wrong"]) == (0, 0)
        assert told["terms"] == -(-K // tile) * tile


def test_without_a_barrier_elements_come_out_wrong(formulas):
    first, second, both = (
        thread_and_product(
            formulas,
            {"M": 13, "N": 11, "K": 21, "T": 8, "row": 9, "col": 2, "b1": b1, "b2": b2},
        )
        for b1, b2 in BARRIERS
    )
    # Row 9 is row 1 of its tile: one of the quick warp, which reads too early.
    assert first["spoilt"] == 3 * 4 and first["wrong"] > 0
    # The quick warp is never overtaken; the slow one is.
    assert second["spoilt"] == 0 and second["wrong"] > 0
    assert both["wrong"] > 0


def test_the_slow_half_begins_at_a_warp(formulas):
    splits = formulas(TilePlayer, "x.map(f.splitOf)", list(TILES))
    for tile, split in zip(TILES, splits, strict=True):
        assert 0 < split < tile * tile
        assert split % WARP == 0 or tile * tile <= WARP

"""The small figures say what the microscope counts, and what the models hold."""

import re

import numpy as np
import pytest

from chapters.ch03_naive import figures as ch03
from chapters.ch04_tiled import figures as ch04
from chapters.ch05_memory_access import figures as ch05
from chapters.ch05b_banks import figures as ch05b
from chapters.ch07_register_tiling import figures as ch07
from chapters.ch08_tensor_cores import figures as ch08
from kernels import LADDER, lab
from kernels.host.tiles import tile_of
from kernels.lab.widgets.micro import said, unpacked
from kernels.measure.occupancy import MAX_REGISTERS
from kernels.measure.oracle import inputs, poisoned
from kernels.patterns import banks, copies
from tests.pages import of_chapters

FIGURES = of_chapters("figures")
#: The most that a figure may add to a page, in bytes.
LARGEST = 20_000


def frames(figure) -> dict[tuple, list]:
    """The frames of a figure by the values of its controls."""
    (first, *more) = figure.controls
    keys = [(a,) for a in first[1]] if not more else [(a, b) for a in first[1] for b in more[0][1]]
    return dict(zip(keys, figure.frames, strict=True))


def numbers(frame) -> list[float]:
    """The numbers of a frame's sentence, in their order."""
    text = re.sub(r"(?<=\d),(?=\d{3})", "", said(frame[0]))
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]


def cells(frame, grid: int = 0) -> str:
    return unpacked(frame[1][grid])


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_small_and_says_something_else_for_each_setting(name):
    figure = FIGURES[name]()
    assert len(str(figure.get_state()["frames"])) < LARGEST
    assert len({frame[0] for frame in figure.frames}) == len(figure.frames)
    assert max(figure.size) <= 310, "it fits a phone"
    assert len(figure.controls) <= 2
    assert figure.title and figure.alt.endswith(".")


@pytest.mark.parametrize(("TM", "TN"), [(1, 1), (2, 4), (8, 8)])
def test_edges_and_area_are_those_that_the_microscope_counts(TM, TN):
    options = {"BM": 8 * TM, "BN": 8 * TN, "BK": 8, "TM": TM, "TN": TN}
    M, N, K = 8 * TM, 8 * TN, 16
    A, B = inputs(M, N, K)
    rung = LADDER["thread_tiled"]
    grid, block = rung.launch(M, N, **options)
    trace = lab.trace(rung.kernel(**options), grid, block, A, B, poisoned(M, N))
    read = sum(s.lanes for s in trace.sites if (s.space, s.op) == ("shared", "load"))
    frame = frames(ch07.thread_tile())[str(TM), str(TN)]
    per = [read / (np.prod(grid) * np.prod(block) * K), read / (M * N * K)]
    assert [numbers(frame)[2], numbers(frame)[6]] == pytest.approx(per, rel=0.005)
    assert cells(frame, 2).count("c") == TM * TN


def test_sums_without_a_register_are_marked():
    frame = frames(ch07.thread_tile())["16", "16"]
    assert cells(frame, 2).count("x") == 16 * 16 + 16 + 16 - MAX_REGISTERS


@pytest.mark.parametrize("registers", ["32", "128", "255"])
def test_blocks_that_fit_are_those_of_the_calculator(registers):
    frame = frames(ch07.register_budget())[(registers,)]
    fits = lab.occupancy(256, registers=int(registers))
    assert cells(frame).count("t") == fits.warps
    assert numbers(frame)[4:6] == [fits.blocks, fits.warps]


@pytest.mark.parametrize(
    ("setting", "step", "busy"), [(("1", "4"), 6, 33), (("2", "4"), 4, 50), (("3", "4"), 2, 100)]
)
def test_the_units_wait_as_long_as_the_sentence_says(setting, step, busy):
    frame = frames(ch07.buffers_over_time())[setting]
    assert numbers(frame)[3:] == [step, busy]
    units = cells(frame, 4)
    assert units[8:20].count("c") == round(0.12 * busy)


def test_a_compact_warp_needs_the_fewest_numbers():
    needed = {shape: numbers(frame)[-1] for (shape,), frame in frames(ch07.warp_shape()).items()}
    assert needed["2 × 16"] == 144 and needed["4 × 8"] == min(needed.values()) == 96


def test_blocks_that_form_a_square_need_the_fewest_strips():
    strips = {int(rows): numbers(frame)[-2] for (rows, running), frame in
              frames(ch07.block_order()).items() if running == "264"}  # fmt: skip
    assert strips[1] == 5 + 64 and min(strips, key=strips.get) == 16
    frame = frames(ch07.block_order())["16", "264"]
    assert [cells(frame, grid).count(kind) for grid, kind in enumerate("abc")] == [16, 16 + 1, 264]


@pytest.mark.parametrize(("across", "down", "group"), [(3, 5, 2), (2, 4, 8), (4, 2, 1)])
def test_a_block_takes_the_tile_that_the_kernel_gives_it(across, down, group):
    rung = LADDER["swizzled"]
    options = rung.defaults | {"group": group}
    BM, BN = options["BM"], options["BN"]
    A, B = np.ones((down * BM, 1), np.float32), np.ones((1, across * BN), np.float32)
    C = np.zeros((len(A), B.shape[1]), np.float32)
    grid, block = rung.launch(*C.shape, **options)
    for number in range(across * down):
        one = [(number % across, number // across)]
        trace = lab.trace(rung.kernel(**options), grid, block, A, B, C, blocks=one)
        (row, *_), (column, *_) = np.nonzero(trace.heat("C").stores)
        assert (row // BM, column // BN) == tile_of(number, across, down, group)


def test_all_lanes_together_hold_each_element_once():
    figure = ch08.fragment()
    for grid, kind in enumerate("abc"):
        held = [[cell == kind for cell in cells(frame, grid)] for frame in figure.frames]
        assert (np.sum(held, axis=0) == 1).all()
    assert "C[5, 2], C[5, 3], C[13, 2], C[13, 3]" in said(figure.frames[21][0])


@pytest.mark.parametrize(
    ("first", "told"),
    [
        ("128", "fp16 has all of them, bf16 has all of them"),
        ("2048", "fp16 every 2nd, bf16 every 16th. In fp16, 2,048 + 1 is 2048"),
        ("65536", "fp16 has no number as large"),
    ],
)
def test_whole_numbers_are_those_of_the_format(first, told):
    assert told in said(frames(ch08.whole_numbers())[(first,)][0])


def test_the_last_round_is_what_is_left():
    found = frames(ch08.rounds_of_tiles())
    assert cells(found[("4096",)]).count("t") == 512 - 3 * 132
    assert numbers(found[("8192",)])[-1] == round(100 * 2048 / (16 * 132))


@pytest.mark.parametrize("tile", [8, 16, 32])
def test_loads_that_are_left_are_those_that_the_microscope_counts(tile):
    A, B = inputs(64, 64, 64)

    def loads(rung, **options):
        launch = LADDER[rung].launch(64, 64, **options)
        seen = lab.trace(LADDER[rung].kernel(**options), *launch, A, B, poisoned(64, 64))
        return seen.count(space="global", op="load")["lanes"]

    saved = loads("naive", block=32) / loads("tiled", tile=tile)
    frame = frames(ch04.loads_by_tile())[(str(tile),)]
    assert cells(frame).count("a") == 1024 / saved and numbers(frame)[2] == saved


def test_threads_at_the_edge_are_those_of_the_grid():
    for (N,), frame in frames(ch04.edge_blocks()).items():
        grid, block = LADDER["tiled"].launch(6, int(N), tile=4)
        kinds = cells(frame)
        assert kinds.count("c") == 6 * int(N)
        assert kinds.count("c") + kinds.count("x") == np.prod(grid) * np.prod(block)


def test_a_barrier_costs_time_and_saves_every_number():
    found = frames(ch04.late_warp())
    for late in range(9):
        hasty, patient = found[str(late), "no"], found[str(late), "yes"]
        assert cells(hasty, 1).count("x") == max(0, late - 4)
        assert cells(hasty, 0).count("x") == 8 * max(0, late - 4)
        assert "x" not in cells(patient, 1) and cells(patient, 1).count(".") == late


def test_an_element_lies_where_numpy_puts_it():
    C = np.zeros((8, 16))
    for frame in ch03.own_element().frames:
        place = cells(frame).index("h")
        row, column = np.unravel_index(place, C.shape)
        assert f"C[{row}, {column}]" in said(frame[0]) and f"= {place} in" in said(frame[0])


def test_the_limit_is_the_roof_s():
    roof = lab.roofline.recorded(lab.records.load(lab.records.DEFAULT_GPU))
    for (uses,), frame in frames(ch03.reuse_and_roof()).items():
        share = roof.attainable(int(uses) / 4) / roof.compute
        assert cells(frame).count("t") == round(200 * share)
        assert numbers(frame)[-1] == pytest.approx(100 * share, abs=0.5)


@pytest.mark.parametrize(("shape", "name"), [("32 × 1", "naive"), ("1 × 32", "swapped")])
def test_sectors_of_a_warp_are_those_that_the_microscope_counts(shape, name):
    M = N = K = 64
    A, B = inputs(M, N, K)
    rung = LADDER[name]
    trace = lab.trace(rung.kernel(), *rung.launch(M, N, block=32), A, B, poisoned(M, N))
    counted = {site.array: site.sectors_per_request for site in trace.sites if site.op == "load"}
    frame = frames(ch03.warp_shape_and_sectors())[(shape,)]
    assert numbers(frame)[2:4] == [counted["A"], counted["B"]]
    assert name in said(frame[0])


@pytest.mark.parametrize("stride", [1, 2, 3, 8, 16])
def test_sectors_by_stride_are_those_that_the_microscope_counts(stride):
    a, b = np.zeros(32 * 1024, np.float32), np.zeros(1024, np.float32)
    seen = lab.trace(copies.strided_load, *copies.launch(1024), a, b, np.int32(stride))
    site = next(site for site in seen.sites if site.array == "a")
    frame = frames(ch05.sectors_by_stride())[(str(stride),)]
    assert numbers(frame)[2] == site.sectors_per_request
    assert sum(cells(frame, sector).count("t") for sector in range(4)) == 32


@pytest.mark.parametrize("stride", [0, 1, 4, 12, 32, 33])
def test_banks_by_stride_are_those_that_the_microscope_counts(stride):
    seen = lab.trace(banks.strided_reads, 1, 32, np.zeros(32, np.float32), np.int32(stride),
                     np.int32(1))  # fmt: skip
    site = next(site for site in seen.sites if (site.space, site.op) == ("shared", "load"))
    frame = frames(ch05b.banks_by_stride())[(str(stride),)]
    assert numbers(frame)[-1] == site.wavefronts_per_request
    assert cells(frame).count("t") + cells(frame).count("h") == (32 if stride else 1)


def test_an_odd_padding_or_a_swizzle_of_32_words_frees_a_column():
    for (padding, swizzle), frame in frames(ch05b.padded_column()).items():
        wavefronts = numbers(frame)[2]
        assert wavefronts == np.gcd(32 + int(padding) + (swizzle == "yes"), 32)
    assert numbers(frames(ch05b.padded_column())["0", "yes"])[2] == 1

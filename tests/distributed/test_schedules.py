"""Schedules as data: every algorithm is right on any grid, and moves what it says."""

from dataclasses import replace
from math import prod

import numpy as np
import pytest

from kernels.distributed.algorithms import ALGORITHMS, schedule
from kernels.distributed.choose import choose_algorithm
from kernels.distributed.cost import Machine, predict
from kernels.distributed.grid import Grid, cut
from kernels.distributed.schedule import Move
from kernels.distributed.simulation import simulate
from kernels.distributed.store import NotThere
from kernels.measure import oracle

GRIDS = {"summa": ("1", "2x2", "2x3", "3x2", "4", "1x3")}
CASES = [
    (name, gpus, pieces)
    for name, algorithm in ALGORITHMS.items()
    for gpus in GRIDS.get(name, ("1", "2", "3", "4"))
    for pieces in ((1, 2, 3) if algorithm.in_pieces else (1,))
]
SHAPES = ((37, 41, 53), (24, 24, 24), (61, 19, 24))
LINK = Machine(flops=1e12, bandwidth=1e10)


@pytest.mark.parametrize(("name", "gpus", "pieces"), CASES)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_simulated_product_is_right_and_its_bytes_are_those_predicted(
    name, gpus, pieces, shape
):
    plan = schedule(name, *shape, gpus, pieces)
    A, B = oracle.inputs(*shape)
    found = simulate(plan, A, B)
    oracle.check(found.C, A, B)
    ranks = range(plan.grid.size)
    assert found.received == [plan.received(rank, 4) for rank in ranks]
    assert found.sent == [plan.sent(rank, 4) for rank in ranks]
    assert sum(found.sent) == sum(found.received) == plan.traffic(4)
    assert [found.stores[r].nbytes for r in ranks] == [plan.memory(r, 4) for r in ranks]


@pytest.mark.parametrize(("name", "gpus", "pieces"), CASES)
def test_every_element_is_held_once_and_every_product_done_once(name, gpus, pieces):
    M, N, K = SHAPES[0]
    plan = schedule(name, M, N, K, gpus, pieces)
    copies = plan.grid.size if name == "replicated" else 1
    for matrix, shape, times in (("A", (M, K), 1), ("B", (K, N), copies)):
        held = np.zeros(shape, int)
        for tile in (tile for tiles in plan.holds for tile in tiles if tile.matrix == matrix):
            held[tile.slices] += 1
        assert (held == times).all()
    blocks = np.zeros((M, N), int)
    for tile in plan.results:
        blocks[tile.slices] += 1
    assert (blocks == 1).all()
    assert sum(p.flop for step in plan.steps for p in step.products) == 2 * prod(SHAPES[0])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_numbers_of_16_bits_are_summed_in_float32(dtype):
    A, B = oracle.inputs(*SHAPES[0], dtype=dtype)
    plan = schedule("summa", *SHAPES[0], "2x2")
    found = simulate(plan, A, B)
    oracle.check(found.C, A, B)
    assert sum(found.received) == plan.traffic(2)


def test_a_tile_that_was_never_sent_is_missed():
    plan = schedule("rows", 8, 8, 8, 2)
    first, second = plan.steps
    less = replace(plan, steps=(first, second._replace(fetches=())))
    with pytest.raises(NotThere, match=r"rank 0 has no B\[0:8, 4:8\]: it was never sent here"):
        simulate(less, *oracle.inputs(8, 8, 8))


def test_a_tile_is_gone_two_steps_after_it_came():
    plan = schedule("rows", 8, 8, 8, 4)
    late = plan.steps[3]
    passed_on = late._replace(fetches=(Move(plan.steps[1].products[0].b, 0, 1),))
    less = replace(plan, steps=(*plan.steps[:3], passed_on))
    with pytest.raises(NotThere, match="or is gone"):
        simulate(less, *oracle.inputs(8, 8, 8))


def test_what_each_algorithm_receives():
    n, p = 64, 4
    whole = 4 * n * n
    expected = {"replicated": 0, "rows": 3 / 4, "ring": 3 / 4, "summa": 2 / 4, "split_k": 3 / 4}
    for name, share in expected.items():
        plan = schedule(name, n, n, n, "2x2" if name == "summa" else p)
        assert plan.received(0, 4) == share * whole


def test_the_ring_sends_to_one_neighbour_only():
    plan = schedule("ring", 64, 64, 64, 4)
    assert {(move.source - move.to) % 4 for move in plan.moves} == {1}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("rows", 64, 64, 64, "2x2"), "rows puts GPUs in one row, not 2x2: use 4, or summa"),
        (("rows", 1, 64, 64, 2), "M = 1 is too small for 2 parts: use fewer GPUs"),
        (("summa", 64, 64, 1, "2x2"), "K = 1 is too small for 2 parts"),
        (("ring", 64, 64, 64, 2, 2), "ring moves whole tiles, not 2 pieces: use 1, or rows"),
        (("rows", 64, 64, 64, "0"), "'0' is no number of GPUs: use a number such as 4, or 2x2"),
        (("rows", 64, 64, 64, "2x"), "'2x' is no number of GPUs"),
        (("rows", 0, 64, 64, 2), "M must be at least 1, got 0"),
        (("best", 64, 64, 64, 2), "no algorithm 'best': there are replicated, rows"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_line(arguments, told):
    with pytest.raises((ValueError, LookupError)) as error:
        schedule(*arguments)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_parts_differ_by_one_at_most():
    assert [span.size for span in cut(11, 4, "M")] == [3, 3, 3, 2]
    assert Grid.parse("3x2") == Grid(3, 2)
    assert Grid(2, 3).place(5) == (1, 2)
    assert Grid(2, 3).rank(1, 2) == 5


def test_traffic_hides_behind_arithmetic_where_it_is_shorter():
    n = 1024
    plan = schedule("rows", n, n, n, 2)
    alone = 2 * n**3 / 2 / LINK.flops
    moved = 4 * n * n / 2 / LINK.bandwidth
    found = predict(plan, LINK)
    assert found.arithmetic == pytest.approx(alone)
    assert found.traffic == pytest.approx(moved)
    assert found.seconds == pytest.approx(alone)
    assert found.in_turn == pytest.approx(alone + moved)
    slow = predict(plan, Machine(LINK.flops, LINK.bandwidth / 100))
    assert slow.seconds == pytest.approx(100 * moved + alone / 2)


def test_the_first_panels_of_summa_cannot_hide():
    n = 1024
    plan = schedule("summa", n, n, n, "2x2")
    found = predict(plan, LINK)
    assert found.exposed == pytest.approx(found.traffic / len(plan.steps))
    finer = predict(schedule("summa", n, n, n, "2x2", 8), LINK)
    assert finer.exposed == pytest.approx(found.exposed / 8)


def test_no_buffer_is_filled_before_it_is_free():
    plan = schedule("summa", 64, 64, 64, 4, 4)
    found = predict(plan, Machine(1e9, 1e9))
    for earlier, later in zip(found.timeline, found.timeline[2:], strict=False):
        assert later.fetches[0] >= earlier.products[1] or later.fetches[0] == later.fetches[1]


@pytest.mark.parametrize(
    ("shape", "replicated", "name", "why"),
    [
        ((16384, 16384, 16384), False, "rows", "all traffic hides behind arithmetic"),
        ((16384, 16384, 16384), True, "replicated", "nothing moves"),
        ((1024, 1024, 2**20), False, "split_k", "all traffic hides"),
        ((65536, 512, 512), False, "rows", ""),
    ],
)
def test_the_chooser_says_why(shape, replicated, name, why):
    link = Machine(flops=50e12, bandwidth=400e9)
    found = choose_algorithm(*shape, 2, link, replicated=replicated)
    assert found.schedule.algorithm == name
    assert why in found.why
    assert name in str(found)


def test_the_chooser_keeps_to_the_memory():
    link = Machine(flops=50e12, bandwidth=400e9)
    free = choose_algorithm(4096, 4096, 4096, 4, link, replicated=True)
    assert free.schedule.algorithm == "replicated"
    tight = choose_algorithm(4096, 4096, 4096, 4, link, replicated=True, memory=80e6)
    assert tight.schedule.algorithm != "replicated"
    with pytest.raises(MemoryError, match="needs .* GB on each of 4 GPUs, which have 0.00 GB"):
        choose_algorithm(4096, 4096, 4096, 4, link, memory=1000)

"""The schedule on streams of several GPUs: whatever the order that events allow, C is right."""

import pytest

from kernels.distributed.algorithms import ALGORITHMS, schedule
from kernels.distributed.copies import Copies
from kernels.measure import oracle

CASES = [
    (each.name, grid, pieces)
    for each in ALGORITHMS.values()
    for grid, pieces in (("2", 1), ("4", 1), ("3", 2), ("2x2", 1), ("2x3", 2))
    if (pieces == 1 or each.in_pieces) and ("x" not in grid or each.in_grid)
]
SHAPE = (17, 19, 23)


@pytest.mark.parametrize(("name", "grid", "pieces"), CASES)
@pytest.mark.parametrize("overlap", [True, False])
def test_every_order_of_the_streams_gives_the_product(gpus, name, grid, pieces, overlap):
    plan = schedule(name, *SHAPE, grid, pieces)
    A, B = oracle.inputs(*SHAPE)
    for seed in range(20):
        fakes = gpus(plan.grid.size, seed=seed)
        run = Copies(plan, A, B, overlap=overlap)
        for _ in range(2):
            run.poison()
            run.run()
            oracle.check(run.C, A, B)
        assert fakes.copied == 2 * plan.traffic(4)


@pytest.mark.parametrize("kind", ["multiplied", "moved"])
def test_a_wait_that_is_left_out_shows(gpus, monkeypatch, kind):
    whole = Copies._wait
    monkeypatch.setattr(
        Copies, "_wait", lambda self, stream, key: key[0] == kind or whole(self, stream, key)
    )
    plan = schedule("summa", *SHAPE, 2, 8)
    A, B = oracle.inputs(*SHAPE)
    wrong = 0
    for seed in range(20):
        gpus(2, seed=seed)
        run = Copies(plan, A, B)
        run.poison()
        run.run()
        try:
            oracle.check(run.C, A, B)
        except oracle.WrongResult:
            wrong += 1
    assert wrong


def test_two_runs_in_one_queue_do_not_disturb_each_other(gpus):
    plan = schedule("summa", *SHAPE, "2x2")
    A, B = oracle.inputs(*SHAPE)
    for seed in range(20):
        gpus(4, seed=seed)
        run = Copies(plan, A, B)
        run.poison()
        run.run()
        run.run()
        oracle.check(run.C, A, B)


def test_a_gpu_that_is_missing_is_one_line(gpus):
    gpus(2)
    with pytest.raises(RuntimeError, match=r"2x2 needs 4 GPUs, and this machine has 2: use 2"):
        Copies(schedule("summa", *SHAPE, "2x2"), *oracle.inputs(*SHAPE))


def test_too_little_memory_is_one_line(gpus):
    gpus(2, memory=1000)
    with pytest.raises(MemoryError, match=r"rank 0 needs .* GB free: use smaller sizes"):
        Copies(schedule("rows", *SHAPE, 2), *oracle.inputs(*SHAPE))


def test_a_sum_in_16_bits_is_refused(gpus):
    gpus(2)
    A, B = oracle.inputs(*SHAPE, dtype="float16")
    with pytest.raises(TypeError, match="use a C of float32"):
        Copies(schedule("split_k", *SHAPE, 2), A, B, "float16")

"""Products on several GPUs: right on odd sizes, as copies and over NCCL, with a rung as well."""

import numpy as np
import pytest

from kernels.distributed import layers, machine
from kernels.distributed.algorithms import ALGORITHMS, schedule
from kernels.distributed.collectives import Simulated
from kernels.distributed.copies import Copies
from kernels.distributed.grid import Grid
from kernels.distributed.nccl_ranks import Nccl
from kernels.distributed.worker import Job, carry_out, product
from kernels.measure import oracle
from kernels.measure.distributed import collectives

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(machine.count() < 2, reason="needs two GPUs"),
]
SHAPE = (517, 389, 645)


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("overlap", [True, False])
def test_copies_give_the_product_again_and_again(name, dtype, overlap):
    A, B = oracle.inputs(*SHAPE, dtype=dtype)
    run = Copies(schedule(name, *SHAPE, 2), A, B, overlap=overlap)
    try:
        for _ in range(3):
            run.poison()
            run.run()
            oracle.check(run.C, A, B)
    finally:
        run.close()


def test_processes_over_nccl_give_the_product(tmp_path):
    A, B = oracle.inputs(*SHAPE)
    jobs = []
    for name in ALGORITHMS:
        place = tmp_path / name
        place.mkdir()
        np.save(place / "A.npy", A)
        np.save(place / "B.npy", B)
        jobs.append(Job(name, Grid(2), str(place), repeats=1))
    carry_out(jobs, "nccl", 120)
    for job in jobs:
        oracle.check(product(job), A, B)


def test_a_rung_multiplies_in_place_of_the_library(tmp_path):
    A, B = oracle.inputs(*SHAPE)
    np.save(tmp_path / "A.npy", A)
    np.save(tmp_path / "B.npy", B)
    job = Job("summa", Grid(2), str(tmp_path), local="tiled")
    carry_out([job], "nccl", 120)
    oracle.check(product(job), A, B)


def each(result):
    """The arrays of a rank's result, in float64."""
    arrays = result if isinstance(result, tuple) else (result,)
    return [array.astype(np.float64) for array in arrays]


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_programs_of_two_ranks_give_over_nccl_what_they_give_in_numpy(dtype):
    rng = np.random.default_rng(5)

    def numbers(*shape):
        return (rng.integers(-8, 9, shape) / 8).astype(dtype)

    X, W1, W2 = numbers(64, 48), numbers(48, 96), numbers(96, 48)
    columns, rows = np.split(W1, 2, axis=1), np.split(W2, 2)
    hidden = np.split(numbers(64, 96), 2, axis=1)
    choice = [rng.permutation(np.repeat(np.arange(2), 16)) for _ in range(2)]
    cases = {
        layers.column_then_row: ([X] * 2, columns, rows),
        layers.ring_all_reduce: ([numbers(8, 33), numbers(8, 33)],),
        layers.sequence_parallel: (np.split(X, 2), columns, rows),
        layers.chunked: (hidden, rows, [3, 3]),
        layers.training_step: (np.split(X, 2), np.split(numbers(64, 48), 2), [W1] * 2, [W2] * 2,
                               [0.125] * 2),
        layers.experts: (np.split(X, 2), choice, [W1, -W1], [W2, W2]),
    }  # fmt: skip
    over, here = Nccl(2), Simulated(2)
    try:
        for program, arguments in cases.items():
            for _ in range(3):
                found, right = over.run(program, *arguments), here.run(program, *arguments)
                for mine, theirs in zip(map(each, found), map(each, right), strict=True):
                    for a, b in zip(mine, theirs, strict=True):
                        near = (2e-5 if dtype == "float32" else 2e-2) * (np.abs(b).max() + 1)
                        np.testing.assert_allclose(a, b, rtol=0, atol=near)
    finally:
        over.close()


def test_the_collectives_are_measured():
    found = collectives.measure(2)
    kinds = len(collectives.KINDS) + len(collectives.CHOICES) - 1
    assert len(found["collectives"]) == kinds * len(collectives.SIZES)
    assert [row["options"]["chunks"] for row in found["chunked"]] == list(collectives.CHUNKS)

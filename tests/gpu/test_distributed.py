"""Products on several GPUs: right on odd sizes, as copies and over NCCL, with a rung as well."""

import numpy as np
import pytest

from kernels.distributed import machine
from kernels.distributed.algorithms import ALGORITHMS, schedule
from kernels.distributed.copies import Copies
from kernels.distributed.grid import Grid
from kernels.distributed.worker import Job, carry_out, product
from kernels.measure import oracle

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

"""Every algorithm on all GPUs, in turn with cuBLAS on one, and other libraries beside them."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from kernels.distributed import machine
from kernels.distributed.algorithms import ALGORITHMS, schedule
from kernels.distributed.copies import Copies
from kernels.distributed.grid import Grid
from kernels.distributed.schedule import Schedule
from kernels.distributed.worker import Job, carry_out, product
from kernels.measure import probes
from kernels.measure.bench.case import REST
from kernels.measure.bench.step import Step, Tables, one_line
from kernels.measure.distributed import peers
from kernels.measure.distributed.problem import Problem
from kernels.measure.timing import time_in_turn

DTYPES = ("float32", "bfloat16")
CUBES = (2048, 4096, 8192, 16384)
#: Where processes and other libraries are measured too: they take seconds to start.
COMPARED = (4096, 16384)
#: M, N, K of thin products: a tall A, and sums that are long beside what they give.
THIN = ((65536, 2048, 2048), (2048, 2048, 65536))
#: Weak scaling: rows of A for each GPU, and the other two sizes.
WEAK = 8192
#: What is measured of thin products, and of weak scaling.
OF_THIN, OF_WEAK = ("replicated", "rows", "summa", "split_k"), ("rows",)
#: FLOP between two moments when all processes wait for each other: products that are shorter are
#: repeated, so that this wait does not count.
BATCH, MOST = 2e12, 50
#: Seconds for timing one version; and how often processes repeat a product.
LIMIT, REPEATS = 0.6, 9
#: Seconds that the processes of one step may take.
PATIENCE = 90.0
#: The rungs that multiply on each GPU in place of cuBLAS, by number format.
LOCAL = {"float32": "swizzled", "bfloat16": "specialized"}
TRANSPORT = "nccl"


def steps(gpus: int) -> list[Step]:
    """A step for each shape in each number format, the large ones first."""
    everything = tuple(ALGORITHMS)
    shapes = dict.fromkeys(((size, size, size) for size in reversed(CUBES)), everything)
    shapes |= dict.fromkeys(THIN, OF_THIN) | {(gpus * WEAK, WEAK, WEAK): OF_WEAK}
    return [
        Step(
            f"{'×'.join(map(str, shape))}, {dtype}",
            lambda shape=shape, dtype=dtype, names=names: timings(*shape, dtype, gpus, names),
        )
        for shape, names in shapes.items()
        for dtype in DTYPES
    ]


def squarest(gpus: int) -> Grid:
    """The grid of all GPUs that is nearest to a square."""
    q = max(q for q in range(1, int(gpus**0.5) + 1) if gpus % q == 0)
    return Grid(gpus // q, q)


def versions(gpus: int, names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Algorithm, grid, pieces and overlap of everything that one process measures."""
    for algorithm in map(ALGORITHMS.get, names):
        grids = {Grid(gpus), squarest(gpus)} if algorithm.in_grid else {Grid(gpus)}
        for grid in sorted(grids):
            for pieces in (1, 4) if algorithm.in_pieces else (1,):
                yield {"name": algorithm.name, "grid": grid, "pieces": pieces, "overlap": True}
    if names == tuple(ALGORITHMS):
        yield {"name": "rows", "grid": Grid(gpus), "pieces": 1, "overlap": False}


def timings(
    M: int, N: int, K: int, dtype: str, gpus: int, names: tuple[str, ...] = tuple(ALGORITHMS)
) -> Tables:
    """All versions of some algorithms for A (M×K) and B (K×N): rows of the table ``timings``."""
    problem, rows = Problem(M, N, K, dtype), []

    def add(measure: Callable[..., list[dict[str, Any]]], *of: Any, **version: Any) -> None:
        try:
            rows.extend(measure(problem, *of, **version))
        except Exception as error:  # the others are measured all the same
            what = " ".join(map(str, (measure.__name__, *version.values())))
            warnings.warn(f"not measured: {what}: {one_line(error)}", stacklevel=2)
        machine.free_memory()

    for out_dtype in dict.fromkeys(("float32", dtype)):
        add(one_gpu, out_dtype)
    for version in versions(gpus, names):
        add(by_copies, **version)
    if M == N == K and M in COMPARED:
        with tempfile.TemporaryDirectory() as name:
            problem.save(Path(name))
            for group in in_processes(gpus, dtype):
                add(by_processes, Path(name), group)
            add(by_torch, Path(name), gpus)
        if dtype != "bfloat16":  # CuPy has no such numbers
            add(by_cupy, gpus)
    return {"timings": rows}


def _row(problem: Problem, rung: str, engine: str, gpus: int, options: dict[str, Any],
         out_dtype: str, seconds: dict[str, float], **found: Any) -> dict[str, Any]:  # fmt: skip
    return {
        "rung": rung, "engine": engine, "options": options, **problem.sizes,
        "out_dtype": out_dtype, "gpus": gpus, "seconds": seconds,
        "gflops": float(f"{problem.flop / seconds['median'] / 1e9:.5g}"), **found,
    }  # fmt: skip


def one_gpu(problem: Problem, out_dtype: str) -> list[dict[str, Any]]:
    """cuBLAS on one GPU alone."""
    launch = problem.one_gpu(out_dtype)
    (found,) = time_in_turn([launch], flush_l2=False, limit=LIMIT, rest=REST)
    row = _row(problem, "cublas", "library", 1, {}, out_dtype, probes.timing(found))
    return [{**row, "cublas_gflops": row["gflops"], "correct": True}]


def by_copies(
    problem: Problem, name: str, grid: Grid, pieces: int, overlap: bool
) -> list[dict[str, Any]]:
    """One version, driven by one process that copies from GPU to GPU."""
    plan = schedule(name, problem.M, problem.N, problem.K, grid, pieces)
    out_dtype = result_dtype(plan, problem)
    options = {"grid": str(grid), "pieces": pieces, "overlap": overlap}
    run = Copies(plan, problem.A, problem.B, out_dtype, overlap)
    try:
        run.poison()
        run.run()
        checked = problem.check(run.C)
        launches = [problem.one_gpu(out_dtype), run.run]
        with run.leading():
            beside, found = time_in_turn(launches, flush_l2=False, limit=LIMIT, warmup=1, rest=REST)
        return [
            _row(
                problem, name, "copies", grid.size, options, out_dtype, probes.timing(found),
                **checked, received=received(plan, problem),
                cublas_gflops=float(f"{problem.flop / beside.median / 1e9:.5g}"),
            )
        ]  # fmt: skip
    finally:
        run.close()


def received(plan: Schedule, problem: Problem) -> list[int]:
    """Bytes that each rank receives."""
    return [plan.received(rank, problem.A.dtype.itemsize) for rank in range(plan.grid.size)]


def result_dtype(plan: Schedule, problem: Problem) -> str:
    """The format of C: that of A and B, or float32 where sums are added to it step by step."""
    return "float32" if plan.accumulates else problem.dtype


def in_processes(gpus: int, dtype: str) -> list[list[Job]]:
    """What is measured with one process for each GPU, in groups that are started together."""
    all_gpus, grid = Grid(gpus), squarest(gpus)
    usual = [
        Job("rows", all_gpus), Job("rows", all_gpus, overlap=False),
        Job("rows", all_gpus, pieces=4), Job("ring", all_gpus),
        Job("summa", grid), Job("summa", grid, pieces=4), Job("split_k", all_gpus),
    ]  # fmt: skip
    return [usual, [Job("rows", all_gpus, local=LOCAL[dtype])]]


def by_processes(problem: Problem, folder: Path, jobs: list[Job]) -> list[dict[str, Any]]:
    """Versions with one process for each GPU; the folder holds A and B."""
    todo = []
    for job in jobs:
        plan = schedule(job.algorithm, problem.M, problem.N, problem.K, job.grid, job.pieces)
        place = Path(tempfile.mkdtemp(dir=folder))
        for matrix in ("A.npy", "B.npy"):
            (place / matrix).symlink_to(folder / matrix)
        out_dtype = result_dtype(plan, problem)
        todo.append(replace(job, folder=str(place), out_dtype=out_dtype,
                            repeats=REPEATS, batch=batch(problem)))  # fmt: skip
    rows = []
    for job, ranks in zip(todo, carry_out(todo, TRANSPORT, PATIENCE), strict=True):
        seconds = np.max([rank.seconds for rank in ranks], axis=0).tolist()
        options = {"grid": str(job.grid), "pieces": job.pieces, "overlap": job.overlap,
                   "local": job.local}  # fmt: skip
        rows.append(
            _row(
                problem, job.algorithm, TRANSPORT, job.grid.size, options, job.out_dtype,
                probes.spread(seconds), **problem.check(product(job)),
                received=[rank.received for rank in ranks],
            )
        )  # fmt: skip
    return rows


def batch(problem: Problem) -> int:
    """How many products are timed together."""
    return min(MOST, max(1, round(BATCH / problem.flop)))


def by_cupy(problem: Problem, gpus: int) -> list[dict[str, Any]]:
    """CuPy's distributed arrays."""
    C, seconds = peers.cupy_rows(problem, gpus, REPEATS, batch(problem))
    return [_library(problem, "cupyx.distributed", gpus, C, seconds)]


def by_torch(problem: Problem, folder: Path, gpus: int) -> list[dict[str, Any]]:
    """PyTorch's DTensor, B replicated and gathered; the folder holds A and B."""
    rows = []
    for name, seconds in peers.dtensor(
        folder, gpus, problem.dtype, REPEATS, batch(problem)
    ).items():
        blocks = [np.load(folder / f"{name}-{rank}.npy") for rank in range(gpus)]
        rows.append(_library(problem, name, gpus, np.concatenate(blocks), seconds))
    return rows


def _library(
    problem: Problem, name: str, gpus: int, C: Any, seconds: list[float]
) -> dict[str, Any]:
    found, checked = probes.spread(seconds), problem.check(C)
    return _row(problem, name, "library", gpus, {}, problem.dtype, found, **checked)

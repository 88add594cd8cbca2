"""Every algorithm on all GPUs, in turn with cuBLAS on one, and other libraries beside them."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kernels.distributed import machine
from kernels.distributed.algorithms import ALGORITHMS, schedule
from kernels.distributed.copies import Copies
from kernels.distributed.grid import Grid, cut
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
#: Up to here a product may be so short that launching it piece by piece takes longer.
LAUNCHED = 8192**3
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
    problem = Problem(M, N, K, dtype)
    try:
        rows = [row for version in versions(gpus, names) for row in _copies(problem, **version)]
        if M == N == K and M in COMPARED:
            rows += _processes(problem, gpus)
            rows += _libraries(problem, gpus)
        alone = [_one_gpu(problem, out) for out in dict.fromkeys(("float32", dtype))]
        return {"timings": [*alone, *rows]}
    finally:
        del problem
        machine.free_memory()


def _row(problem: Problem, rung: str, engine: str, gpus: int, options: dict[str, Any],
         out_dtype: str, seconds: dict[str, float], **found: Any) -> dict[str, Any]:  # fmt: skip
    return {
        "rung": rung, "engine": engine, "options": options, **problem.sizes,
        "out_dtype": out_dtype, "gpus": gpus, "seconds": seconds,
        "gflops": float(f"{problem.flop / seconds['median'] / 1e9:.5g}"), **found,
    }  # fmt: skip


def _one_gpu(problem: Problem, out_dtype: str) -> dict[str, Any]:
    """cuBLAS on one GPU alone."""
    launch = problem.one_gpu(out_dtype)
    (found,) = time_in_turn([launch], flush_l2=False, limit=LIMIT, rest=REST)
    row = _row(problem, "cublas", "library", 1, {}, out_dtype, probes.timing(found))
    return {**row, "cublas_gflops": row["gflops"], "correct": True}


def _copies(
    problem: Problem, name: str, grid: Grid, pieces: int, overlap: bool
) -> Iterator[dict[str, Any]]:
    """One version, driven by one process: launch by launch, and as one graph."""
    plan = schedule(name, problem.M, problem.N, problem.K, grid, pieces)
    # What is added to in every step needs float32; otherwise C is as A and B.
    out_dtype = "float32" if plan.accumulates else problem.dtype
    options = {"grid": str(grid), "pieces": pieces, "overlap": overlap}
    run = None
    try:
        run = Copies(plan, problem.A, problem.B, out_dtype, overlap)
        one = problem.one_gpu(out_dtype)
        for graph in (False, True) if problem.flop <= 2 * LAUNCHED else (False,):
            launch: Callable[[], object] = run.captured() if graph else run.run
            run.poison()
            with run.leading():
                launch()
            found = {**problem.check(run.C), "received": _received(plan, problem)}
            with run.leading():
                beside, all_gpus = time_in_turn(
                    [one, launch], flush_l2=False, limit=LIMIT, warmup=1, rest=REST
                )
            yield _row(
                problem, name, "copies", grid.size, {**options, "graph": graph}, out_dtype,
                probes.timing(all_gpus), **found,
                cublas_gflops=float(f"{problem.flop / beside.median / 1e9:.5g}"),
            )  # fmt: skip
    except Exception as error:  # the others are measured all the same
        warnings.warn(f"not measured: {name} {options}: {one_line(error)}", stacklevel=2)
    finally:
        if run is not None:
            run.close()


def _received(plan: Any, problem: Problem) -> list[int]:
    """Bytes that each rank receives."""
    return [plan.received(rank, problem.A.dtype.itemsize) for rank in range(plan.grid.size)]


def _processes(problem: Problem, gpus: int) -> Iterator[dict[str, Any]]:
    """Versions with one process for each GPU, over NCCL."""
    grid = squarest(gpus)
    usual = [
        ("rows", Grid(gpus), 1, True, "cublas"), ("rows", Grid(gpus), 1, False, "cublas"),
        ("rows", Grid(gpus), 2, True, "cublas"), ("ring", Grid(gpus), 1, True, "cublas"),
        ("summa", grid, 1, True, "cublas"), ("summa", grid, 4, True, "cublas"),
        ("split_k", Grid(gpus), 1, True, "cublas"),
    ]  # fmt: skip
    own = [("rows", Grid(gpus), 1, True, LOCAL[problem.dtype])]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        problem.save(folder)
        yield from _carried_out(problem, folder, usual)
        yield from _carried_out(problem, folder, own)


def _carried_out(
    problem: Problem, folder: Path, versions: list[tuple[Any, ...]]
) -> Iterator[dict[str, Any]]:
    jobs, outs = [], []
    for name, grid, pieces, overlap, local in versions:
        plan = schedule(name, problem.M, problem.N, problem.K, grid, pieces)
        outs.append("float32" if plan.accumulates else problem.dtype)
        place = Path(tempfile.mkdtemp(dir=folder))
        for matrix in ("A.npy", "B.npy"):
            (place / matrix).symlink_to(folder / matrix)
        jobs.append(Job(name, grid, str(place), pieces, outs[-1], local, overlap, REPEATS))
    try:
        found = carry_out(jobs, TRANSPORT, PATIENCE)
    except Exception as error:
        warnings.warn(f"not measured: {versions}: {one_line(error)}", stacklevel=2)
        return
    for job, ranks, out in zip(jobs, found, outs, strict=True):
        seconds = np.max([rank.seconds for rank in ranks], axis=0).tolist()
        options = {"grid": str(job.grid), "pieces": job.pieces, "overlap": job.overlap,
                   "local": job.local}  # fmt: skip
        yield _row(
            problem, job.algorithm, TRANSPORT, job.grid.size, options, out, probes.spread(seconds),
            **problem.check(product(job)), received=[rank.received for rank in ranks],
        )  # fmt: skip


def _libraries(problem: Problem, gpus: int) -> Iterator[dict[str, Any]]:
    """Other libraries: CuPy's distributed arrays and PyTorch's DTensor."""
    rows = partial(_row, problem, engine="library", gpus=gpus, options={}, out_dtype=problem.dtype)
    if problem.dtype != "bfloat16":  # CuPy has no such numbers
        try:
            C, seconds = peers.cupy_rows(problem, gpus, REPEATS)
            yield rows(rung="cupyx.distributed", seconds=probes.spread(seconds), **problem.check(C))
            del C
        except Exception as error:
            warnings.warn(f"not measured: cupyx.distributed: {one_line(error)}", stacklevel=2)
        machine.free_memory()
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            problem.save(folder)
            found = peers.dtensor(folder, gpus, problem.dtype, REPEATS)
            for way, seconds in found.items():
                spans = cut(problem.M, gpus, "M")
                blocks = [np.load(folder / f"{way}-{rank}.npy") for rank in range(len(spans))]
                checked = problem.check(np.concatenate(blocks))
                yield rows(rung=way, seconds=probes.spread(seconds), **checked)
    except Exception as error:
        warnings.warn(f"not measured: DTensor: {one_line(error)}", stacklevel=2)

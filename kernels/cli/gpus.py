"""``run`` and ``compare`` on several GPUs: measured where they are, simulated elsewhere."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

from kernels.backend import on_gpu, why_cpu
from kernels.basics.units import quantity
from kernels.cli.console import busy, facts, out, progress
from kernels.distributed import local, lock, machine, nccl
from kernels.distributed.algorithms import ALGORITHMS, schedule
from kernels.distributed.choose import choose_algorithm
from kernels.distributed.cost import predict
from kernels.distributed.grid import Grid
from kernels.distributed.schedule import Schedule
from kernels.distributed.simulation import simulate
from kernels.distributed.worker import Job
from kernels.measure import oracle
from kernels.records import distributed as recorded
from kernels.records.record import Record, Row

#: Sizes that are compared.
SIZES = (4096, 16384)
#: The largest size whose product is simulated in less than a minute.
SIMULATED = 2048


def run(name: str, shape: tuple[int, int, int], grid: Grid, dtype: str, pieces: int,
        transport: str, multiplier: str) -> None:  # fmt: skip
    """One product by one algorithm: what each GPU holds and receives, its time, its result."""
    M, N, K = shape
    plan = schedule(name, M, N, K, grid, pieces)
    local.check(multiplier, dtype)
    if multiplier != "cublas" and transport == "copies":
        raise ValueError(f"--local {multiplier} needs a process for each GPU: add --transport nccl")
    out.print(f"{ALGORITHMS[name].title}, {grid.size} GPUs", style="bold", markup=False)
    itemsize = machine.stored(dtype).itemsize
    ranks = range(grid.size)
    told = {
        "size": f"A {M}×{K}, B {K}×{N}, C {M}×{N} in {dtype}: {plan.flop:,} FLOP",
        "grid": f"{grid}, {len(plan.steps)} steps",
        "memory": f"at most {quantity(max(plan.memory(r, itemsize) for r in ranks), 'B')} per GPU",
        "traffic": f"{quantity(plan.traffic(itemsize), 'B')} in all, at most "
        f"{quantity(max(plan.received(r, itemsize) for r in ranks), 'B')} into one GPU",
    }
    known = recorded.load_gpus(grid.size)
    if known:
        told["predicted"] = _predicted(plan, known, dtype, itemsize)
    if on_gpu:
        machine.check_gpus(grid)
        step = _measured(plan, dtype, pieces, transport, multiplier)
    else:
        step = _simulated(plan, dtype) | {"recorded": _recorded(plan, known, dtype)}
    facts(told | step)


def _predicted(plan: Schedule, known: Record, dtype: str, itemsize: int) -> str:
    found = predict(plan, recorded.machine(known, dtype), itemsize)
    return (
        f"{quantity(found.seconds, 's')}: {quantity(found.arithmetic, 's')} of arithmetic, "
        f"{quantity(found.traffic, 's')} of traffic, {quantity(found.exposed, 's')} of it exposed"
    )


def _simulated(plan: Schedule, dtype: str) -> dict[str, str]:
    if plan.M * plan.N * plan.K > SIMULATED**3:
        text = f"no GPU ({why_cpu}); its product would take minutes: try {SIMULATED} or less"
        return {"simulated": text}
    A, B = oracle.inputs(plan.M, plan.N, plan.K, dtype=dtype)
    with busy("simulating"):
        found = simulate(plan, A, B)
    moved = quantity(sum(found.received), "B")
    return {
        "simulated": f"no GPU ({why_cpu}): the ranks took turns with NumPy, and moved {moved}",
        "result": str(oracle.check(found.C, A, B)),
    }


def _measured(
    plan: Schedule, dtype: str, pieces: int, transport: str, multiplier: str
) -> dict[str, str]:
    # The instruments need a GPU, and take a second to load.
    from kernels.measure.distributed import ladder
    from kernels.measure.distributed.problem import Problem

    if transport == "nccl":
        nccl.check()
    with lock.alone(), busy("multiplying"):
        problem = Problem(plan.M, plan.N, plan.K, dtype)
        (one,) = ladder.one_gpu(problem, ladder.result_dtype(plan, problem))
        if transport == "copies":
            found = ladder.by_copies(problem, plan.algorithm, plan.grid, pieces, overlap=True)
        else:
            job = Job(plan.algorithm, plan.grid, pieces=pieces, local=multiplier)
            with tempfile.TemporaryDirectory() as folder:
                problem.save(Path(folder))
                found = ladder.by_processes(problem, Path(folder), [job])
    row = min(map(Row, found), key=lambda row: row.median)
    return {
        "time": f"{quantity(row.median, 's')}, {row.speed}",
        "speed-up": f"{Row(one).median / row.median:.2f} times one GPU with cuBLAS",
        "result": "right" if row["correct"] else "WRONG",
    }


def _recorded(plan: Schedule, known: Record, dtype: str) -> str:
    """The fastest recorded version of this product, else what is recorded at all."""
    if not known:
        there = " and ".join(map(str, recorded.recorded()))
        return f"nothing of {plan.grid.size} GPUs" + (f", but of {there}" if there else "")
    rows = [
        row
        for row in known.rows("timings", dtype=dtype, M=plan.M, N=plan.N, K=plan.K)
        if row.rung == plan.algorithm and row.correct
    ]
    if not rows:
        return f"nothing of {plan.algorithm} at this size. {known.caption()}"
    best = min(rows, key=lambda row: row.median)
    return (
        f"{best.speed}, {recorded.speed_up(known, best):.2f} times one GPU. {known.caption(best)}"
    )


def compare(grid: Grid, sizes: tuple[int, ...], dtype: str) -> dict[str, Any]:
    """All algorithms at some sizes: traffic, predicted time, and measured or recorded speed."""
    if on_gpu:
        machine.check_gpus(grid)
        from kernels.measure.distributed import ladder

        rows = []
        with lock.alone(), progress() as bar:
            task = bar.add_task("", total=len(sizes))
            for size in sizes:
                bar.update(task, description=f"{size}³, {dtype}")
                rows += ladder.timings(size, size, size, dtype, grid.size)["timings"]
                bar.advance(task)
        known = Record("here", tables={"timings": [Row(row) for row in rows]})
    else:
        out.print(f"No GPU ({why_cpu}): nothing is measured here.", markup=False)
        known = recorded.load_gpus(grid.size)
    _print_speeds(known, sizes, dtype, grid.size)
    if known.provenance:
        out.print(known.caption(), markup=False)
    for size in sizes if known.tables.get("peer_copies") else ():
        about = recorded.machine(known, dtype)
        best = choose_algorithm(size, size, size, grid.size, about, machine.stored(dtype).itemsize)
        out.print(f"{size}³, B in parts: {best}", markup=False)
    return {"provenance": known.provenance, "timings": known.tables.get("timings", [])}


def _version(row: Row) -> str:
    """How a row's algorithm was run, in words: ``"nccl 2x1, 4 pieces, in turn"``."""
    options = row.options
    words = [f"{row.engine} {options.get('grid', '')}".strip()]
    if options.get("pieces", 1) > 1:
        words.append(f"{options['pieces']} pieces")
    if not options.get("overlap", True):
        words.append("in turn")
    if options.get("local", "cublas") != "cublas":
        words.append(f"with {options['local']}")
    return ", ".join(words)


def _print_speeds(known: Record, sizes: tuple[int, ...], dtype: str, gpus: int) -> None:
    """A line for each version, a column for each size: traffic into a GPU, speed, speed-up."""
    table = Table("algorithm", "options", *(f"{size}³" for size in sizes), box=box.SIMPLE)
    lines: dict[tuple[str, str], dict[int, str]] = {}
    itemsize = machine.stored(dtype).itemsize
    for name, algorithm in ALGORITHMS.items():
        for size in sizes:
            plan = schedule(name, size, size, size, Grid(gpus))
            moved = max(plan.received(rank, itemsize) for rank in range(gpus))
            lines.setdefault((algorithm.title, "into one GPU"), {})[size] = quantity(moved, "B")
    for size in sizes:
        for row in known.rows("timings", dtype=dtype, M=size, N=size, K=size):
            text = ALGORITHMS[row.rung].title if row.rung in ALGORITHMS else row.rung
            key = text, _version(row)
            wrong = "" if row.correct else ", WRONG"
            cell = f"{row.speed} ({recorded.speed_up(known, row):.2f}×){wrong}"
            lines.setdefault(key, {})[size] = cell
    for (text, options), line in lines.items():
        table.add_row(text, options, *(line.get(size, "") for size in sizes))
    out.print(table)

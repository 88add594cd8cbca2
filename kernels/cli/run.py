"""``run``: one product, checked, timed and compared with cuBLAS."""

from __future__ import annotations

from math import prod

import click

from kernels import host, lab, records
from kernels.backend import cupy, on_gpu, why_cpu
from kernels.basics.units import percent, quantity
from kernels.cli import gpus as on_gpus
from kernels.cli.console import busy, facts, out
from kernels.cli.parameters import SIZE, Grids, Way, Whole, given, rung_options
from kernels.distributed.algorithms import ALGORITHMS
from kernels.distributed.grid import Grid
from kernels.host import half
from kernels.measure import oracle, peers
from kernels.measure.anywhere import trace_rung
from kernels.measure.bench.case import launch
from kernels.measure.bench.resources import used
from kernels.measure.timing import time as time_launch
from kernels.measure.timing import time_in_turn
from kernels.rungs.order import ENGINE_TITLES, LADDER, Rung

DTYPES = ("float32", "float16", "bfloat16")
PIECES = Whole("pieces", "use a small number such as 2")
#: The largest size whose product the interpreter finishes in less than a minute.
INTERPRETED = 2048


@click.command()
@click.argument("rung", type=Way())
@click.argument("size", type=SIZE, required=False)
@click.option("-m", "M", type=SIZE, help="Rows of A and C, if not SIZE.")
@click.option("-n", "N", type=SIZE, help="Columns of B and C, if not SIZE.")
@click.option("-k", "K", type=SIZE, help="Columns of A and rows of B, if not SIZE.")
@click.option("--gpus", type=Grids(), help="On this many GPUs, such as 4 or 2x2.")
@click.option("--dtype", type=click.Choice(list(DTYPES)), help="With --gpus: float32 by default.")
@click.option("--pieces", type=PIECES, help="With --gpus: parts of what moves in a step.")
@click.option(
    "--transport",
    type=click.Choice(["copies", "nccl"]),
    help="With --gpus: one process with copies, or one for each GPU with NCCL.",
)
@click.option("--local", help="With --gpus: what multiplies on each, cublas or a rung.")
@click.option("--engine", type=click.Choice(["numba", "cpp"]), help="By default the rung's first.")
@rung_options
def run(
    rung: Rung | str, size: int | None, M: int | None, N: int | None, K: int | None,
    gpus: Grid | None, dtype: str | None, pieces: int | None, transport: str | None,
    local: str | None, engine: str | None, **options: int | None,
) -> None:  # fmt: skip
    """Multiply matrices of SIZE with RUNG: check the result, time it, compare with cuBLAS."""
    shape = (M or size, N or size, K or size)
    if None in shape:
        raise click.UsageError("give SIZE, or all of -m, -n and -k")
    of_gpus = {"--dtype": dtype, "--pieces": pieces, "--transport": transport, "--local": local}
    name = rung if isinstance(rung, str) else rung.name
    if gpus:
        return on_gpus.run(name, shape, gpus, dtype or "float32", pieces or 1,
                           transport or "copies", local or "cublas")  # fmt: skip
    if name in ALGORITHMS and name not in LADDER:
        raise ValueError(f"{name} is for several GPUs: add --gpus, such as --gpus 2")
    if any(of_gpus.values()):
        first = next(option for option, value in of_gpus.items() if value)
        raise ValueError(f"{first} is for several GPUs: add --gpus, such as --gpus 2")
    rung = LADDER[name]
    M, N, K = shape
    if not on_gpu and "numba" not in rung.engines:
        raise RuntimeError(
            f"{rung.name} needs an NVIDIA GPU ({why_cpu}): use a rung in Numba, such as tiled"
        )
    engine = host.check_engine(engine or rung.engines[0])
    options = rung.default(engine) | given(options)
    grid, block = rung.launch(M, N, **options)
    model = rung.model(M, N, K, **options)
    out.print(f"{rung.title}, {ENGINE_TITLES[engine]}", style="bold", markup=False)
    told = {
        "size": f"A {M}×{K}, B {K}×{N}, C {M}×{N}: {model.flops:,} FLOP",
        **{name: str(value) for name, value in options.items()},
        "launch": f"grid {grid}, block {block}: {prod(block)} threads per block",
        "loads and stores": f"{model.bytes_requested:,} bytes of global memory, "
        f"{model.intensity:.3g} FLOP/byte",
    }
    step = _run_on_gpu if on_gpu else _run_on_cpu
    facts(told | step(rung, engine, shape, options))


def _run_on_gpu(rung: Rung, engine: str, shape: tuple[int, int, int], options: dict[str, int]):
    M, N, K = shape
    needed = 4 * (M * K + K * N + M * N)
    if needed > host.free_bytes():
        with host.memory_errors(needed):
            raise MemoryError("out of memory")
    with host.memory_errors(needed):
        dtype = rung.dtypes[0]
        A, B = oracle.operands(M, N, K, dtype=dtype)
        C = cupy.full((M, N), float("nan"), rung.out_dtype)
        launched = launch(rung, engine, options, A, B, C)
        launched()
        result = str(oracle.check(C, half.floats(A), half.floats(B)))
        found, library = time_in_turn([launched, peers.cublas(A, B, C)], flush_l2=False, limit=4.0)
    taken = used(rung, engine, options)
    flops, moved = 2 * M * N * K / found.median, needed / found.median
    best = 2 * M * N * K / library.median
    device = lab.device()
    facts = {
        "shared": f"{taken['shared_bytes']:,} bytes per block, "
        f"{taken['registers']} registers per thread",
        "time": repr(found),
        "speed": f"{quantity(flops, 'FLOP/s')}, {percent(flops / best)} of cuBLAS "
        f"({quantity(best, 'FLOP/s')})",
    }
    if device.fp32_peak and dtype == "float32":
        peak = quantity(device.fp32_peak, "FLOP/s")
        facts["compute"] = f"{percent(flops / device.fp32_peak)} of the fp32 peak, {peak}"
    if device.bandwidth_peak and dtype == "float32":
        peak = quantity(device.bandwidth_peak, "B/s")
        facts["bandwidth"] = (
            f"A, B and C moved once are {quantity(moved, 'B/s')}, "
            f"{percent(moved / device.bandwidth_peak)} of the peak, {peak}"
        )
    return facts | {"result": result}


def _run_on_cpu(rung: Rung, engine: str, shape: tuple[int, int, int], options: dict[str, int]):
    M, N, K = shape
    seen = trace_rung(rung, 1, 1, 1, **options)
    facts = {"shared": f"{seen.shared_bytes:,} bytes per block"}
    if M * N * K > INTERPRETED**3:
        facts["result"] = (
            f"not run: the CPU interpreter takes minutes at this size; try {INTERPRETED} or less"
        )
    else:
        A, B = oracle.inputs(M, N, K)
        C = oracle.poisoned(M, N)
        with busy("CPU interpreter"):
            found = time_launch(lambda: rung.matmul(A, B, out=C, **options), repeat=1, warmup=0)
        facts["time"] = f"no GPU: {found.median:.3g} s are the CPU interpreter's time"
        facts["result"] = str(oracle.check(C, A, B))
    return facts | {"recorded": _recorded(rung.name, engine, shape, options)}


def _recorded(rung: str, engine: str, shape: tuple[int, int, int], options: dict[str, int]) -> str:
    """The recorded figure of this size, else of the largest size recorded."""
    record = records.load()
    if not record:
        return record.caption()
    rows = record.rows("timings", rung=rung, engine=engine, **options)
    if not rows:
        return f"nothing of {rung} with these options"
    M, N, K = shape
    row = next((r for r in rows if (r.M, r.N, r.K) == shape), rows[-1])
    return f"{row.speed} at {row.M}³, {percent(row.share)} of cuBLAS. {record.caption(row)}"

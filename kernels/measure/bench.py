"""The benchmark: everything that a record of a GPU holds, in one run.

The run is a list of steps. What each step measured is kept at once, so an interrupted run goes on
where it stopped; the record in ``chapters/records`` is replaced only when all steps are done.
"""

from __future__ import annotations

import json
import platform
import re
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from math import prod
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from kernels import host, records
from kernels.basics import data_sheets
from kernels.basics.files import ROOT, digest, replace_text, slug
from kernels.engine import cuda, cupy, on_gpu, why_cpu
from kernels.engine.device import device
from kernels.host import cpp, half
from kernels.measure import (
    levels,
    memory_probes,
    ncu,
    oracle,
    overlap,
    peers,
    probes,
    profiler,
    sanitizer,
    sass,
)
from kernels.measure.occupancy import occupancy
from kernels.measure.timing import time as time_launch
from kernels.measure.timing import time_in_turn
from kernels.patterns import vector_add
from kernels.rungs import thread_tiled
from kernels.rungs.order import LADDER, Rung

#: Where all that is measured is written: the rungs and their twins.
KERNELS = (ROOT / "kernels" / "rungs", ROOT / "kernels" / "patterns")
#: Where finished steps are kept, until what was made of them is in place.
KEPT = ROOT / "_build" / "bench.json"
SIZES = (1024, 2048, 4096)
#: Only rungs from this one on are worth the wait at the largest size, and where tiles do not fit.
LARGE, LARGE_FROM = 8192, "tiled"
#: Thin and odd shapes (M, N, K): where fixed tiles leave SMs idle, or reach past the edges.
SHAPES = ((128, 8192, 8192), (8192, 128, 8192), (8192, 8192, 128), (4097, 4097, 4097))
#: Seconds for timing a version of a rung and cuBLAS, rests included (three repeats at least).
LIMIT = 0.3
#: How long the GPU rests after each repeat, for each second that it ran: a kernel that draws more
#: power than the GPU may take for long would lower the clock of whatever runs next.
REST = 4.0
LENGTHS = [2**power for power in range(10, 29, 2)]
BLOCKS = (32, 33, 48, 64, 128, 256, 512, 1000, 1024)
PACKAGES = ("numpy", "numba", "numba-cuda", "cupy", "matplotlib", "triton")

Tables = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Step:
    """A part of the benchmark: a name to show and to resume by, and what measures it."""

    name: str
    measure: Callable[[], Tables]


def steps() -> list[Step]:
    """The whole benchmark, in order."""
    lengths = [n for n in LENGTHS if 12 * n < device().memory_bytes // 3]
    return [
        *ladder_steps(),
        Step("cost of the guards", guards),
        Step("types of the indices", indices),
        Step("registers and occupancy", resources),
        Step("machine code", machine_code),
        Step("hardware counters", profiles),
        Step("bandwidth", lambda: bandwidth(lengths[-1])),
        Step("vector add by length", lambda: vector_lengths(lengths)),
        Step("vector add by block", lambda: vector_blocks(min(2**26, lengths[-1]))),
        Step("launch", lambda: {"launch": probes.launch_overhead()}),
        Step("latency", lambda: {"latency": probes.latency()}),
        *(
            Step(f"memory access, {table}", lambda table=table: memory_probes.recorded(table))
            for table in memory_probes.TABLES
        ),
        Step("bandwidth of each level", lambda: {"levels": levels.levels()}),
        Step("copies beside kernels", overlap.measure),
        Step("sanitizer", sanitized),
        *(
            Step(f"transfers, {kind}", lambda kind=kind: {
                "transfers": probes.transfers(kind, lengths)
            })
            for kind in ("pinned", "pageable")
        ),
        Step("vector add on the CPU", lambda: {"cpu": probes.cpu_vector_add(lengths)}),
        *(
            Step(f"{what} on the CPU", lambda what=what: {"cpu": [probes.cpu_product(what)]})
            for what in probes.CPU_PRODUCTS
        ),
    ]  # fmt: skip


def ladder_steps() -> list[Step]:
    """The rungs at every shape: in float32 first, then on tensor cores."""
    rungs = list(LADDER.values())
    dtypes = list(dict.fromkeys(dtype for rung in rungs for dtype in rung.dtypes))
    cubes = [(n, n, n) for n in (*SIZES, LARGE)]
    todo = []
    for dtype in dtypes:
        # In bfloat16 the tensor cores work as fast as in float16: the large cubes will do.
        # Of 16 bits a cube of 1024 is done before the host has asked for the next.
        shapes = {
            "float16": (*cubes[1:], *SHAPES), "bfloat16": cubes[-2:], half.PARTS: cubes
        }.get(dtype, (*cubes, *SHAPES))  # fmt: skip
        for shape in shapes:
            worth = [rung for rung in rungs if dtype in rung.dtypes]
            if shape not in cubes[:-1]:
                first = list(LADDER).index(LARGE_FROM)
                worth = [rung for rung in worth if list(LADDER).index(rung.name) >= first]
            named = f"{shape[0]}³" if shape in cubes else "×".join(map(str, shape))
            name = f"ladder {named}" + (f", {dtype}" if dtype != "float32" else "")
            todo.append(Step(name, lambda s=shape, w=worth, d=dtype: timings(*s, w, d)))
    return todo


# The ladder -----------------------------------------------------------------------


class Case:
    """One shape in one number format: its operands, the right product, and what is measured of it.

    Parameters
    ----------
    M, N, K : int
        A is M×K and B is K×N.
    dtype, out_dtype : str
        Number formats of A and B, and of C.
    """

    def __init__(self, M: int, N: int, K: int, dtype: str = "float32", out_dtype: str = "float32"):
        self.M, self.N, self.K, self.dtype = M, N, K, dtype
        matrices = [half.cast(cupy.asarray(matrix), dtype) for matrix in oracle.inputs(M, N, K)]
        self.A, self.B = matrices
        self.C = cupy.full((M, N), np.nan, out_dtype)
        # What the rounded numbers say is right, not what they were rounded from.
        rounded = [half.floats(matrix) for matrix in matrices]
        exact = [matrix.astype(np.float64) for matrix in rounded]
        self.right = exact[0] @ exact[1]
        self.scale = abs(exact[0]) @ abs(exact[1])
        self.bound = oracle.tolerance(*rounded)

    def library(self) -> Callable[[], object]:
        """A launch of cuBLAS."""
        return peers.cublas(self.A, self.B, self.C)

    def launch(self, rung: Rung, engine: str, options: dict[str, int]) -> Callable[[], object]:
        """A launch of a version of a rung, with as little host work as it needs."""
        return launch(rung, engine, options, self.A, self.B, self.C)

    def measure(
        self, launch: Callable[[], object], limit: float = LIMIT, rest: float = REST
    ) -> dict[str, Any]:
        """Check a launch that computes C, on an output poisoned with NaN, and time it."""
        return self.measure_in_turn([launch], limit, rest)[0]

    def measure_in_turn(
        self, launches: list[Callable[[], object]], limit: float = LIMIT, rest: float = REST
    ) -> list[dict[str, Any]]:
        """Check launches that all compute C, and time them in turn: a row of a record for each."""
        checks = [self.check(launch) for launch in launches]
        # The launch that was checked has warmed everything up.
        found = time_in_turn(launches, flush_l2=False, limit=limit, warmup=0, rest=rest)
        M, N, K = self.M, self.N, self.K
        return [
            {
                "dtype": self.dtype, "M": M, "N": N, "K": K, "seconds": probes.timing(timing),
                "gflops": float(f"{2 * M * N * K / timing.median / 1e9:.5g}"),
                "flushed": timing.flushed, **check,
            }
            for timing, check in zip(found, checks, strict=True)
        ]  # fmt: skip

    def check(self, launch: Callable[[], object]) -> dict[str, Any]:
        """Launch once on an output poisoned with NaN: is C right, and how far off is it?"""
        self.C.fill(np.nan)
        launch()
        error = abs(self.C.astype(np.float64) - self.right)
        correct = bool((error <= self.bound).all())  # False for NaN
        if not correct:
            return {"correct": False}
        return {
            "correct": True, "max_error": float(f"{float(error.max()):.3g}"),
            # Beside |A|·|B|, which any rounding error grows with; C itself may be next to nothing.
            "max_relative_error": float(f"{float((error / self.scale).max()):.3g}"),
        }  # fmt: skip


def launch(
    rung: Rung, engine: str, options: dict[str, int], A: Any, B: Any, C: Any
) -> Callable[[], object]:
    """A launch of a version of a rung on CuPy arrays that leaves the product in C."""
    if A.dtype == np.float32 or all(half.is_aligned(matrix) for matrix in (A, B, C)):
        return rung.prepare(A, B, C, engine, **options)
    # Tensor cores get copies with wider rows, and these are part of the product.
    return lambda: rung.matmul(A, B, out=C, engine=engine, **options)


def timings(M: int, N: int, K: int, rungs: list[Rung], dtype: str = "float32") -> Tables:
    """All versions of the rungs for A (M×K) and B (K×N), cuBLAS and other libraries beside them.

    Each is measured in turn with cuBLAS, and its row says what cuBLAS reached beside it: what ran
    before decides how warm a GPU is, and so its clock. The row of cuBLAS itself is measured alone,
    first and last, as one.
    """
    case = Case(M, N, K, dtype)
    library = {"rung": "cublas", "engine": "library", "options": {}}
    before = case.measure(case.library())
    rows = []

    def beside_cublas(launch: Callable[[], object]) -> dict[str, Any]:
        cublas, found = case.measure_in_turn([case.library(), launch])
        return {**found, "cublas_gflops": cublas["gflops"]}

    for rung in rungs:
        if dtype not in rung.dtypes or rung.missing(dtype):
            continue
        for engine, options in rung.versions():
            what = {"rung": rung.name, "engine": engine, "options": options}
            try:
                found = beside_cublas(case.launch(rung, engine, options))
            except Exception as error:  # the others are measured all the same
                warnings.warn(f"not measured: {what}: {_line(error)}", stacklevel=2)
                continue
            rows.append({**what, **found})
    try:
        # Other libraries know nothing of numbers in parts.
        others = peers.launches(case.A, case.B, case.C) if dtype != half.PARTS else ()
        for name, launch in others:
            rows.append({**library, "rung": name, **beside_cublas(launch)})
    except Exception as error:  # a library that does not work here
        warnings.warn(f"not measured: {_line(error)}", stacklevel=2)
    after = case.measure(case.library())
    alone = both(before, after)
    return {"timings": [{**library, **alone, "cublas_gflops": alone["gflops"]}, *rows]}


def _line(error: Exception) -> str:
    """An error in one line: compilers write many."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def both(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Two measurements of the same launch as one row: the mean of medians, the outer quartiles."""
    a, b = one["seconds"], other["seconds"]
    median = float(f"{(a['median'] + b['median']) / 2:.6g}")
    seconds = {"median": median, "q1": min(a["q1"], b["q1"]), "q3": max(a["q3"], b["q3"]),
               "n": a["n"] + b["n"]}  # fmt: skip
    flop = 2 * one["M"] * one["N"] * one["K"]
    return {**one, "seconds": seconds, "gflops": float(f"{flop / median / 1e9:.5g}"),
            "correct": one["correct"] and other["correct"]}  # fmt: skip


#: Two comparisons that keep a thread inside a matrix.
GUARD = re.compile(r"[^(=;?]+ < (?:M|N|K|rows|cols) && [^?;)]+ < (?:M|N|K|rows|cols)")
GUARDED = ("naive", "tiled", "thread_tiled", "vectorized", "pipelined", "warp_tiled")


def unguarded(rung: Rung, options: dict[str, int]) -> Any:
    """The C++ twin of a rung with the tests for the edges of the matrices struck out."""
    text, struck = GUARD.subn(" true ", cpp.source(rung.name))
    if not struck:
        raise ValueError(f"{rung.name}.cu has no guard of the form row < M && col < N")
    macros = {name.upper(): value for name, value in options.items() if name != "block"}
    defined = (f"-D{name}={value}" for name, value in macros.items())
    module = cupy.RawModule(code=text, options=("--std=c++17", *defined))
    return module.get_function(rung.name)


def with_room(matrix: Any, rows: int = 64) -> Any:
    """The same matrix, with rows of zeros behind it in memory that are no part of it."""
    held = cupy.zeros((matrix.shape[0] + rows, matrix.shape[1]), matrix.dtype)
    held[: matrix.shape[0]] = matrix
    return held[: matrix.shape[0]]


def guards(size: int = 4096) -> Tables:
    """What the guards cost: the C++ twins with and without them, where the tiles fit anyway."""
    case, rows = Case(size, size, size), []
    # Without guards, kernels that load ahead read beyond the last tile: they may.
    case.A, case.B = with_room(case.A), with_room(case.B)
    for name in GUARDED:
        rung = LADDER[name]
        options = rung.default("cpp")
        grid, block = rung.launch(size, size, **options)
        arguments = host.Product(case.A, case.B, case.C, "cpp").cpp_arguments()
        bare = unguarded(rung, options)
        with_guard, without = case.measure_in_turn(
            [case.launch(rung, "cpp", options), lambda: bare(grid, block, arguments)]  # noqa: B023
        )
        cost = with_guard["seconds"]["median"] / without["seconds"]["median"] - 1
        rows.append({
            "rung": name, "engine": "cpp", "options": options, **with_guard,
            "unguarded_seconds": without["seconds"], "guard_cost": round(cost, 4),
            "correct": with_guard["correct"] and without["correct"],
        })  # fmt: skip
    return {"guard": rows}


def indices(size: int = 4096) -> Tables:
    """The thread-tiled Numba kernel with indices of 32 bits, and with Python's 64."""
    case, rows = Case(size, size, size), []
    rung = LADDER["thread_tiled"]
    options = rung.default("numba")
    grid, block = rung.launch(size, size, **options)
    for index in ("uint32", "int64"):
        launch = reindexed(thread_tiled.make_thread_tiled, index)(*options.values())[grid, block]
        arrays = host.wrapped(case.A, case.B, case.C)
        found = case.measure(lambda: launch(*arrays))  # noqa: B023
        what = {"rung": rung.name, "engine": "numba", "index": index, "options": options}
        rows.append({**what, **found})
    return {"indices": rows}


def reindexed(maker: Callable[..., Any], index: str) -> Callable[..., Any]:
    """The same maker of kernels with another of Numba's types where it says ``uint32``."""
    from numba import types

    names = maker.__globals__ | {"uint32": getattr(types, index)}
    return FunctionType(maker.__code__, names, maker.__name__)


def resources() -> Tables:
    """Registers, shared and local memory of every version, and the occupancy that follows."""
    rows = []
    for rung in LADDER.values():
        if rung.missing():
            continue
        case = Case(64, 64, 64, rung.dtypes[0], rung.out_dtype)
        for engine, options in rung.versions():
            _, block = rung.launch(64, 64, **options)
            try:
                case.launch(rung, engine, options)()  # Numba compiles when it is launched
                found, threads = used(rung, engine, options), prod(block)
            except (ValueError, RuntimeError) as error:  # the others are listed all the same
                what = f"{rung.name}, {engine}, {options}"
                warnings.warn(f"no resources of {what}: {_line(error)}", stacklevel=2)
                continue
            rows.append({
                "rung": rung.name, "engine": engine, "options": options,
                "threads_per_block": threads, **found, **residency(threads, found),
            })  # fmt: skip
    return {"resources": rows}


def used(rung: Rung, engine: str, options: dict[str, int]) -> dict[str, int]:
    """What the compiler gave a version of a rung that was launched before."""
    if engine == "numba":
        return numba_resources(rung.kernel(**options))
    return cpp_resources(rung.twin(**options), rung.dynamic_shared)


def machine_code() -> Tables:
    """The innermost loop of each rung, counted; no rows, and a word why, without the tools."""
    if sass.missing():
        warnings.warn(f"no machine code: {sass.missing()}", stacklevel=2)
        return {}
    asked, rows, failed = [], [], {}
    with ThreadPoolExecutor() as pool:  # one reads while the next is compiled
        for rung in LADDER.values():
            if rung.missing():
                continue
            case = Case(64, 64, 64, rung.dtypes[0], rung.out_dtype)
            for engine in rung.engines:
                options = rung.default(engine)
                what = {"rung": rung.name, "engine": engine, "options": options}
                try:
                    case.launch(rung, engine, options)()  # Numba compiles when it is launched
                    asked.append((what, pool.submit(loop_of, *code_of(rung, engine, options))))
                except Exception as error:  # the others are listed all the same
                    failed[f"{rung.name} ({engine})"] = _line(error)
        for what, answer in asked:
            try:
                loop = answer.result()
                rows.append({**what, "loop": loop.counts(), "lines": loop.excerpt()})
            except sass.SassError as error:
                failed["{rung} ({engine})".format(**what)] = _line(error)
    if failed:
        reason = next(iter(failed.values()))
        warnings.warn(f"no machine code of {', '.join(failed)}: {reason}", stacklevel=2)
    return {"sass": rows} if rows else {}


def code_of(rung: Rung, engine: str, options: dict[str, int]) -> tuple[bytes, str]:
    """The machine code of a version of a rung that was launched before, and its kernel's name."""
    if engine == "numba":
        return sass.code_of(rung.kernel(**options)), ""
    twin = rung.twin(**options)
    return sass.code_of(twin), twin.name


def loop_of(code: bytes, function: str) -> sass.Loop:
    """The innermost loop of a kernel in its machine code."""
    return sass.inner_loop(sass.disassemble(code), function)


def profiles() -> Tables:
    """What the hardware counts in each version; no rows, and a word why, where it may not."""
    try:
        return profiler.tables(profiler.profiles())
    except ncu.ProfilerError as error:
        warnings.warn(f"no hardware counters: {error}", stacklevel=2)
        return {}


def sanitized() -> Tables:
    """What compute-sanitizer says of broken kernels; no rows, and a word why, without it."""
    try:
        return {"sanitizer": sanitizer.verdicts()}
    except sanitizer.SanitizerError as error:
        warnings.warn(f"no sanitizer: {error}", stacklevel=2)
        return {}


def numba_resources(kernel: Any) -> dict[str, int]:
    """What the compiler gave a Numba kernel that was launched before."""
    return {
        "registers": max(kernel.get_regs_per_thread().values()),
        "shared_bytes": max(kernel.get_shared_mem_per_block().values()),
        "local_bytes": max(kernel.get_local_mem_per_thread().values()),
    }


def cpp_resources(kernel: Any, dynamic_shared: bool = False) -> dict[str, int]:
    """The same of a CuPy kernel, with what its launches ask for beyond its own shared memory."""
    asked = kernel.max_dynamic_shared_size_bytes if dynamic_shared else 0
    return {
        "registers": kernel.num_regs,
        "shared_bytes": kernel.shared_size_bytes + asked,
        "local_bytes": kernel.local_size_bytes,
    }


def residency(threads: int, used: dict[str, int]) -> dict[str, Any]:
    """Blocks resident on an SM and occupancy, where this GPU's limits are known."""
    try:
        sheet = data_sheets.gpu(device().name)
    except LookupError:
        return {}
    found = occupancy(
        threads, registers=used["registers"], shared_bytes=used["shared_bytes"], gpu=sheet
    )
    return {"blocks_per_sm": found.blocks, "occupancy": round(found.fraction, 4)}


# Vector add -----------------------------------------------------------------------


def adder(engine: str, n: int, block: int) -> tuple[Callable[[], object], Callable[[], bool]]:
    """A launch of vector_add, and whether its result is right."""
    a = cupy.arange(n, dtype=np.float32)
    b = cupy.full(n, 0.5, np.float32)
    c = cupy.full(n, np.nan, np.float32)
    grid, threads = vector_add.launch(n, block)
    if engine == "numba":
        launch = vector_add.vector_add[grid, threads]
        arrays = tuple(cuda.as_cuda_array(array) for array in (a, b, c))
        return lambda: launch(*arrays), lambda: bool((c == a + b).all())
    kernel = cpp.load("vector_add")
    arguments = (a, b, c, np.int32(n))
    return lambda: kernel(grid, threads, arguments), lambda: bool((c == a + b).all())


def vector_row(engine: str, n: int, block: int, cache: str) -> dict[str, Any]:
    """One measured vector add: ``cache`` is "cold" (flushed) or "warm" (launched in batches)."""
    launch, right = adder(engine, n, block)
    found = time_launch(launch, flush_l2=cache == "cold", limit=0.5)
    return {
        "engine": engine, "n": n, "block": block, "cache": cache, "bytes": 12 * n,
        "seconds": probes.timing(found), "bytes_per_second": 12 * n / found.median,
        "correct": right(),
    }  # fmt: skip


def bandwidth(n: int) -> Tables:
    """A device copy, and vector add beside it."""
    copy = probes.copy_bandwidth(n)
    rows = [{**copy, "share_of_copy": 1.0}]
    for engine in ("numba", "cpp"):
        row = vector_row(engine, n, 256, "cold")
        del row["cache"]
        share = row["bytes_per_second"] / copy["bytes_per_second"]
        rows.append({"what": "vector_add", **row, "share_of_copy": round(share, 4)})
    return {"bandwidth": rows}


def vector_lengths(lengths: list[int]) -> Tables:
    """Vector add over the length, cold and warm."""
    return {
        "vector_add": [
            vector_row(engine, n, 256, cache)
            for engine in ("numba", "cpp")
            for n in lengths
            for cache in ("cold", "warm")
        ]
    }


def vector_blocks(n: int) -> Tables:
    """Vector add over the size of a block."""
    return {
        "vector_add": [
            vector_row(engine, n, block, "cold") for engine in ("numba", "cpp") for block in BLOCKS
        ]
    }


# The run -----------------------------------------------------------------------


def provenance() -> dict[str, Any]:
    """Who measures, with what, when.

    Raises
    ------
    RuntimeError
        Without a GPU.
    """
    if not on_gpu:
        raise RuntimeError(f"recording needs an NVIDIA GPU, but {why_cpu}")
    runtime = cupy.cuda.runtime
    toolkit = runtime.runtimeGetVersion()
    here = device()
    return {
        "gpu": here.name,
        "driver": driver_version(),
        "cuda": f"{toolkit // 1000}.{toolkit % 1000 // 10}",
        "versions": {"python": platform.python_version(), **versions()},
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "clocks": {
            "sm_mhz": round(here.clock / 1e6) if here.clock else None,
            "memory_mhz": round(here.memory_clock / 1e6) if here.memory_clock else None,
        },
    }


def versions() -> dict[str, str]:
    """Versions of the packages that a figure depends on."""
    found = {}
    for name in PACKAGES:
        for package in (f"{name}-cuda13x", f"{name}-cuda12x") if name == "cupy" else (name,):
            try:
                found[name] = version(package)
            except PackageNotFoundError:
                continue
    return found


def driver_version() -> str:
    """The driver's own version (``580.95.05``), or the CUDA version that it supports."""
    try:
        text = Path("/proc/driver/nvidia/version").read_text(encoding="utf-8")
        return next(word for word in text.split() if word.count(".") >= 1 and word[0].isdigit())
    except (OSError, StopIteration):
        supported = cupy.cuda.runtime.driverGetVersion()
        return f"for CUDA {supported // 1000}.{supported % 1000 // 10}"


def device_facts() -> dict[str, Any]:
    """What the driver says of the device, with the peaks that follow."""
    here = device()
    return {
        **asdict(here), "fp32_peak": here.fp32_peak, "bandwidth_peak": here.bandwidth_peak,
        "cpu_cores": probes.cores(),
    }  # fmt: skip


def run(
    todo: list[Step],
    *,
    about: dict[str, Any],
    facts: dict[str, Any],
    kept: Path | None = None,
    folder: Path | None = None,
    report: Callable[[str, int, int], None] = lambda name, done, total: None,
) -> Path:
    """Do all steps, resume where an interrupted run stopped, and write the record.

    Parameters
    ----------
    todo : list of Step
    about, facts : dict
        Provenance and device of the record.
    kept : Path, optional
        Where finished steps are kept, `KEPT` by default. The file stays, so that nothing is lost if
        what the record is for fails: whoever has put it in place deletes it.
    folder : Path, optional
        Where the record goes; `records.folder` by default.
    report : callable
        Called with the name of a step, how many are done, and how many there are.

    Returns
    -------
    Path
        The record's file; what other runs had measured is kept in it.
    """
    kept = kept or KEPT
    same = {name: value for name, value in about.items() if name != "date"}
    same["kernels"] = digest(sorted(path for folder in KERNELS for path in folder.glob("*.*")))
    done: dict[str, Tables] = {}
    try:
        earlier = json.loads(kept.read_text(encoding="utf-8"))
        # Figures of another GPU, driver, version or kernel are no part of this run.
        if earlier["same"] == same:
            done, about = earlier["done"], {**about, "date": earlier["date"]}
    except (OSError, ValueError, KeyError):
        pass
    for number, step in enumerate(todo):
        report(step.name, number, len(todo))
        if step.name not in done:
            done[step.name] = step.measure()
            text = json.dumps({"same": same, "date": about["date"], "done": done})
            replace_text(kept, text)
    report("done", len(todo), len(todo))
    tables: dict[str, list[records.Row]] = {}
    for step in todo:
        for table, rows in done[step.name].items():
            dated = [records.Row({**row, "date": about["date"]}) for row in rows]
            tables.setdefault(table, []).extend(dated)
    new = records.Record(slug(about["gpu"]), about, facts, tables)
    path = (folder or records.folder()) / f"{new.name}.json"
    if path.exists():
        new = records.merge(records.read(path), new)
    records.write(new, path)
    return path

"""What the hardware counts while the rungs run: traffic, hit rates, how busy each unit is.

Nsight Compute runs this module as a program. The program launches each product twice: once to
compile it, and once between two marks, which is what is counted.
"""

from __future__ import annotations

import json
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from kernels.backend import cupy
from kernels.basics.files import ROOT
from kernels.measure import ncu, oracle, peers
from kernels.records import counters
from kernels.rungs.order import LADDER, Rung

SIZE = 2048
#: Small enough to trace every request of: whole tiles, and sizes that no tile divides.
SMALL = ((256, 256, 256), (200, 136, 168))
#: Large enough that no L2 of today holds A and B: what DRAM then delivers, and how busy it is.
BEYOND_L2 = 8192
#: Of the rungs without tensor cores, those counted there: a launch of the slowest takes 0.5 s.
FAR = ("naive", "tiled", "thread_tiled", "vectorized", "warp_tiled", "swizzled", "serpentine",
       "async_tiled")  # fmt: skip
#: Rows that begin on no 16-byte boundary: there, a kernel that loads 16 bytes at a time loads 4.
UNALIGNED = 2047
#: A launch of this kernel, with as many blocks as the number of the product, precedes each.
MARK = 'extern "C" __global__ void tile_by_tile_mark() {}'
LIBRARY = "cublas"


@dataclass(frozen=True)
class Job:
    """One product to be counted: a version of a rung, or the library, and the sizes."""

    rung: str
    engine: str
    options: dict[str, int]
    M: int
    N: int
    K: int
    dtype: str = "float32"  #: number format of A and B

    def __str__(self) -> str:
        options = "".join(f", {name}={value}" for name, value in self.options.items())
        return f"{self.rung} ({self.engine}{options}) at {self.M}×{self.N}×{self.K}"


def jobs(size: int = SIZE, small: Sequence[tuple[int, int, int]] = SMALL) -> Iterator[Job]:
    """What a record counts of the rungs that this GPU runs, where L2 holds A and B.

    At ``size``: every block and tile of the first rungs, the later ones with the options they have
    by default, and the library. At the sizes that the microscope traces too: the Numba kernels.
    """
    for rung in here():
        for engine, options in rung.versions():
            if rung.name in ("naive", "tiled") or options == rung.default(engine):
                yield Job(rung.name, engine, options, size, size, size, rung.dtypes[0])
    yield Job(LIBRARY, "library", {}, size, size, size)
    for shape in small:
        for rung in here():
            if rung.in_microscope:
                yield Job(rung.name, "numba", rung.default("numba"), *shape)


def jobs_beyond_l2(size: int = BEYOND_L2) -> Iterator[Job]:
    """What a record counts where L2 holds neither A nor B whole: fewer rungs, and the library.

    With the options they have by default; the tiled kernel with tiles of 32 × 32, too.
    """
    for rung in here():
        if rung.name in FAR or rung.dtypes[0] != "float32":
            for engine, options in rung.versions():
                if options in (rung.default(engine), {"tile": 32}):
                    yield Job(rung.name, engine, options, size, size, size, rung.dtypes[0])
    for dtype in ("float32", "float16"):
        yield Job(LIBRARY, "library", {}, size, size, size, dtype)


def jobs_unaligned(size: int = UNALIGNED) -> Iterator[Job]:
    """What a record counts where rows begin on no 16-byte boundary: the rungs that take such rows.

    With the options they have by default, from the tiled kernel on. Rungs on tensor cores copy
    them, and then run as they do elsewhere.
    """
    earlier = list(LADDER)[: list(LADDER).index("tiled")]
    for rung in here():
        if rung.dtypes[0] == "float32" and rung.name not in earlier:
            for engine in rung.engines:
                yield Job(rung.name, engine, rung.default(engine), size, size, size)


def here() -> list[Rung]:
    """The rungs that this GPU runs."""
    return [rung for rung in LADDER.values() if not rung.missing()]


def profiles(todo: Iterable[Job]) -> list[dict[str, Any]]:
    """Count one launch of each product.

    Returns
    -------
    list of dict
        Rows for a record's table, such as ``profiles``; the figures are those of
        `kernels.records.counters`. A product that could not be launched is left out, with a
        warning that says why.

    Raises
    ------
    kernels.measure.ncu.ProfilerError
        Without ncu, without permission, or if no product could be launched.
    """
    todo = list(todo)
    launches, why = _under(
        lambda command: ncu.profile(command, counters.METRICS, folder=ROOT, marked=True), todo
    )
    counted = by_job(launches, len(todo))
    rows = []
    for number, job in enumerate(todo):
        reason = why.get(number) or (not counted[number] and "nothing was launched")
        if reason:
            warnings.warn(f"not counted: {job}: {reason}", stacklevel=2)
            continue
        rows.append({
            "rung": job.rung, "engine": job.engine, "options": job.options, "dtype": job.dtype,
            "M": job.M, "N": job.N, "K": job.K, **counters.figures(counted[number]),
        })  # fmt: skip
    if not rows:
        reason = next(iter(why.values()), "the profiler saw no launch")
        raise ncu.ProfilerError(f"{todo[0]} could not be counted: {reason}")
    return rows


def report(job: Job) -> str:
    """Return what ``ncu --set full`` prints of one product: every section, and its advice.

    Raises
    ------
    kernels.measure.ncu.ProfilerError
        Without ncu, without permission, or if the product could not be launched.
    """
    text, why = _under(
        # Every kernel but the mark, which says nothing about the product.
        lambda command: ncu.details(command, "^(?!tile_by_tile)", folder=ROOT, marked=True),
        [job],
    )
    if why:
        raise ncu.ProfilerError(f"{job} could not be profiled: {why[0]}")
    return text


def _under(profiled: Callable[[list[str]], Any], todo: Sequence[Job]) -> tuple[Any, dict[int, str]]:
    """What the profiler returned of products, and by number why some were not launched."""
    with tempfile.TemporaryDirectory() as folder:
        plan, log = Path(folder, "plan.json"), Path(folder, "log.jsonl")
        plan.write_text(json.dumps([asdict(job) for job in todo]), encoding="utf-8")
        command = [sys.executable, "-m", "kernels.measure.profiler", str(plan), str(log)]
        found = profiled(command)
        told = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return found, {number: reason for number, reason in map(json.loads, told) if reason}


def tables(rows: Sequence[dict[str, Any]], size: int = SIZE) -> dict[str, list[dict[str, Any]]]:
    """The tables of a record: ``profiles`` at ``size``, ``counted`` where they are traced too."""
    return {
        "profiles": [row for row in rows if row["M"] == size],
        "counted": [row for row in rows if row["M"] != size],
    }


def by_job(launches: Sequence[ncu.ProfiledLaunch], count: int) -> list[list[ncu.ProfiledLaunch]]:
    """The launches that follow each mark, by the number of the mark."""
    found: list[list[ncu.ProfiledLaunch]] = [[] for _ in range(count)]
    number = -1
    for launch in launches:
        if "tile_by_tile_mark" in launch.kernel:
            number = launch.grid[0] - 1
        elif 0 <= number < count:
            found[number].append(launch)
    return found


# What the profiler runs ---------------------------------------------------------------------


def launch_all(todo: Sequence[Job], log: Path) -> None:
    """Launch every product between marks; write to the log, line by line, what became of each."""
    mark = cupy.RawKernel(MARK, "tile_by_tile_mark")
    runtime, device = cupy.cuda.runtime, cupy.cuda.Device()
    mark((1,), (1,), ())
    with log.open("w", encoding="utf-8") as file:
        for number, job in enumerate(todo):
            reason = ""
            try:
                launch = prepared(job)
                launch()
                device.synchronize()
                # What lies unused in the pool would be saved and restored in every pass.
                cupy.get_default_memory_pool().free_all_blocks()
                runtime.profilerStart()
                try:
                    mark((number + 1,), (1,), ())
                    launch()
                    device.synchronize()
                finally:
                    runtime.profilerStop()
            except Exception as error:  # whatever it is, the other products are counted
                reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            print(json.dumps([number, reason]), file=file, flush=True)


def prepared(job: Job) -> Any:
    """A function that launches one product."""
    A, B = operands(job.M, job.N, job.K, job.dtype)
    if job.rung == LIBRARY:
        return peers.cublas(A, B, cupy.empty((job.M, job.N), np.float32))
    rung = LADDER[job.rung]
    C = cupy.empty((job.M, job.N), rung.out_dtype or job.dtype)
    return rung.prepare(A, B, C, job.engine, **job.options)


@lru_cache(maxsize=1)  # many products in a row are of the same numbers, which take a second
def operands(M: int, N: int, K: int, dtype: str) -> tuple[Any, Any]:
    """A and B on the device."""
    return oracle.operands(M, N, K, dtype=dtype)


if __name__ == "__main__":
    plan, log = map(Path, sys.argv[1:])
    launch_all([Job(**job) for job in json.loads(plan.read_text(encoding="utf-8"))], log)

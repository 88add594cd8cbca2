"""Measure a machine: bandwidth, latency of each memory level, transfers, launches, the CPU.

Each probe returns rows as a record holds them (without the date). The probes of the GPU need one;
those of the CPU run anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from math import ceil
from time import perf_counter
from typing import Any

import numpy as np

from kernels.backend import cuda, cupy
from kernels.backend.device import device
from kernels.host import cdiv, cpp
from kernels.host.follow import prepared
from kernels.measure.timing import SHORTEST, Timing
from kernels.measure.timing import time as time_launch

LINE = 128  # bytes: two steps of a chase never share a cache line


def spread(seconds: list[float]) -> dict[str, float]:
    """Median, quartiles and number of some times, as a record holds them."""
    q1, median, q3 = np.quantile(seconds, (0.25, 0.5, 0.75))
    return _rounded(median, q1, q3) | {"n": len(seconds)}


def timing(found: Timing) -> dict[str, float]:
    """The same of a `Timing`."""
    return _rounded(found.median, found.q1, found.q3) | {"n": found.n}


def _rounded(*times: float) -> dict[str, float]:
    six_digits = (float(f"{value:.6g}") for value in times)
    return dict(zip(("median", "q1", "q3"), six_digits, strict=True))


def repeat(work: Callable[[], Any], limit: float = 0.5, most: int = 20) -> list[float]:
    """Wall-clock seconds of repeated calls: one to warm up, then 3 or more."""
    work()
    seconds: list[float] = []
    while len(seconds) < 3 or (len(seconds) < most and sum(seconds) < limit):
        start = perf_counter()
        work()
        seconds.append(perf_counter() - start)
    return seconds


# On the GPU -----------------------------------------------------------------------


def copy_bandwidth(n: int = 2**28) -> dict[str, Any]:
    """Copy n floats from one place of global memory to another: bytes read and written a second."""
    source, target = cupy.zeros(n, np.float32), cupy.empty(n, np.float32)
    found = time_launch(lambda: cupy.copyto(target, source))
    moved = 2 * 4 * n
    return {
        "what": "copy", "engine": "library", "n": n, "bytes": moved, "seconds": timing(found),
        "bytes_per_second": moved / found.median, "flushed": found.flushed,
    }  # fmt: skip


def read_bandwidth(n: int = 2**28) -> dict[str, Any]:
    """Read n floats of global memory and write nothing, in the best block: bytes read a second."""
    source, sums, count = cupy.zeros(n, np.float32), cupy.empty(1, np.float32), n // 4
    kernel, arguments = cpp.load("levels", "read_dram"), (source, np.int32(count), sums)

    def measured(block: int) -> Timing:
        return time_launch(lambda: kernel((cdiv(count, 8 * block),), (block,), arguments))

    found = min(map(measured, (128, 256, 512)), key=lambda timing: timing.median)
    return {
        "what": "read", "engine": "cpp", "n": n, "bytes": 4 * n, "seconds": timing(found),
        "bytes_per_second": 4 * n / found.median, "flushed": found.flushed,
    }  # fmt: skip


def latency(most: int = 2**30) -> list[dict[str, Any]]:
    """Latency of one dependent step in registers, shared memory, and global memory by size.

    Parameters
    ----------
    most : int
        Largest ring in bytes; sizes are powers of two from 4 KiB on.
    """
    most = min(most, device().memory_bytes // 4)
    sizes = [2**power for power in range(12, most.bit_length())]
    return [_chase_registers(), _chase_shared(), *(_chase_global(count) for count in sizes)]


def ring(nodes: int, seed: int = 0) -> np.ndarray:
    """One random cycle through all nodes: ``ring(n)[i]`` is the node after i."""
    order = np.random.default_rng(seed).permutation(nodes)
    following = np.empty(nodes, np.int64)
    following[order] = np.roll(order, -1)
    return following


def _chase(space: str, count: int, steps: int, launch: Callable[..., Any]) -> dict[str, Any]:
    cycles, time = cupy.zeros(1, np.int64), cupy.zeros(1, np.int64)
    found = []
    for _ in range(3):
        launch(cycles, time)
        found.append((int(time[0]) / steps, int(cycles[0]) / steps))
    nanoseconds, clocks = sorted(found)[1]
    return {"space": space, "bytes": count, "ns": round(nanoseconds, 2), "cycles": round(clocks, 1)}


def _chase_global(count: int) -> dict[str, Any]:
    nodes = count // LINE
    memory = cupy.zeros(count // 8, np.uint64)
    address = memory.data.ptr + LINE * ring(nodes).astype(np.uint64)
    memory[:: LINE // 8] = cupy.asarray(address)
    last = cupy.zeros(1, np.uint64)
    kernel = cpp.load("probes", "chase_global")
    steps = 2**15
    # Once around is enough for what fits in a cache; a ring that does not fit needs no warm-up.
    warm_up = min(nodes, 2**19)

    def launch(cycles: Any, time: Any) -> None:
        arguments = (memory, np.int64(warm_up), np.int64(steps), cycles, time, last)
        kernel((1,), (1,), arguments)

    return _chase("global", count, steps, launch)


def _chase_shared(count: int = 16384) -> dict[str, Any]:
    last = cupy.zeros(1, np.uint32)
    kernel = cpp.load("probes", "chase_shared", COUNT=count // 4)
    steps = 2**16

    def launch(cycles: Any, time: Any) -> None:
        kernel((1,), (1,), (np.int64(steps), cycles, time, last))

    return _chase("shared", count, steps, launch)


def clock(launch: Callable[[], object], seconds: float) -> float:
    """Cycles per second of the SMs while a kernel is timed.

    A GPU that draws too much power lowers its clock. One warp counts cycles and nanoseconds right
    behind as many launches as a stopwatch takes, before the clock can have changed.

    Parameters
    ----------
    launch : callable
    seconds : float
        Of one launch.
    """
    cycles, time = (cupy.zeros(1, np.int64) for _ in range(2))
    last, steps = cupy.zeros(1, np.float32), 2**17
    kernel = cpp.load("probes", "chase_registers")
    arguments = (np.int64(steps), cycles, time, np.float32(0.5), np.float32(1), last)
    kernel((1,), (1,), arguments)  # compiled and loaded before it counts
    for _ in range(max(1, ceil(SHORTEST / seconds))):
        launch()
    kernel((1,), (1,), arguments)
    return float(f"{1e9 * int(cycles[0]) / int(time[0]):.5g}")


def _chase_registers() -> dict[str, Any]:
    last = cupy.zeros(1, np.float32)
    kernel = cpp.load("probes", "chase_registers")
    steps = 2**20

    def launch(cycles: Any, time: Any) -> None:
        arguments = (np.int64(steps), cycles, time, np.float32(0.5), np.float32(1), last)
        kernel((1,), (1,), arguments)

    return _chase("registers", 4, steps, launch)


def transfers(memory: str, lengths: list[int]) -> list[dict[str, Any]]:
    """Copies between host and device.

    Parameters
    ----------
    memory : {"pinned", "pageable"}
        Kind of host memory.
    lengths : list of int
        Numbers of floats.
    """
    runtime = cupy.cuda.runtime
    rows = []
    for n in lengths:
        host = pinned(n) if memory == "pinned" else np.empty(n, np.float32)
        host[:] = 1
        there = cupy.empty(n, np.float32)
        ways = {
            "host to device": (there.data.ptr, host.ctypes.data, runtime.memcpyHostToDevice),
            "device to host": (host.ctypes.data, there.data.ptr, runtime.memcpyDeviceToHost),
        }
        for direction, (target, source, kind) in ways.items():

            def copy(target=target, source=source, kind=kind, count=4 * n) -> None:
                runtime.memcpy(target, source, count, kind)
                # A copy from pageable memory returns once it is staged.
                runtime.deviceSynchronize()

            seconds = repeat(copy)
            rows.append(
                {"direction": direction, "memory": memory, "bytes": 4 * n,
                 "seconds": spread(seconds), "bytes_per_second": 4 * n / float(np.median(seconds))}
            )  # fmt: skip
    return rows


def pinned(n: int) -> np.ndarray:
    """n floats of host memory that the GPU can reach by itself."""
    return np.frombuffer(cupy.cuda.alloc_pinned_memory(4 * n), np.float32, n)


def launch_overhead() -> list[dict[str, Any]]:
    """Host time of one launch of a kernel that does nothing, by number of array arguments."""

    @cuda.jit
    def nothing():
        pass

    @cuda.jit
    def nothing_1(a):
        pass

    @cuda.jit
    def nothing_3(a, b, c):
        pass

    arrays = tuple(cuda.device_array(1024, np.float32) for _ in range(3))
    rows = []
    for arguments, kernel in ((0, nothing), (1, nothing_1), (3, nothing_3)):
        launch = kernel[1, 32]
        few = arrays[:arguments]
        rows.append(_launches("numba", arguments, lambda launch=launch, few=few: launch(*few)))
    arrays = tuple(cupy.zeros(1024, np.float32) for _ in range(3))
    for arguments, name in ((0, "nothing"), (1, "nothing_1"), (3, "nothing_3")):
        kernel = cpp.load("probes", name)
        few = arrays[:arguments]
        call = lambda kernel=kernel, few=few: kernel((1,), (32,), few)  # noqa: E731
        rows.append(_launches("cpp", arguments, call))
    return rows


def prepared_launches() -> list[dict[str, Any]]:
    """The same of launches whose three arrays were packed once (`kernels.host.follow.prepared`)."""

    @cuda.jit
    def nothing_3(a, b, c):
        pass

    arrays = tuple(cupy.zeros(1024, np.float32) for _ in range(3))
    kernels = {"numba": nothing_3, "cpp": cpp.load("probes", "nothing_3")}
    return [
        _launches(engine, len(arrays), prepared(kernel, (1,), (32,), arrays))
        for engine, kernel in kernels.items()
    ]


def _launches(engine: str, arguments: int, launch: Callable[[], Any], batch: int = 200):
    def run() -> None:
        for _ in range(batch):
            launch()
        cupy.cuda.runtime.deviceSynchronize()

    seconds = [value / batch for value in repeat(run)]
    return {"engine": engine, "arguments": arguments, "seconds": spread(seconds)}


# On the CPU -----------------------------------------------------------------------


def cores() -> int:
    """Processor cores this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def python_matmul(A: list[list[float]], B: list[list[float]]) -> list[list[float]]:
    """C = A·B in plain Python loops."""
    rows, inner, columns = len(A), len(B), len(B[0])
    C = [[0.0] * columns for _ in range(rows)]
    for row in range(rows):
        for col in range(columns):
            acc = 0.0
            for k in range(inner):
                acc += A[row][k] * B[k][col]
            C[row][col] = acc
    return C


def _numba_matmul(parallel: bool) -> Callable[[np.ndarray, np.ndarray, np.ndarray], None]:
    import numba

    @numba.njit(parallel=parallel)
    def matmul(A, B, C):
        for row in numba.prange(A.shape[0]):
            for col in range(B.shape[1]):
                acc = np.float32(0)
                for k in range(A.shape[1]):
                    acc += A[row, k] * B[k, col]
                C[row, col] = acc

    return matmul


#: What computes a matrix product on the CPU, the size it runs at, and whether on all cores.
CPU_PRODUCTS = {
    "python loops": (128, False),
    "numba": (512, False),
    "numba parallel": (1024, True),
    "numpy matmul": (4096, True),
}


def cpu_product(what: str, size: int | None = None) -> dict[str, Any]:
    """One product on the CPU, float32 (Python's own floats in the loops of plain Python).

    Parameters
    ----------
    what : str
        Key of `CPU_PRODUCTS`.
    size : int, optional
        M = N = K; the key's own by default. A row always names the size that ran.
    """
    if what not in CPU_PRODUCTS:
        raise ValueError(f"no CPU product {what!r}: use one of {', '.join(CPU_PRODUCTS)}")
    usual, parallel = CPU_PRODUCTS[what]
    size = size or usual
    rng = np.random.default_rng(0)
    A, B = (rng.standard_normal((size, size), dtype=np.float32) for _ in range(2))
    C = np.empty_like(A)
    if what == "python loops":
        a, b = A.tolist(), B.tolist()
        seconds = repeat(lambda: python_matmul(a, b), limit=1.0)
    elif what == "numpy matmul":
        seconds = repeat(lambda: np.matmul(A, B, out=C), limit=1.0)
    else:
        matmul = _numba_matmul(parallel)
        seconds = repeat(lambda: matmul(A, B, C), limit=1.0)
    return {
        "what": what, "dtype": "float64" if what == "python loops" else "float32",
        "M": size, "N": size, "K": size, "seconds": spread(seconds),
        "gflops": 2 * size**3 / float(np.median(seconds)) / 1e9,
        "cores": cores() if parallel else 1,
    }  # fmt: skip


def cpu_vector_add(lengths: list[int]) -> list[dict[str, Any]]:
    """NumPy's ``a + b`` into an array that is there already, float32."""
    rows = []
    for n in lengths:
        a, b, c = np.ones(n, np.float32), np.ones(n, np.float32), np.empty(n, np.float32)
        seconds = repeat(lambda a=a, b=b, c=c: np.add(a, b, out=c))
        rows.append(
            {"what": "numpy vector add", "n": n, "seconds": spread(seconds),
             "bytes_per_second": 12 * n / float(np.median(seconds)), "cores": 1}
        )  # fmt: skip
    return rows

"""How fast the interpreter is beside Numba's: ``python -m tests.engine.microscope.speed``.

Two clocks: what a learner waits for, and the processor's time (of all threads), which other
programs on the machine do not stretch. The interpreter has one thread: when the machine is quiet
the two agree.
"""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[3]


class Seconds(NamedTuple):
    """Time by both clocks."""

    wall: float
    processor: float


def best(run: Callable[[], object], repeat: int = 5) -> Seconds:
    """Shortest of some runs, by each clock."""
    walls, processors = [], []
    for _ in range(repeat):
        start, begin = time.perf_counter(), time.process_time()
        run()
        walls.append(time.perf_counter() - start)
        processors.append(time.process_time() - begin)
    return Seconds(min(walls), min(processors))


def operands(M: int, N: int, K: int):
    """Whole-number matrices and a poisoned output."""
    rng = np.random.default_rng(9)
    A, B = (rng.integers(-4, 5, s).astype(np.float32) for s in ((M, K), (K, N)))
    return A, B, np.full((M, N), np.nan, np.float32)


def tiled(size: int, *, traced: bool, tile: int = 16, repeat: int = 5) -> Seconds:
    """Time of one launch of the tiled kernel, ``size``³."""
    return product(size, size, size, traced=traced, tile=tile, repeat=repeat)


def product(M: int, N: int, K: int, *, traced: bool, tile: int, repeat: int = 5) -> Seconds:
    """Time of one launch of the tiled kernel; the result is checked once."""
    from kernels.lab import trace
    from kernels.rungs import tiled as rung

    kernel = rung.kernel(tile=tile)
    grid, block = rung.launch(M, N, tile=tile)
    A, B, C = operands(M, N, K)
    if traced:
        return best(lambda: trace(kernel, grid, block, A, B, C), repeat)
    seconds = best(lambda: kernel[grid, block](A, B, C), repeat)
    if not np.array_equal(C, A @ B):
        raise AssertionError(f"tiled {M}×{N}×{K} is wrong")
    return seconds


def simulator(size: int) -> Seconds:
    """Time that Numba's simulator takes for the same launch, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.engine.microscope.simulator", str(size)],
        cwd=REPOSITORY,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return Seconds(*map(float, done.stdout.split()))


def large(size: int = 1024, repeat: int = 1) -> tuple[Seconds, float]:
    """Time and gigabytes (peak of a process of its own) of one large untraced launch."""
    code = (
        "from tests.engine.microscope import speed; import resource; "
        f"t = speed.tiled({size}, traced=False, repeat={repeat}); "
        "print(*t, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"KERNELS_ENGINE": "cpu"},
    )
    *seconds, peak = map(float, done.stdout.split()[-3:])
    scale = 1 if sys.platform == "darwin" else 1024
    return Seconds(*seconds), peak * scale / 1e9


def table() -> list[tuple[str, str, str, str]]:
    """Rows of what was timed: name, both clocks, target."""
    simulated = simulator(64)
    untraced, traced = (tiled(64, traced=traced, repeat=30) for traced in (False, True))
    block = product(32, 32, 32, traced=True, tile=32, repeat=30)
    seconds, gigabytes = large(repeat=3)
    small, double = (tiled(n, traced=False, repeat=3) for n in (256, 512))

    def row(name, show, target):
        return name, show(0), show(1), target

    def times(own, k):
        return f"{1e3 * own[k]:.1f} ms, {simulated[k] / own[k]:.0f}×"

    return [
        row("Numba's simulator, tiled 64³", lambda k: f"{simulated[k]:.2f} s", ""),
        row("untraced, tiled 64³", lambda k: times(untraced, k), "1000×"),
        row("traced, tiled 64³", lambda k: times(traced, k), "300×"),
        row("one 32 × 32 block, K = 32, traced", lambda k: f"{1e3 * block[k]:.1f} ms", "10 ms"),
        row("untraced, tiled 1024³", lambda k: f"{seconds[k]:.2f} s", "6 s"),
        row("    its memory", lambda k: f"{gigabytes:.2f} GB", "2 GB"),
        row(
            "512³ over 256³, untraced (8 times the work)",
            lambda k: f"{double[k] / small[k]:.1f}×",
            "linear",
        ),
        row("threads of the interpreter", lambda k: str(threading.active_count()), "1"),
    ]


if __name__ == "__main__":
    os.environ.setdefault("KERNELS_ENGINE", "cpu")
    print(f"{'':45}{'a learner waits':>20}{'processor time':>20}{'target':>10}")
    for name, wall, processor, target in table():
        print(f"{name:45}{wall:>20}{processor:>20}{target:>10}")

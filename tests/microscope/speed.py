"""How fast the interpreter is, beside Numba's simulator: ``python -m tests.microscope.speed``."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).resolve().parents[2]


def best(run: Callable[[], object], repeat: int = 5) -> float:
    """Shortest of some runs, in seconds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def operands(M: int, N: int, K: int):
    """Whole-number matrices and a poisoned output."""
    rng = np.random.default_rng(9)
    A, B = (rng.integers(-4, 5, s).astype(np.float32) for s in ((M, K), (K, N)))
    return A, B, np.full((M, N), np.nan, np.float32)


def tiled(size: int, *, traced: bool, tile: int = 16, repeat: int = 5) -> float:
    """Seconds of one launch of the tiled kernel, ``size``³."""
    return product(size, size, size, traced=traced, tile=tile, repeat=repeat)


def product(M: int, N: int, K: int, *, traced: bool, tile: int, repeat: int = 5) -> float:
    """Seconds of one launch of the tiled kernel; the result is checked once."""
    from kernels import tiled as rung
    from kernels.lab import trace

    kernel = rung.kernel(tile=tile)
    grid, block = rung.launch(M, N, tile=tile)
    A, B, C = operands(M, N, K)
    if traced:
        return best(lambda: trace(kernel, grid, block, A, B, C), repeat)
    seconds = best(lambda: kernel[grid, block](A, B, C), repeat)
    if not np.array_equal(C, A @ B):
        raise AssertionError(f"tiled {M}×{N}×{K} is wrong")
    return seconds


def simulator(size: int) -> float:
    """Seconds that Numba's simulator takes for the same launch, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.microscope.simulator", str(size)], cwd=REPOSITORY,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, capture_output=True, text=True, check=True)
    return float(done.stdout)


def large(size: int = 1024) -> tuple[float, float]:
    """Seconds and gigabytes (peak of a process of its own) of one large untraced launch."""
    code = ("from tests.microscope import speed; import resource; "
            f"t = speed.tiled({size}, traced=False, repeat=1); "
            "print(t, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)")
    done = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True,
                          text=True, check=True, env=os.environ | {"KERNELS_ENGINE": "cpu"})
    seconds, peak = done.stdout.split()[-2:]
    scale = 1 if sys.platform == "darwin" else 1024
    return float(seconds), float(peak) * scale / 1e9


def table() -> list[tuple[str, str, str]]:
    """Rows of what was timed: name, figure, target."""
    simulated = simulator(64)
    untraced, traced = tiled(64, traced=False), tiled(64, traced=True)
    block = product(32, 32, 32, traced=True, tile=32)
    seconds, gigabytes = large()
    small, double = (tiled(n, traced=False, repeat=2) for n in (256, 512))
    threads = threading.active_count()
    return [
        ("Numba's simulator, tiled 64³", f"{simulated:.2f} s", ""),
        ("untraced, tiled 64³", f"{1e3 * untraced:.1f} ms, {simulated / untraced:.0f}×", "1000×"),
        ("traced, tiled 64³", f"{1e3 * traced:.1f} ms, {simulated / traced:.0f}×", "300×"),
        ("one 32 × 32 block, K = 32, traced", f"{1e3 * block:.1f} ms", "10 ms"),
        ("untraced, tiled 1024³", f"{seconds:.2f} s, {gigabytes:.2f} GB", "6 s, 2 GB"),
        ("512³ over 256³, untraced (8 times the work)", f"{double / small:.1f}×", "linear"),
        ("threads of the interpreter", str(threads), "1"),
    ]


if __name__ == "__main__":
    os.environ.setdefault("KERNELS_ENGINE", "cpu")
    for name, figure, target in table():
        print(f"{name:45}{figure:>22}    {target}")

"""What the tests of the interpreter's speed measure: processor times of one run, and memory.

Only what was measured in one run is ever compared. `python -m kernels bench --host` tells the
absolute times of a machine.
"""

import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np

from kernels.lab import trace
from kernels.rungs.order import LADDER

REPOSITORY = Path(__file__).resolve().parents[2]
HANGS = 600  #: seconds, by far more than the simulator takes on a slow machine under load


def seconds(*launches: Callable[[], object], repeat: int = 7) -> list[float]:
    """Shortest processor time of each of some launches, which take turns."""
    taken = [[] for _ in launches]
    for _ in range(repeat):
        for launch, times in zip(launches, taken, strict=True):
            start = time.process_time()
            launch()
            times.append(time.process_time() - start)
    return [min(times) for times in taken]


def product(M: int, N: int, K: int, *, tile: int, traced: bool) -> Callable[[], object]:
    """A launch of the tiled kernel; the first one has shown that its result is right."""
    rng = np.random.default_rng(9)
    A, B = (rng.integers(-4, 5, s).astype(np.float32) for s in ((M, K), (K, N)))
    C = np.full((M, N), np.nan, np.float32)
    rung = LADDER["tiled"]
    kernel, (grid, block) = rung.kernel(tile=tile), rung.launch(M, N, tile=tile)
    seen = trace(kernel, grid, block, A, B, C)
    if not np.array_equal(seen.outputs["C"], A @ B):
        raise AssertionError(f"tiled {M}×{N}×{K} is wrong")
    if traced:
        return lambda: trace(kernel, grid, block, A, B, C)
    return lambda: kernel[grid, block](A, B, C)


def simulator(size: int) -> float:
    """Processor time that Numba's simulator takes for tiled ``size``³, tiles of 16."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.microscope.simulator", str(size)],
        cwd=REPOSITORY,
        env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        check=True,
        timeout=HANGS,
    )
    return float(done.stdout)


def peak(launch: Callable[[], object]) -> int:
    """The most bytes that one launch holds at a time, beside what was there before."""
    tracemalloc.start()
    try:
        launch()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

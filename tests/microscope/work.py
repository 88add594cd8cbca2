"""What the tests of the interpreter's effort count: lines of Python of one launch, and memory.

A clock would count what else the machine does.
"""

import subprocess
import sys
import tracemalloc
from collections.abc import Callable

import numpy as np

from kernels import cuda
from kernels.lab import trace
from kernels.rungs.order import LADDER


def steps(M: int, N: int, K: int, *, tile: int, traced: bool) -> int:
    """Lines of Python that one launch of `product` runs; the same on every machine.

    They are counted in a process of its own: in one that has driven a browser, Python's hook for
    lines has been seen to run for ever.
    """
    asked = [str(number) for number in (M, N, K, tile, int(traced))]
    command = [sys.executable, "-m", "tests.microscope.work", *asked]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def lines(launch: Callable[[], object]) -> int:
    """Lines of Python that one call runs in this process."""
    count = 0

    def trace_line(frame: object, event: str, _: object) -> Callable:
        nonlocal count
        count += event == "line"
        return trace_line

    sys.settrace(trace_line)
    try:
        launch()
    finally:
        sys.settrace(None)
    return count


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
    on_device = [cuda.to_device(array) for array in (A, B, C)]
    return lambda: kernel[grid, block](*on_device)


def peak(launch: Callable[[], object]) -> int:
    """The most bytes that one launch holds at a time, beside what was there before."""
    tracemalloc.start()
    try:
        launch()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


if __name__ == "__main__":
    M, N, K, tile, traced = map(int, sys.argv[1:])
    print(lines(product(M, N, K, tile=tile, traced=bool(traced))))

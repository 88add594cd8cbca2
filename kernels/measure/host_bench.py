"""How fast this machine's processor runs the course: ``python -m kernels bench --host``.

A report, for a person to read: no test bounds these figures and no record holds them, since they
say more about the machine than about the course. Each line is measured in a process of its own, on
the CPU engine even where there is a GPU.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kernels.measure.timing import time
from kernels.rungs.order import LADDER
from microscope import trace

ROOT = Path(__file__).resolve().parents[2]
IMPORTS = 7
#: Prints the seconds until `kernels` can be used, and the process's peak in bytes as `peak` does.
IMPORT = """
import json, time
start = time.perf_counter()
from kernels import cuda, lab, matmul
seconds = time.perf_counter() - start
from kernels.measure.host_bench import peak
print(json.dumps([seconds, peak()]))
"""


@dataclass(frozen=True)
class TiledLaunch:
    """One launch of the tiled kernel by the interpreter, with M = N = K = size."""

    size: int
    tile: int = 16
    traced: bool = False
    repeat: int = 20

    @property
    def name(self) -> str:
        """What the table calls it."""
        name = "one tiled block" if self.size == self.tile else f"tiled {self.size}³"
        return f"{name}, traced" if self.traced else name


CASES = (
    TiledLaunch(32, tile=32, traced=True),
    TiledLaunch(64),
    TiledLaunch(64, traced=True),
    TiledLaunch(256),
    TiledLaunch(256, traced=True),
    TiledLaunch(512, traced=True, repeat=3),
    TiledLaunch(1024, repeat=3),
)


@dataclass(frozen=True)
class Row:
    """What was measured: seconds (median and quartiles of n), and the process's peak in bytes."""

    name: str
    median: float
    q1: float
    q3: float
    n: int
    peak: int


def peak() -> int:
    """The most memory that this process has held so far, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def launch(case: TiledLaunch) -> Row:
    """Time one case in this process.

    Raises
    ------
    RuntimeError
        When the product is wrong.
    """
    rng = np.random.default_rng(9)
    shape = (case.size, case.size)
    A, B = rng.integers(-4, 5, (2, *shape)).astype(np.float32)
    C = np.full(shape, np.nan, np.float32)
    tiled = LADDER["tiled"]
    kernel = tiled.kernel(tile=case.tile)
    grid, block = tiled.launch(*shape, tile=case.tile)

    def plainly() -> None:
        kernel[grid, block](A, B, C)

    def traced() -> None:
        trace(kernel, grid, block, A, B, C)

    plainly()
    if not np.array_equal(C, A @ B):
        raise RuntimeError(f"{case.name}: a wrong product, so no time")
    timing = time(traced if case.traced else plainly, repeat=case.repeat, warmup=1)
    return Row(case.name, timing.median, timing.q1, timing.q3, timing.n, peak())


def measure() -> Iterator[Row]:
    """Measure everything, one process after the other, and yield each row when it is there."""
    found = [_child("-c", IMPORT) for _ in range(IMPORTS)]
    seconds, peaks = zip(*found, strict=True)
    q1, median, q3 = np.quantile(seconds, (0.25, 0.5, 0.75)).tolist()
    yield Row("import kernels", median, q1, q3, IMPORTS, max(peaks))
    for number in range(len(CASES)):
        yield Row(**_child("-m", "kernels.measure.host_bench", str(number)))


def about() -> dict[str, str]:
    """What the figures depend on, as far as the machine says."""
    return {
        "system": platform.platform(),
        "machine": platform.machine(),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }


def _child(*arguments: str) -> Any:
    """What a Python process prints as JSON."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, "KERNELS_ENGINE": "cpu"},
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(done.stdout)


if __name__ == "__main__":
    print(json.dumps(asdict(launch(CASES[int(sys.argv[1])]))))

"""compute-sanitizer beside the microscope, on hundreds of wrong kernels (`wrong`).

``python -m tests.microscope.fuzz.sanitize --run N…`` launches some of them: that is what the tools
watch.
"""

from __future__ import annotations

import argparse

import numpy as np

from tests.microscope import sanitize
from tests.microscope.cases import from_source
from tests.microscope.fuzz.wrong import wrong

TOOLS = ("memcheck", "racecheck", "initcheck")


def launch(number: int) -> bool:
    """Run one kernel on the GPU; did it give something else than its text without lanes would?"""
    from numba import cuda

    w = wrong(number)
    module = from_source(f"from numba import cuda\n{w.source}", w.name)
    given = [cuda.to_device(a) if type(a) is np.ndarray else a for a in w.values(cuda.device_array)]
    getattr(module, w.name)[w.grid, w.block](*given)
    cuda.synchronize()
    return False


def microscope(number: int) -> list[str]:
    """The kinds of problems that the microscope reports, under any schedule."""
    from microscope import api, trace

    w = wrong(number)
    module = from_source(f"from microscope import api as cuda\n{w.source}", w.name)
    kinds = set()
    for schedule in ("lockstep", "warps-reversed"):
        values = w.values(api.device_array)
        seen = trace(getattr(module, w.name), w.grid, w.block, *values, schedule=schedule)
        kinds |= {p.kind for p in seen.problems}
    return sorted(kinds)


def rows(count: int, processes: int) -> list[dict]:
    """Every kernel with what each tool said of it, and what we say."""
    numbers = list(range(count))
    said = {tool: sanitize.record(tool, numbers, processes, __name__) for tool in TOOLS}
    return [
        {
            "number": n,
            "pattern": wrong(n).pattern,
            "slip": wrong(n).slip,
            "microscope": microscope(n),
            "tools": {tool: said[tool][n] for tool in TOOLS},
        }
        for n in numbers
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", type=int, nargs="+", required=True)
    sanitize.worker(parser.parse_args().run, launch)

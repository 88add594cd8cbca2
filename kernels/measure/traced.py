"""What the microscope counts in every Numba rung, at sizes that can be traced whole.

``python -m kernels.measure.traced`` writes them to ``kernels/records/traced.json``, and with names
of rungs traces these alone. They stand beside the model's predictions and the hardware's counters
on the page that compares the three.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from kernels.basics import files
from kernels.measure import oracle, profiler
from kernels.records.side_by_side import TRACED
from kernels.records.side_by_side import traced as traced_before
from kernels.rungs.order import LADDER, Rung
from microscope import trace

ABOUT = "What the microscope counts in every Numba rung, as kernels.measure.traced wrote it."
#: A field of a row for the trace's count of each kind of access.
COUNTED = {
    "requests": ("requests", {"space": "global", "op": "load"}),
    "sectors": ("sectors", {"space": "global", "op": "load"}),
    "store_requests": ("requests", {"space": "global", "op": "store"}),
    "store_sectors": ("sectors", {"space": "global", "op": "store"}),
    "shared_load_instructions": ("requests", {"space": "shared", "op": "load"}),
    "shared_load_wavefronts": ("wavefronts", {"space": "shared", "op": "load"}),
    "shared_load_conflicts": ("conflicts", {"space": "shared", "op": "load"}),
    "shared_store_instructions": ("requests", {"space": "shared", "op": "store"}),
    "shared_store_wavefronts": ("wavefronts", {"space": "shared", "op": "store"}),
    "shared_store_conflicts": ("conflicts", {"space": "shared", "op": "store"}),
}


def versions() -> Iterator[tuple[Rung, dict[str, int]]]:
    """Every rung that the microscope runs, with the options it has by default."""
    for rung in LADDER.values():
        if rung.in_microscope:
            yield rung, rung.default("numba")


def traced_row(rung: Rung, options: dict[str, int], M: int, N: int, K: int) -> dict[str, Any]:
    """One row of the table: the counts of one launch for A (M×K) and B (K×N).

    Raises
    ------
    kernels.measure.oracle.WrongResult
        If the product is wrong: its counts would be of another kernel.
    """
    A, B = oracle.inputs(M, N, K)
    grid, block = rung.launch(M, N, **options)
    seen = trace(rung.kernel(**options), grid, block, A, B, oracle.poisoned(M, N))
    oracle.check(seen.outputs["C"], A, B)
    loads = sum(int(seen.heat(name).loads.sum()) for name in "AB")
    counts = {name: seen.count(**which)[what] for name, (what, which) in COUNTED.items()}
    return {"rung": rung.name, "options": options, "M": M, "N": N, "K": K, "loads": loads, **counts}


def main() -> None:
    """Trace the versions of every rung, or of those named, at every small size, and write them."""
    names, rows = sys.argv[1:], []
    for rung, options in versions():
        if names and rung.name not in names:
            rows += [
                r for r in traced_before() if (r["rung"], r["options"]) == (rung.name, options)
            ]
            continue
        for shape in profiler.SMALL:
            rows.append(traced_row(rung, options, *shape))
            print(rung.name, options, shape, flush=True)
    body = ",\n".join("  " + json.dumps(row) for row in rows)
    text = f'{{\n "about": {json.dumps(ABOUT)},\n "rows": [\n{body}\n ]\n}}\n'
    files.replace_text(TRACED, text)


if __name__ == "__main__":
    main()

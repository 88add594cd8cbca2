"""``python -m tests.microscope.fuzz --count 5000 --seed 1 --out FILE``: write down what differs."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path

from tests.microscope.fuzz import worker

KEPT = 300  #: programs kept whole, of each class that calls for a look
QUIET = (
    "same",
    "reported",
    "both refuse",
    "interpreter is stricter",
    "compiler crashes",
)
SEEDS = 1_000_000  #: programs of one ``--seed``
PAUSE = 10  #: seconds between two writings of what is known so far


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="other numbers, other programs")
    parser.add_argument("--again", type=int, nargs="+", default=[], metavar="SEED", help="first")
    parser.add_argument("--processes", type=int, default=max(1, os.cpu_count() or 1))
    parser.add_argument("--minutes", type=float, default=7.0, help="begin nothing after these")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()

    began = time.monotonic()
    deadline = began + 60 * given.minutes
    result: dict = {"seed": given.seed, "python": sys.version.split()[0]}
    if given.again:
        rows = worker.hire(given.again, given.processes, deadline)
        result["again"] = [worker.detailed(row) for row in rows]
        write(given.out, result)
    first = given.seed * SEEDS
    seeds = range(first, first + given.count)
    counts: Counter = Counter()
    kept: dict[str, list] = {}
    last = began
    for row in worker.hire(seeds, given.processes, deadline):
        counts[row["class"]] += 1
        if row["class"] not in QUIET and len(kept.setdefault(row["class"], [])) < KEPT:
            kept[row["class"]].append(worker.detailed(row))
        now = time.monotonic()
        result |= {
            "programs": sum(counts.values()),
            "counts": dict(counts.most_common()),
            "kept": kept,
            "seconds": round(now - began),
        }
        if now - last > PAUSE:
            write(given.out, result)
            last = now
    write(given.out, result)
    print(json.dumps({k: v for k, v in result.items() if k not in ("kept", "again")}))


def write(path: Path, result: dict) -> None:
    """The result as JSON; whoever is killed here leaves what was written before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(result, indent=1) + "\n")
    new.replace(path)


if __name__ == "__main__":
    main()

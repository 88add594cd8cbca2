"""Where compute-sanitizer and the microscope differ on the wrong kernels, and why.

``python -m tests.microscope.fuzz.explained`` prints how many kernels each reason concerns;
``python -m tests.microscope.fuzz.explained FILE`` first takes over what ``--sanitize`` has written.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from tests.microscope.cases import from_source
from tests.microscope.fuzz.wrong import Wrong, wrong
from tests.microscope.sanitize import SHARE

RECORD = Path(__file__).with_name("sanitizer.json")
PRINTED = 200  #: reports that a tool prints of one process, when this was recorded
IMPORT = "from microscope import api as cuda\n"
TOOLS = {"bounds": "memcheck", "race": "racecheck", "blank": "initcheck"}
KINDS = {"out of bounds": "bounds", "uninitialised read": "blank"}


@dataclass
class Case:
    """One kernel: what the tools said of it, and what the microscope says.

    Attributes
    ----------
    tools : dict
        Of each tool how the launch ended, and how often it found what.
    reported : int
        What memcheck had found in all kernels of the same process.
    """

    number: int
    tools: dict
    reported: int

    @cached_property
    def wrong(self) -> Wrong:
        return wrong(self.number)

    @cached_property
    def traces(self) -> list:
        """The microscope's, under schedules that differ most."""
        from microscope import api, trace

        w = self.wrong
        kernel = getattr(from_source(f"{IMPORT}{w.source}", w.name), w.name)
        return [
            trace(kernel, w.grid, w.block, *w.values(api.device_array), schedule=schedule)
            for schedule in ("lockstep", "warps-reversed")
        ]

    def problems(self, sort: str) -> list:
        """The microscope's problems of one sort."""
        return [p for t in self.traces for p in t.problems if KINDS.get(p.kind, "race") == sort]

    def found(self, sort: str) -> bool:
        """Say whether the tool for this sort found something."""
        return bool(self.tools[TOOLS[sort]]["findings"])

    def ended(self, sort: str) -> bool:
        """Say whether a bad access ended the launch under that tool."""
        return self.tools[TOOLS[sort]]["end"] != "right"

    def at_atomics(self, problem) -> bool:
        """Say whether one of the two accesses of a race is an atomic."""
        lines = f"{IMPORT}{self.wrong.source}".splitlines()
        places = problem.line, problem.other_line
        return any("atomic" in lines[line - 1] for line in places if line)

    def alike(self) -> bool:
        """Say whether the results are the same, whoever comes first."""
        first, second = (t.outputs for t in self.traces)
        return all(np.array_equal(first[k], second[k], equal_nan=True) for k in first)


#: Why the microscope alone reports a problem: its sort, the reason and how one sees that it holds.
REASONS = (
    (
        "blank",
        "initcheck watches global memory only, and this is shared memory",
        lambda c, found: all("shared memory starts" in p.message for p in found),
    ),
    ("race", "a bad access ended the launch before racecheck", lambda c, found: c.ended("race")),
    (
        "race",
        "racecheck takes no notice of atomics",
        lambda c, found: all(map(c.at_atomics, found)),
    ),
    (
        "race",
        "the threads store the same number, of which racecheck says nothing",
        lambda c, found: c.alike() and all(p.kind == "race: write after write" for p in found),
    ),
    (
        "bounds",
        "the address lies in another array, and memcheck knows addresses only",
        lambda c, found: not any(f"{p.array} = cuda.shared" in c.wrong.source for p in found),
    ),
    (
        "bounds",
        f"memcheck had printed all of the {PRINTED} reports that it prints",
        lambda c, found: c.reported >= PRINTED,
    ),
)


def reasons(case: Case) -> list[str]:
    """Why the two differ on a kernel, sort by sort; empty where they agree.

    Raises
    ------
    LookupError
        If there is no known reason.
    """
    told = []
    for sort in TOOLS:
        ours = case.problems(sort)
        if bool(ours) == case.found(sort):
            continue
        if not ours:
            raise LookupError(f"kernel {case.number}: {TOOLS[sort]} alone reports something")
        holding = [why for s, why, holds in REASONS if s == sort and holds(case, ours)]
        if not holding:
            raise LookupError(f"kernel {case.number}: the microscope alone says {ours[0].message}")
        told.append(holding[0])
    return told


def cases() -> list[Case]:
    """All recorded kernels."""
    rows = json.loads(RECORD.read_text())["kernels"]
    found = [sum(row["memcheck"]["findings"].values()) for row in rows]
    return [Case(n, row, sum(found[n // SHARE * SHARE :][:SHARE])) for n, row in enumerate(rows)]


def take(run: Path) -> None:
    """Keep what a run on a GPU has written of the tools."""
    told = json.loads(run.read_text())
    rows = [
        {
            tool: {"end": said["end"].split()[0], "findings": said["findings"]}
            for tool, said in row["tools"].items()
        }
        for row in told["sanitizer"]
    ]
    lines = ",\n".join(map(json.dumps, rows))
    RECORD.write_text(f'{{"seed": {told["seed"]}, "kernels": [\n{lines}\n]}}\n')


def main() -> None:
    """Command line."""
    if sys.argv[1:]:
        take(Path(sys.argv[1]))
    counts: Counter = Counter()
    for case in cases():
        counts.update(reasons(case) or ["both say the same"])
    for why, n in counts.most_common():
        print(f"{n:5}  {why}")


if __name__ == "__main__":
    main()

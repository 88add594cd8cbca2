"""The page "What the interpreter runs", from the verdicts on all rows."""

from __future__ import annotations

from functools import cache
from itertools import groupby
from pathlib import Path

from tests.microscope.constructs import rows, verdicts

PAGE = Path(__file__).parents[3] / "chapters" / "interpreter.md"
HEAD = """\
# What the interpreter runs

Without a GPU, your kernels run in the course's interpreter. It knows most of what Numba compiles
for a GPU, and refuses the rest before the kernel starts, in one line that says what to write
instead. Each row was run in the interpreter and compiled for a GPU by numba-cuda {version}.

- **runs**: here and on a GPU.
- **refused**: here and on a GPU. The line is the interpreter's; Numba's own is longer.
- **GPU only**: numba-cuda compiles it, the interpreter does not know it.

Two results can differ. Numba's linker merges a product and a sum into one FMA, which rounds once
where the interpreter rounds twice: expect another last digit. A 64-bit integer that overflows, a
float too large for the integer it becomes, and `abs` and `-` of the lowest integer of a type are
undefined: a GPU may give any number. Of 0.0 and -0.0, `min` and `max` go by the sign; where the
compiler knows both, it takes the first.

Every thread of the grid must come to `grid.sync()`; the interpreter names one that has returned. On
an H100, thread 0 of a block reports for it: launches hung where that thread had returned from one
of the blocks, and were right in 50 of 50 where other threads had. Numba's examples *Laplace* and
*Sessionize* are of the second kind: they run there, and are refused here.

A thread's stack has 1024 bytes on a GPU. Compiled for an H100, a call of `fib` takes 56 of them,
and one of a smaller function 32: that one was right 30 deep on the GPU, and ended with an error 32
deep. The interpreter refuses more than 32.

{summary}
"""
ROW_HEAD = "| Construct | Verdict | What the interpreter says |\n|---|---|---|\n"


def verdict(row: rows.Row) -> tuple[str, str]:
    """A row's verdict, and the line that the interpreter gives."""
    refused = verdicts.here(row).refused
    if not refused:
        return "runs", ""
    compiles = row.on_host or not verdicts.there(row).refused
    return "GPU only" if compiles else "refused", refused


@cache
def judged() -> tuple[tuple[rows.Row, str, str], ...]:
    """All rows with their verdicts."""
    return tuple((row, *verdict(row)) for row in rows.everything())


def summary() -> str:
    """How many rows have which verdict."""
    found = [v for _, v, _ in judged()]
    counts = [f"{found.count(v)} {what}" for v, what in WORDS.items()]
    return f"Of {len(found)} constructs {counts[0]}, {counts[1]} and {counts[2]}."


WORDS = {"runs": "run", "refused": "are refused everywhere", "GPU only": "need a GPU"}


def text() -> str:
    """The page."""
    from importlib.metadata import version

    parts = [HEAD.format(version=version("numba-cuda"), summary=summary())]
    for section, group in groupby(judged(), key=lambda found: found[0].section):
        lines = [
            f"| {_cell(row.construct)} | {verdict} | {_cell(_code(line))} |\n"
            for row, verdict, line in group
        ]
        parts.append(f"\n## {section}\n\n{ROW_HEAD}{''.join(lines)}")
    return "".join(parts)


def _code(line: str) -> str:
    """A message as code, so that nothing in it counts as Markdown."""
    return f"`` {line} ``" if line else ""


def _cell(text: str) -> str:
    """Text for a cell of a table, which ends at the next bar."""
    return text.replace("|", "\\|")

"""What a kernel with one place of its text changed runs into."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from typing import Any

from kernels.host.rung import Rung
from kernels.measure.anywhere import trace_rung
from kernels.measure.changed import changed
from microscope import Trace

__all__ = ["changed", "first_problem", "reported"]


def first_problem(seen: Trace) -> str:
    """What a trace reports first, in lines of at most 76 characters, with the lines it names."""
    if not seen.problems:
        return "    no problem found"
    first = str(seen.problems[0])
    wrapped = textwrap.fill(first, 76, initial_indent="    ", subsequent_indent="    ")
    named = sorted({int(n) for n in re.findall(r"\bline (\d+)", first)})
    text = {n: seen.source[n - seen.first_line].partition("  #")[0].strip() for n in named}
    return "\n".join([wrapped, *(f"    {n:>6} | {line}" for n, line in text.items())])


def reported(
    rung: Rung, make: Callable[..., Any], before: str, after: str, M: int, N: int, K: int
) -> str:
    """What the tracer reports first of a changed kernel."""
    seen = trace_rung(rung.with_kernel(changed(make, before, after)), M, N, K)
    return f"{before}  →  {after}\n{first_problem(seen)}"

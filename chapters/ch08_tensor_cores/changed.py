"""What a kernel with one place of its text changed runs into."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any

from kernels.host.rung import Rung
from kernels.measure.anywhere import trace_rung
from kernels.measure.changed import changed

__all__ = ["changed", "reported"]


def reported(
    rung: Rung, make: Callable[..., Any], before: str, after: str, M: int, N: int, K: int
) -> str:
    """What the tracer reports first of a changed kernel, in lines of at most 76 characters."""
    seen = trace_rung(rung.with_kernel(changed(make, before, after)), M, N, K)
    first = str(seen.problems[0]) if seen.problems else "no problem found"
    text = textwrap.fill(first, 76, initial_indent="    ", subsequent_indent="    ")
    return f"{before}  →  {after}\n{text}"

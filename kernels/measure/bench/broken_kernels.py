"""What compute-sanitizer says of kernels that are wrong."""

from __future__ import annotations

import warnings

from kernels.measure import sanitizer
from kernels.measure.bench.step import Step, Tables


def steps() -> list[Step]:
    """One step: the verdicts of its tools."""
    return [Step("sanitizer", sanitized)]


def sanitized() -> Tables:
    """What compute-sanitizer says of broken kernels; no rows, and a word why, without it."""
    try:
        return {"sanitizer": sanitizer.verdicts()}
    except sanitizer.SanitizerError as error:
        warnings.warn(f"no sanitizer: {error}", stacklevel=2)
        return {}

"""Predicted by the model, traced by the microscope, counted by the hardware: side by side.

The model predicts any size; the microscope's counts (`traced`) are of small sizes
that can be traced whole; the counters are a record's tables ``counted`` (the same small sizes) and
``profiles`` (2048³). All of them are of Numba kernels.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kernels.records import Record, Row
from kernels.rungs.order import LADDER

__all__ = ["QUANTITIES", "TRACED", "Line", "lines", "traced"]

#: What `python -m kernels.measure.traced` writes.
TRACED = Path(__file__).with_name("traced.json")

#: What is compared, by what a table calls it.
QUANTITIES = {
    "requests": "load requests to global memory",
    "sectors": "sectors of these requests",
    "store_requests": "store requests to global memory",
    "store_sectors": "sectors of these requests",
    "shared_load_instructions": "load instructions to shared memory",
    "shared_load_wavefronts": "wavefronts of these loads",
    "shared_store_instructions": "store instructions to shared memory",
    "shared_store_wavefronts": "wavefronts of these stores",
}


@cache
def traced() -> list[dict[str, Any]]:
    """Return what the microscope counts in every Numba rung, at sizes that can be traced whole."""
    return json.loads(TRACED.read_text(encoding="utf-8"))["rows"]


MERGED = "four neighbouring 4-byte loads of a tile's row became one 16-byte load"
MERGED_WAVEFRONTS = "such a 16-byte load takes two wavefronts where four loads took four"
SAME_TIME = "an access that meets a line under way from L2 probably waits, and the wait is counted"
WIDER = "the compiler loads several elements at once"
PARTED = "at the edges the lanes of a warp part, and each party asks for itself"
UNEXPLAINED = "not explained"


@dataclass(frozen=True)
class Line:
    """One quantity of one rung at one size.

    Attributes
    ----------
    rung : str
    options : dict of str to int
    shape : tuple of int
        M, N, K.
    quantity : str
        A key of `QUANTITIES`.
    predicted, traced, counted : int or None
        None where the model, the microscope or the record does not say.
    merged : bool
        Whether the hardware needed fewer load instructions to shared memory than were traced.
    """

    rung: str
    options: dict[str, int]
    shape: tuple[int, int, int]
    quantity: str
    predicted: int | None
    traced: int | None
    counted: int | None
    merged: bool = False

    @property
    def expected(self) -> int | None:
        """What the source as written asks for: traced where it can be, else predicted."""
        return self.predicted if self.traced is None else self.traced

    @property
    def ratio(self) -> float | None:
        """Counted over expected; 1 where both are nothing."""
        if self.counted is None or self.expected is None:
            return None
        if not self.expected:
            return 1.0 if not self.counted else None
        return self.counted / self.expected

    @property
    def why(self) -> str:
        """What the difference comes from, in a sentence; empty where there is none."""
        if self.counted is None or self.expected is None or self.counted == self.expected:
            return ""
        fewer, ratio = self.counted < self.expected, self.ratio or 0
        if self.quantity == "shared_load_instructions" and fewer:
            return MERGED
        if self.quantity == "shared_load_wavefronts" and fewer and self.merged:
            return MERGED_WAVEFRONTS
        if self.quantity.endswith("_wavefronts") and 1 < ratio < 1.15:
            return SAME_TIME
        if self.quantity in ("requests", "store_requests"):
            return WIDER if fewer else PARTED
        return UNEXPLAINED


def lines(record: Record, quantity: str) -> Iterator[Line]:
    """One quantity of every Numba rung at every size, in the order of the ladder.

    Raises
    ------
    KeyError
        For a quantity that is not compared.
    """
    if quantity not in QUANTITIES:
        raise KeyError(f"no quantity {quantity!r}: use one of {', '.join(QUANTITIES)}")
    for found in traced():
        if found["rung"] in LADDER:
            yield _line(record, found["rung"], found["options"], _shape(found), quantity, found)
    large = {tuple(_shape(row)) for row in record.tables.get("profiles", ())}
    for shape in sorted(large):
        for name, options in _versions():
            yield _line(record, name, options, shape, quantity, {})


def _versions() -> Iterator[tuple[str, dict[str, int]]]:
    """The rungs that are traced, with their options, each once."""
    seen = []
    for row in traced():
        version = row["rung"], row["options"]
        if version not in seen and row["rung"] in LADDER:
            seen.append(version)
            yield version


def _shape(row: Row | dict) -> tuple[int, int, int]:
    return row["M"], row["N"], row["K"]


def _line(
    record: Record, name: str, options: dict[str, int], shape: tuple[int, int, int], quantity: str,
    traced: dict,
) -> Line:  # fmt: skip
    rows = [
        row
        for table in ("counted", "profiles")
        for row in record.tables.get(table, ())
        if (row["rung"], row["engine"], row["options"]) == (name, "numba", options)
        and _shape(row) == shape
    ]
    counted = rows[0].get(quantity) if rows else None
    predicted = _predicted(name, options, shape, quantity)
    loads = "shared_load_instructions"
    merged = bool(rows and traced and rows[0].get(loads, traced[loads]) < traced[loads])
    return Line(name, options, shape, quantity, predicted, traced.get(quantity), counted, merged)


def _predicted(
    name: str, options: dict[str, int], shape: tuple[int, int, int], quantity: str
) -> int | None:
    """What the model says of global memory; of shared memory it says nothing."""
    if quantity.startswith("shared_"):
        return None
    model = LADDER[name].model(*shape, **options)
    accesses = model.writes if quantity.startswith("store_") else model.reads
    counts = [getattr(access, quantity.removeprefix("store_")) for access in accesses.values()]
    return None if None in counts else sum(counts)

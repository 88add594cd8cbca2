"""Measured figures, read from ``chapters/records/<gpu>.json`` and never typed into prose.

A record is one JSON file for one GPU: ``provenance`` (who measured, with what, when), ``device``
(what the driver said of the GPU) and tables of rows. Every row is complete in itself: it names what
was run, and the date of the run it came from.

>>> record = load()                                             # doctest: +SKIP
>>> record.timing("tiled", M=4096, tile=32).gflops              # doctest: +SKIP
>>> print(record.caption())                                     # doctest: +SKIP
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kernels.basics import data_sheets
from kernels.basics.files import ROOT, replace_text, slug
from kernels.basics.files import check_folder as check_folder
from kernels.basics.units import percent, quantity

DEFAULT_GPU = "h200"
FOLDER = ROOT / "chapters" / "records"
#: The record of several GPUs of one machine: ``"h200x2"``.
SEVERAL = re.compile(r"(.*[a-z0-9])x(\d+)")
#: The fields that say what a row measured, its options besides; every other one is a finding.
KEY = frozenset(
    "rung engine dtype M N K out_dtype gpus index "
    "what n block cache stride threads reads offset axes launches "
    "arguments space bytes level direction memory streams stream strips strip "
    "kernel tool version heads D causal product how calls a b algorithm grid fault choice".split()
)
#: The figure a table is there to give, and its unit, for one-line reading.
HEADLINE = {"gflops": ("FLOP/s", 1e9), "bytes_per_second": ("B/s", 1), "ns": ("s", 1e-9)}


class RecordError(LookupError):
    """A record, or a row of one, that is not there or cannot be read."""


def folder() -> Path:
    """The folder of the records: ``chapters/records``, or what ``KERNELS_RECORDS`` names."""
    return Path(os.environ.get("KERNELS_RECORDS") or FOLDER)


def names() -> list[str]:
    """The GPUs that have a record, such as ``["h200", "t4"]``; those of several at once apart."""
    return sorted(p.stem for p in folder().glob("*.json") if not SEVERAL.fullmatch(p.stem))


class MissingField(RecordError, AttributeError):
    """A field that a row doesn't have."""


class Row(dict):
    """One measured row: a dictionary whose fields can also be read as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise MissingField(f"this row has no {name!r}; it has {', '.join(self)}") from None

    @property
    def median(self) -> float:
        """Median time in seconds."""
        return self["seconds"]["median"]

    @property
    def share(self) -> float:
        """Speed as a share of cuBLAS measured in the same run (1.0 is equal)."""
        return self["gflops"] / self["cublas_gflops"]

    @property
    def speed(self) -> str:
        """The row's headline figure with its unit, such as ``"8.61 TFLOP/s"``."""
        for name, (unit, factor) in HEADLINE.items():
            if name in self:
                return quantity(self[name] * factor, unit)
        if "seconds" in self:
            return quantity(self.median, "s")
        skipped = KEY | {"date", "options"}
        return ", ".join(f"{name} {self[name]}" for name in self if name not in skipped)

    def __str__(self) -> str:
        words = [f"{key}={value}" for key, value in key_of(self)]
        share = f", {percent(self.share)} of cuBLAS" if "cublas_gflops" in self else ""
        return f"{' '.join(words)}: {self.speed}{share}"


def key_of(row: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """What a row measured, without what was found: two rows with one key are one measurement."""
    key = {name: value for name, value in row.items() if name in KEY}
    return tuple(sorted((k, str(v)) for k, v in {**key, **row.get("options", {})}.items()))


def field_of(row: Mapping[str, Any], name: str) -> Any:
    return row[name] if name in row else row.get("options", {}).get(name)


@dataclass
class Record:
    """The measured figures of one GPU.

    Attributes
    ----------
    name : str
        File name without its ending, such as ``"h200"``; empty when nothing is recorded yet.
    provenance : dict
        ``gpu``, ``driver``, ``cuda``, ``versions``, ``date``, ``clocks`` of the latest run.
    device : dict
        What ``lab.device()`` said on the recorded machine.
    tables : dict of str to list of Row
        ``timings``, ``guard``, ``resources``, ``bandwidth``, ``vector_add``, ``launch``,
        ``latency``, ``strides``, ``layouts``, ``banks``, ``transpose``, ``transfers``, ``cpu``,
        ``profiles`` where counters could be read, and ``sass`` where machine code could.
    earlier : list of dict
        Provenance of older runs that some rows still come from.
    """

    name: str
    provenance: dict[str, Any] = field(default_factory=dict)
    device: dict[str, Any] = field(default_factory=dict)
    tables: dict[str, list[Row]] = field(default_factory=dict)
    earlier: list[dict[str, Any]] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether anything is recorded."""
        return bool(self.tables)

    @property
    def sheet(self) -> str:
        """Short name of this GPU's data sheet, such as ``"h100"``; where there is none, `name`."""
        try:
            return data_sheets.short_name(self.provenance.get("gpu", self.name))
        except LookupError:
            return self.name

    def reading(self) -> tuple[str, float]:
        """What a kernel that only reads is measured against, and its bytes per second.

        ``"read"``, the fastest that is recorded, sums included; ``"copy"``, which also writes,
        where none is.
        """
        copied = {row.what: row.bytes_per_second for row in self.tables.get("bandwidth", ())}
        reads = [copied["read"]] if "read" in copied else []
        reads += [row.bytes_per_second for row in self.tables.get("sums", ())]
        return ("read", max(reads)) if reads else ("copy", copied["copy"])

    def caption(self, *rows: Row | None) -> str:
        """One line on where all figures (or those of some rows) come from, with every day of them.

        No row, or None for a row that there is not: the whole record.
        """
        if not self:
            return "Nothing is recorded yet: run `make record` on a machine with an NVIDIA GPU."
        runs = sorted([self.provenance, *self.earlier], key=lambda run: str(run.get("date")))
        days = dict.fromkeys(str(run.get("date"))[:10] for run in runs)
        dates = {row.get("date") for row in rows if row is not None}
        if dates:
            days = dict.fromkeys(sorted(str(date)[:10] for date in dates))
            runs = [run for run in runs if run.get("date") in dates] or [self.provenance]

        def of(name):
            """What the runs have, each once."""
            return listed(str(run[name]) for run in runs if name in run)

        versions = [run.get("versions", {}) for run in runs]
        kept = [
            f"{name} {listed(v[name] for v in versions if name in v)}"
            for name in ("numba-cuda", "cupy")
            if any(name in v for v in versions)
        ]
        # What runs through Vulkan has a driver, and no CUDA.
        through = {"driver": "driver", "CUDA": "cuda"}.items()
        has = [f"{word} {of(name)}" for word, name in through if any(name in run for run in runs)]
        parts = [*has, *kept]
        return f"Recorded on {of('gpu')}, {listed(days)} ({', '.join(parts)})."

    def rows(self, table: str, **where: Any) -> list[Row]:
        """All rows of a table whose fields (or options) equal ``where``.

        An empty record gives an empty list; an unknown table raises `RecordError`.
        """
        if not self:
            return []
        if table not in self.tables:
            raise RecordError(
                f"record {self.name!r} has no table {table!r}; it has {', '.join(self.tables)}"
            )
        wanted = {name: value for name, value in where.items() if value is not None}
        return [
            row
            for row in self.tables[table]
            if all(field_of(row, name) == value for name, value in wanted.items())
        ]

    def row(self, table: str, **where: Any) -> Row:
        """The one row that equals ``where``; `RecordError` says what is recorded instead."""
        found = self.rows(table, **where)
        if len(found) == 1:
            return found[0]
        asked = ", ".join(f"{name}={value}" for name, value in where.items() if value is not None)
        if not self:
            raise RecordError(f"no row {table}({asked}): {self.caption()}")
        if found:
            raise RecordError(f"{len(found)} rows of {table!r} match {asked}: say more")
        near = self.tables[table]
        recorded = {name: sorted({str(field_of(row, name)) for row in near}) for name in where}
        text = "; ".join(f"{name}: {', '.join(values)}" for name, values in recorded.items())
        raise RecordError(f"record {self.name!r} has no {table} row with {asked}. Recorded: {text}")

    def timing(
        self,
        rung: str,
        engine: str = "numba",
        M: int = 4096,
        N: int | None = None,
        K: int | None = None,
        dtype: str = "float32",
        **options: Any,
    ) -> Row:
        """The row of one matrix product.

        Parameters
        ----------
        rung, engine : str
            Such as ``"tiled"`` and ``"numba"`` or ``"cpp"``; what is no rung, such as ``"cublas"``,
            has engine ``"library"``, which is filled in.
        M, N, K : int
            Shapes; N and K default to M.
        **options
            Such as ``tile=32``; those left out have the rung's default.

        Raises
        ------
        RecordError
            When no row matches.
        """
        from kernels.rungs.order import LADDER  # whoever only reads needs no kernel

        if rung not in LADDER:
            engine = "library"
        else:
            options = LADDER[rung].default(engine) | options
        what = {"rung": rung, "engine": engine, "dtype": dtype, "M": M, "N": N or M, "K": K or M}
        exact = [row for row in self.rows("timings", **what) if row["options"] == options]
        return exact[0] if len(exact) == 1 else self.row("timings", **what, **options)

    def ladder(
        self, M: int = 4096, N: int | None = None, K: int | None = None, dtype: str = "float32"
    ) -> list[Row]:
        """The timing rows of one size for a chart of the ladder.

        Of every rung, in each language, the fastest of the measured tiles whose product was right
        (the shape of a block that has no tile is the default one); then other libraries, and cuBLAS
        last.
        """

        from kernels.rungs.order import LADDER  # whoever only reads needs no kernel

        def shown(row: Row) -> bool:
            block = row["options"].get("block")
            return block is None or block == LADDER[row["rung"]].defaults["block"]

        best: dict[tuple[str, str], Row] = {}
        rows = self.rows("timings", M=M, N=N or M, K=K or M, dtype=dtype, correct=True)
        for row in filter(shown, rows):
            key = row["rung"], row["engine"]
            if key not in best or row["gflops"] > best[key]["gflops"]:
                best[key] = row
        order = [*LADDER, *sorted({rung for rung, _ in best} - {*LADDER, "cublas"}), "cublas"]
        return sorted(best.values(), key=lambda row: order.index(row["rung"]))

    def dtypes(self) -> list[str]:
        """Number formats that matrix products were measured in, float32 first."""
        found = dict.fromkeys(row.get("dtype", "float32") for row in self.rows("timings"))
        return sorted(found, key=lambda dtype: dtype != "float32")


def load(name: str | None = None) -> Record:
    """The record to show.

    Parameters
    ----------
    name : str, optional
        Such as ``"h200"``. Without it: the record of this machine's own GPU if there is one, else
        the default GPU's, else any.

    Returns
    -------
    Record
        Empty (and false) when nothing is recorded yet and no name was given.

    Raises
    ------
    RecordError
        For a name without a record, or a file that is not a whole record.
    """
    recorded = names()
    if name is None:
        if not recorded:
            return Record("")
        own = _own_gpu()
        name = next((n for n in (own, DEFAULT_GPU) if n in recorded), recorded[0])
    if name not in recorded:
        text = f"recorded are {', '.join(recorded)}" if recorded else "nothing is recorded yet"
        raise RecordError(f"no record of GPU {name!r}: {text}")
    return read(folder() / f"{name}.json")


def holding(table: str) -> Record:
    """The record to show of one table: `load`'s if it has rows of it, else another GPU's.

    Returns
    -------
    Record
        As `load` returns it where no record has such rows.
    """
    shown = load()
    others = (load(name) for name in names() if name != shown.name)
    return next((record for record in (shown, *others) if record.tables.get(table)), shown)


def read(path: Path) -> Record:
    """Read one record file."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise RecordError(
            f"{path.name} is not whole JSON ({error}): restore it from git or record again"
        ) from None
    parts = data if isinstance(data, dict) else {}
    missing = [part for part in ("provenance", "timings") if part not in parts]
    if missing:
        raise RecordError(
            f"{path.name} has no {' and no '.join(missing)}: restore it from git or record again"
        )
    rest = {name: data.pop(name, empty) for name, empty in (("device", {}), ("earlier", []))}
    provenance = data.pop("provenance")
    tables = {name: [Row(row) for row in rows] for name, rows in data.items()}
    return Record(path.stem, provenance, rest["device"], tables, rest["earlier"])


def by_key(table: str, rows: Iterable[Row]) -> dict[tuple[tuple[str, Any], ...], Row]:
    """The rows of a table by what they measured; of two that measured the same, the last.

    A warning says so: perhaps `KEY` lacks the field that tells them apart.
    """
    found: dict[tuple[tuple[str, Any], ...], Row] = {}
    for row in rows:
        key = key_of(row)
        if key in found:
            differ = [name for name in row if row[name] != found[key].get(name)]
            what = " ".join(f"{name}={value}" for name, value in key)
            warnings.warn(
                f"{table} holds {what} twice, and the last is kept: if one of "
                f"{', '.join(differ) or 'no fields'} says what was measured, add it to "
                "kernels.records.record.KEY",
                stacklevel=3,
            )
        found[key] = row
    return found


def merge(old: Record, new: Record) -> Record:
    """A record with the rows of both; where both measured the same thing, the new run's row."""
    tables: dict[str, list[Row]] = {}
    for table in {**old.tables, **new.tables}:
        kept, measured = (by_key(table, record.tables.get(table, ())) for record in (old, new))
        tables[table] = list({**kept, **measured}.values())
    dates = {row.get("date") for rows in tables.values() for row in rows}
    runs = [run for run in (old.provenance, *old.earlier) if run.get("date") in dates]
    earlier = [run for run in runs if run.get("date") != new.provenance.get("date")]
    return Record(new.name, new.provenance, new.device or old.device, tables, earlier)


def write(record: Record, path: Path | None = None) -> Path:
    """Write a record in one step: whole, or (when interrupted) not at all."""
    path = path or folder() / f"{record.name}.json"
    parts: dict[str, Any] = {"provenance": record.provenance, "device": record.device}
    if record.earlier:
        parts["earlier"] = record.earlier
    # One row a line keeps the difference between two runs readable.
    head = ",\n".join(
        f"{json.dumps(k)}: {json.dumps(v, indent=1, ensure_ascii=False)}" for k, v in parts.items()
    )
    body = ",\n".join(
        f"{json.dumps(table)}: [\n"
        + ",\n".join(" " + json.dumps(row, ensure_ascii=False) for row in rows)
        + "\n]"
        for table, rows in record.tables.items()
    )
    replace_text(path, "{\n" + ",\n".join(part for part in (head, body) if part) + "\n}\n")
    return path


def listed(names: Iterable[str]) -> str:
    """``"a, b and c"``, each name once."""
    *first, last = dict.fromkeys(names)
    return f"{', '.join(first)} and {last}" if first else last


def _own_gpu() -> str | None:
    from kernels.backend import on_gpu
    from kernels.backend.device import device

    return slug(device().name) if on_gpu else None

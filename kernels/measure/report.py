"""A profile in the terminal: counted here, or shown from a record where nothing can be counted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from kernels import records
from kernels.backend import on_gpu, why_cpu
from kernels.basics import files
from kernels.basics.units import percent, quantity
from kernels.measure import ncu, profiler
from kernels.measure.bench.provenance import provenance
from kernels.records import Row, counters
from kernels.rungs.order import ENGINE_TITLES, LADDER

FOLDER = profiler.ROOT / "_build" / "profiles"
#: How busy each unit is, in the order of the way of a load.
UNITS = {
    "issue_slots": "schedulers, instructions issued",
    "fma_unit": "multiply-add units",
    "fma_heavy_unit": "those that also multiply integers",
    "alu_unit": "integer and logic units",
    "tensor_unit": "tensor cores",
    "load_store_unit": "load/store unit",
    "l1_throughput": "L1 and shared memory",
    "l2_throughput": "L2",
    "dram_throughput": "DRAM",
}
BAR = 24  # characters of a full bar


def command(
    rung: str, engine: str | None, size: int, options: dict[str, int], file: Path | None
) -> list[Any]:
    """What ``python -m kernels profile`` does: count, store and draw, or show what is recorded.

    Parameters
    ----------
    rung, engine : str
        The engine is the rung's first, if none is given.
    size : int
        M = N = K.
    options : dict
        Those that differ from the rung's own choice.
    file : Path, optional
        Where the profile goes; in ``_build/profiles`` by default.

    Returns
    -------
    list
        What to print, in order.

    Raises
    ------
    LookupError
        If counters cannot be read here and nothing of this rung is recorded either.
    """
    job = job_of(rung, engine, size, options)
    if file is not None:
        files.check_folder(file.absolute().parent)
    why = unable(rung)
    if not why:
        try:
            row = Row(profiler.profiles([job])[0])
        except ncu.ProfilerError as error:
            why = str(error)
        else:
            about = provenance()
            file = file or FOLDER / f"{name(row)}.json"
            save(row, about, file)
            left_out = counters.missing(row)
            told = [f"not counted by this ncu or GPU: {', '.join(left_out)}"] if left_out else []
            return [*drawn(row, caption(about)), *told, f"written to {near(file)}"]
    record = records.load()
    row = nearest(record, job, why)
    told = [f"Nothing is counted here: {why}. Recorded is:"]
    if file is not None:
        save(row, record.provenance, file)
        told.append(f"what is recorded is written to {near(file)}")
    return [*told, *drawn(row, record.caption(row))]


def write_text(
    rung: str, engine: str | None, size: int, options: dict[str, int], file: Path
) -> None:
    """What ``python -m kernels profile --report`` does: store the profiler's own report as text.

    Parameters
    ----------
    rung, engine, size, options
        As in `command`.
    file : Path
        Where the report goes, with a line before it that says what was run, on what and when.

    Raises
    ------
    RuntimeError
        If nothing can be profiled here: one line says why.
    """
    job = job_of(rung, engine, size, options)
    files.check_folder(file.absolute().parent)
    if why := unable(rung):
        raise RuntimeError(f"no report without a GPU's counters: {why}")
    about = provenance()
    head = f"{job}, {about['gpu']}, driver {about['driver']}, {about['date']}"
    files.replace_text(file, f"{head}\n\n{profiler.report(job).strip()}\n")


def job_of(rung: str, engine: str | None, size: int, options: dict[str, int]) -> profiler.Job:
    """One product to profile; ValueError for an engine or options that cannot be."""
    engine = engine or LADDER[rung].engines[0]
    if engine not in LADDER[rung].engines:
        raise ValueError(
            f"{rung} is not written for engine {engine!r}: use {LADDER[rung].engines[0]!r}"
        )
    options = LADDER[rung].default(engine) | options
    LADDER[rung].launch(size, size, **options)  # refuses what no GPU can launch
    return profiler.Job(rung, engine, options, size, size, size, LADDER[rung].dtypes[0])


def unable(rung: str) -> str:
    """Say what keeps a rung from being counted here; empty if nothing obvious does."""
    if not on_gpu:
        return f"no GPU, {why_cpu}"
    return LADDER[rung].missing() or ncu.missing()


def nearest(record: records.Record, job: profiler.Job, why: str = "") -> Row:
    """The recorded profile of a version, of the size asked for or the largest there is."""
    why = f"nothing is counted here ({why}), and " if why else ""
    if not record:
        raise LookupError(f"{why}nothing is recorded yet: run `make record` where there is a GPU")
    counted = [row for table in ("profiles", "beyond_l2") for row in record.tables.get(table, ())]
    rows = [row for row in counted if row["rung"] == job.rung]
    if not rows:
        told = sorted({row["rung"] for row in counted})
        raise LookupError(
            f"{why}no profile of {job.rung} is recorded on {record.provenance.get('gpu')}: "
            f"recorded are {', '.join(told) or 'none'}"
        )

    def distance(row: Row) -> tuple[bool, int, bool, int]:
        differing = sum(row["options"].get(k) != v for k, v in job.options.items())
        return row["engine"] != job.engine, differing, row["M"] != job.M, -row["M"]

    return min(rows, key=distance)


def save(row: Mapping[str, Any], about: Mapping[str, Any], file: Path) -> None:
    """Store a profile with its provenance as JSON, whole or not at all."""
    whole = {"provenance": about, "profile": row}
    files.replace_text(file, json.dumps(whole, indent=1, ensure_ascii=False) + "\n")


def caption(about: Mapping[str, Any]) -> str:
    """Where a profile comes from, in one line."""
    return f"Counted on {about['gpu']}, {about['date']} (driver {about['driver']})."


def name(row: Mapping[str, Any]) -> str:
    """What a profile's file is called, such as ``tiled-numba-tile32-2048``."""
    options = "".join(f"-{key}{value}" for key, value in row["options"].items())
    return f"{row['rung']}-{row['engine']}{options}-{row['M']}"


def near(path: Path) -> Path:
    """A path from the course's folder, where it lies in it."""
    path = path.resolve()
    return path.relative_to(profiler.ROOT) if path.is_relative_to(profiler.ROOT) else path


# Drawing ------------------------------------------------------------------------------------


def drawn(row: Row, told: str) -> list[Any]:
    """One profile, ready to print: time, traffic by level, units, stalls, occupancy."""
    title = LADDER[row.rung].title if row.rung in LADDER else "cuBLAS"
    options = "".join(f", {key} {value}" for key, value in row.options.items())
    shape = f"{row.M}×{row.N}×{row.K}"
    heading = f"{title}, {ENGINE_TITLES[row.engine]}{options}, {shape}"
    parts = (speed(row), traffic(row), requests(row), units(row), stalls(row), resident(row))
    return [Text(heading, "bold"), *(part for part in parts if part is not None), told]


def speed(row: Row) -> Text | None:
    """The time of the counted launch."""
    if not row.get("duration"):
        return None
    flops = 2 * row.M * row.N * row.K / row.duration
    told = f"{quantity(row.duration, 's')}, {quantity(flops, 'FLOP/s')}"
    return Text(f"{told} (one launch, caches empty, under the profiler)")


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0))
    for number, column in enumerate(columns):
        table.add_column(column, justify="right" if number else "left")
    return table


def traffic(row: Row) -> Table | None:
    """Bytes at each level, the rate, and how often the level had what it was asked for."""
    levels = counters.bytes_at(row)
    if not levels:
        return None
    table = _table("level", "bytes", "bytes per second", "FLOP per byte", "hit rate")
    rates = {"L1 and shared": row.get("l1_hit_rate"), "L2": row.get("l2_hit_rate")}
    for level, count in levels.items():
        rate = quantity(count / row["duration"], "B/s") if row.get("duration") else "–"
        intensity = f"{2 * row.M * row.N * row.K / count:.3g}" if count else "–"
        hit = rates.get(level)
        table.add_row(level, quantity(count, "B"), rate, intensity, share(hit))
    return table


def requests(row: Row) -> Table | None:
    """Requests and sectors of global memory, instructions and wavefronts of shared memory."""
    if "requests" not in row:
        return None
    table = _table("memory", "requests", "sectors or wavefronts", "each", "bank conflicts")
    for what, many, pieces, conflicts in (
        ("global, loads", "requests", "sectors", ""),
        ("global, stores", "store_requests", "store_sectors", ""),
        ("shared, loads", "shared_load_instructions", "shared_load_wavefronts",
         "shared_load_conflicts"),
        ("shared, stores", "shared_store_instructions", "shared_store_wavefronts",
         "shared_store_conflicts"),
    ):  # fmt: skip
        if row.get(many):
            each = f"{row[pieces] / row[many]:.3g}" if pieces in row else "–"
            told = (row[many], row.get(pieces), row.get(conflicts))
            table.add_row(what, *(count(one) for one in told[:2]), each, count(told[2]))
    return table


def count(value: int | None) -> str:
    """A whole number with commas between its thousands."""
    return "–" if value is None else f"{value:,}"


def share(value: float | None) -> str:
    """A share as a percentage; a dash where it was not counted."""
    return "–" if value is None else percent(value)


def bar(value: float, most: float = 1) -> str:
    """A bar of up to `BAR` characters."""
    return "█" * round(BAR * min(value / most, 1)) if most else ""


def units(row: Row) -> Table | None:
    """How busy each unit is: a share of the most it could do."""
    found = {told: row[name] for name, told in UNITS.items() if name in row}
    if not found:
        return None
    table = Table("unit", "busy", "", box=box.SIMPLE, padding=(0, 1, 0, 0))
    for told, value in found.items():
        table.add_row(told, share(value), bar(value))
    return table


def stalls(row: Row, most: int = 6) -> Table | None:
    """What warps wait for, the longest first."""
    if "stalls" not in row:
        return None
    found = sorted(row["stalls"].items(), key=lambda entry: -entry[1])
    table = Table("a warp waits for", "cycles", "", box=box.SIMPLE, padding=(0, 1, 0, 0))
    for name, cycles in found[:most]:
        if cycles:
            table.add_row(counters.STALL_WORDS[name], f"{cycles:.2f}", bar(cycles, found[0][1]))
    table.caption = "cycles of waiting per instruction issued"
    return table


def resident(row: Row) -> Text | None:
    """Occupancy: what fits by the calculator, and how much was there."""
    if "occupancy" not in row:
        return None
    told = f"occupancy: {percent(row.occupancy)} fits"
    if "occupancy_achieved" in row:
        told += f", {percent(row.occupancy_achieved)} achieved"
    if "registers" in row:
        told += f"; {row.registers} registers per thread"
    if "shared_bytes" in row:
        told += f", {row.shared_bytes:,} bytes of shared memory per block"
    return Text(told)

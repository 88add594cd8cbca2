"""A rung in one language with its options: its counts, its pace, and what is known of the GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import log
from typing import Any

import microscope
from kernels import records
from kernels.basics import data_sheets
from kernels.basics.data_sheets import Gpu
from kernels.budget import counts as sources
from kernels.budget import limits, product
from kernels.budget.ceilings import Budget, Counts, SmRates
from kernels.host.rung import Rung
from kernels.measure import oracle
from kernels.measure.occupancy import occupancy

__all__ = ["RungVersion", "bounds", "machine", "profile_of", "siblings", "version"]

#: Tables of a record that hold profiles of large products.
PROFILES = ("profiles", "beyond_l2", "unaligned")


@dataclass(frozen=True)
class RungVersion:
    """What is known of a rung in one language with its options, on one GPU.

    Attributes
    ----------
    budget : Budget
    pace : CyclesPerFma
    resident : int
        Blocks that an SM holds.
    row : mapping or None
        The profile that counts come from; None where it is of other options.
    counted_on : str
        The GPU of that profile.
    """

    budget: Budget
    pace: product.CyclesPerFma
    resident: int
    row: Mapping[str, Any] | None
    counted_on: str


def machine(record: records.Record) -> product.MeasuredGpu:
    """The GPU of a record, with what the record measured of it.

    Raises
    ------
    LookupError
        Where it lacks the bandwidth of a copy, latencies, or the time of small launches.
    """
    sheet = data_sheets.gpu(record.provenance.get("gpu", record.name))
    measured = _rows(record, "bandwidth")
    copies = [row["bytes_per_second"] for row in measured if row["what"] == "copy"]
    loads = {
        row["bytes"]: row["cycles"] for row in _rows(record, "latency") if row["space"] == "global"
    }
    launches = [row["seconds"]["median"] for row in _rows(record, "vector_add")]
    if not (copies and loads and launches):
        raise LookupError(
            f"the record of the {record.name} lacks bandwidth, latency or vector_add: record it "
            "again with `python -m kernels bench`"
        )
    in_l2 = max((size for size in loads if size <= sheet.l2_bytes / 3), default=min(loads))
    return product.MeasuredGpu(
        gpu=sheet,
        launch=min(launches),
        latency=loads[max(loads)] + loads[in_l2],
        bandwidth=copies[0],
        source=f"record of the {sheet.name}",
    )


def _rows(record: records.Record, table: str) -> list[records.Row]:
    return list(record.tables.get(table, ()))


def bounds(record: records.Record, dtype: str = "float32") -> tuple[int, SmRates]:
    """Warps that an SM of a record's GPU holds, and its limits."""
    sheet = data_sheets.gpu(record.provenance["gpu"])
    return sheet.warps_per_sm, limits.of_gpu(sheet, dtype)


def profile_of(
    record: records.Record, rung: str, engine: str, options: Mapping[str, int], size: float,
    aligned: bool = True,
) -> tuple[Mapping[str, Any] | None, bool]:  # fmt: skip
    """The profile nearest in size (multiply-adds), and whether it is of these very options.

    Blocks that share the sums along K (`split`) run the same loop. A kernel that loads 16 bytes at
    a time loads 4 where rows begin on no such boundary: profiles of the same alignment come first.
    """
    found, same, _ = _nearest(record, rung, engine, options, size, aligned)
    return found, same


def siblings(record: records.Record) -> list[records.Record]:
    """The other records of GPUs whose SMs are of the same generation."""
    gpu = data_sheets.gpu(record.provenance.get("gpu", record.name))
    others = (_record(str(records.folder()), name) for name in records.names())
    return [
        other
        for other in others
        if other.name != record.name and _generation(other) == gpu.compute_capability
    ]


@lru_cache(maxsize=8)
def _record(_folder: str, name: str) -> records.Record:
    return records.load(name)


def _generation(record: records.Record) -> str:
    try:
        return data_sheets.gpu(record.provenance.get("gpu", record.name)).compute_capability
    except LookupError:  # a GPU without a data sheet
        return ""


def _nearest(
    record: records.Record, rung: str, engine: str, options: Mapping[str, int], size: float,
    aligned: bool,
) -> tuple[Mapping[str, Any] | None, bool, bool]:  # fmt: skip
    """What `profile_of` returns, and whether the alignment is the same, too."""

    def loop(options: Mapping[str, int]) -> dict[str, int]:
        return {name: value for name, value in options.items() if name != "split"}

    rows = [
        row
        for table in PROFILES
        for row in record.tables.get(table, ())
        if (row.get("rung"), row.get("engine")) == (rung, engine) and row.get("stalls")
    ]
    same = [row for row in rows if loop(row["options"]) == loop(options)]

    def distance(row: Mapping[str, Any]) -> tuple[bool, float]:
        other = limits.aligned(row["N"], row["K"], row.get("dtype", "float32")) is not aligned
        return other, abs(log(row["M"] * row["N"] * row["K"] / size))

    found = min(same or rows, key=distance, default=None)
    return found, bool(same), found is not None and not distance(found)[0]


def _traced(rung: Rung, values: tuple[tuple[str, int], ...]) -> Counts:
    """Counts of one block of a rung's Numba kernel, but for its stores of C: of the loop."""
    return sources.of_trace(_seen(rung, values))


def _requests(rung: Rung, values: tuple[tuple[str, int], ...]) -> float:
    """Loads and stores of one block per FMA of a warp, as written."""
    seen = _seen(rung, values)
    return sum(site.requests for site in seen.sites) / (seen.work.flops["float32"] / 2 / 32)


@lru_cache(maxsize=512)
def _seen(rung: Rung, values: tuple[tuple[str, int], ...]) -> microscope.Trace:
    """A trace of one block of a rung's Numba kernel, but for its stores of C."""
    options = dict(values)
    BM, BN, BK = rung.Options(**options).block_tile
    M, N, K = BM, BN, max(2 * BK, 32)
    A, B = oracle.inputs(M, N, K)
    grid, block = rung.launch(M, N, **options)
    C, first = oracle.poisoned(M, N), (0,) * len(grid)
    seen = microscope.trace(rung.kernel(**options), grid, block, A, B, C, blocks=[first])
    seen.sites = [site for site in seen.sites if (site.space, site.op) != ("global", "store")]
    return seen


def version(
    rung: Rung,
    engine: str,
    options: Mapping[str, int],
    record: records.Record,
    shape: tuple[int, int, int] = (4096, 4096, 4096),
    dtype: str = "",
    machine_of: product.MeasuredGpu | None = None,
    others: Sequence[records.Record] | None = None,
) -> RungVersion:
    """What is known of a version of a rung for products of about a shape.

    Counts are those of the profile that is nearest in size. Where the record has none of these
    options, or none of rows that begin on 16-byte boundaries or do not as those at hand, one of the
    same machine code on another GPU of the generation is taken. Where there is a profile of other
    options alone, its instructions stand in; wavefronts are then traced, where the rung has a
    Numba kernel.

    Parameters
    ----------
    rung : Rung
    engine : str
    options : mapping of str to int
        All of them.
    record : Record
        The one with the profiles.
    shape : tuple of int
        M, N, K.
    dtype : str
        By default the rung's first.
    machine_of : MeasuredGpu, optional
        Another GPU than the record's: then its counts stand in, and in the same generation also
        the cycles that were profiled.
    others : sequence of Record, optional
        Where to look for a profile besides; by default the `siblings` of the record.

    Raises
    ------
    LookupError
        Where the record has no profile of the rung in this language.
    TypeError, ValueError
        For options that cannot be.
    """
    M, N, K = shape
    dtype = dtype or rung.dtypes[0]
    aligned = limits.aligned(N, K, dtype) or rung.copies(M, N, K, dtype)
    source, wanted = record, (rung.name, engine, options, M * N * K, aligned)
    row, same, alike = _nearest(record, *wanted)
    if not (same and alike):
        for other in siblings(record) if others is None else others:
            found = _nearest(other, *wanted)
            if found[1:] == (True, True) or row is None:
                source, (row, same, alike) = other, found
    if row is None:
        raise LookupError(
            f"no profile of {rung.name} in {engine} on the {record.name}, so there is no count to "
            "start from: record it with `python -m kernels bench`"
        )
    gpu = machine_of or machine(record)
    recorded = machine(source).gpu
    # The SMs of one generation spend the same cycles on the same loop.
    elsewhere = gpu.gpu.compute_capability != recorded.compute_capability
    chosen = rung.Options(**options)
    resident = _resident(None if elsewhere else record, rung, engine, options, gpu.gpu)
    warps = resident * -(-chosen.threads // 32)
    known = sources.of_profile(row, recorded.warps_per_sm)
    if not same:
        known = _of_others(known, rung, options, row)
    budget = Budget(known, limits.of_gpu(gpu.gpu, dtype))
    if elsewhere:
        pace = product.from_counts(budget, warps, f"profile on the {source.name}")
    elif same:
        profiled = rung.Options(**row["options"])
        pace = product.from_profile(row, budget, profiled, machine(source), resident)
        if source is not record:
            pace = replace(pace, source=f"profile on the {source.name}")
    else:
        profiled = rung.Options(**row["options"])
        pace = product.from_other(row, budget, profiled, chosen, warps)
    known_row = row if same and not elsewhere else None
    return RungVersion(budget, pace, resident, known_row, recorded.name)


def _of_others(
    known: Counts, rung: Rung, options: Mapping[str, int], row: Mapping[str, Any]
) -> Counts:
    """Counts for options that were not profiled: what does not depend on them, and a trace."""
    told = dict.fromkeys(known.sources, "profile of other options")
    known = replace(known, l2=None, warps=None, sources=told)
    products = options.get("products", 1) / row["options"].get("products", 1)
    if known.tensor and products != 1:
        known = replace(known, tensor=products * known.tensor)
    if not rung.in_microscope:
        return known
    own, others = (
        tuple(sorted((name, value) for name, value in each.items() if name != "split"))
        for each in (options, row["options"])
    )
    traced = _traced(rung, own)
    # Loads and stores are instructions, too; the others are taken to be as many for each FMA. And a
    # compiler is taken to merge as many loads.
    more = _requests(rung, own) - _requests(rung, others)
    merged = known.wavefronts / _traced(rung, others).wavefronts
    known = replace(known, instructions=max(1.0, known.instructions + more))
    return sources.joined(replace(traced, wavefronts=merged * traced.wavefronts), known)


def _resident(
    record: records.Record | None, rung: Rung, engine: str, options: Mapping[str, int], gpu: Gpu
) -> int:
    """Blocks that an SM holds: as the driver said of the compiled kernel, else as estimated."""
    for row in record.tables.get("resources", ()) if record else ():
        if (row["rung"], row["engine"], row["options"]) == (rung.name, engine, dict(options)):
            return row["blocks_per_sm"]
    chosen = rung.Options(**options)
    used = {"registers": min(255, chosen.registers), "shared_bytes": chosen.shared_bytes}
    return occupancy(chosen.threads, gpu=gpu, **used).blocks

"""What a record says to each claim that a measurement can judge: a few words with their figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from kernels.basics.units import percent, quantity
from kernels.records import Record, RecordError, Row
from kernels.rungs.order import ENGINE_TITLES, LADDER

__all__ = ["FINDINGS", "Finding"]

#: Square size of the timings, and of the profiles.
TIMED, PROFILED = 4096, 2048


@dataclass(frozen=True)
class Finding:
    """What a record says to a claim.

    Attributes
    ----------
    text : str
        The measured figures with their units, in a few words.
    values : tuple of float
        Those that the claim's own range (``low`` to ``high``) is to be held against, in its unit.
    """

    text: str
    values: tuple[float, ...] = field(default=())


Find = Callable[[Record], Finding]

# Rows that several findings need -------------------------------------------------


def _timed(record: Record, rung: str, engine: str, **options: int) -> Row:
    return record.timing(rung, engine, M=TIMED, **options)


def _profiled(record: Record, rung: str, engine: str, **options: int) -> Row:
    sizes = {"M": PROFILED, "N": PROFILED, "K": PROFILED}
    return record.row("profiles", rung=rung, engine=engine, **sizes, **options)


def _naives(record: Record, get: Callable[..., Row]) -> dict[str, Row]:
    """The four kernels with one thread per element, in blocks of 32 × 32."""
    return {
        f"{rung} in {ENGINE_TITLES[engine]}": get(record, rung, engine, block=32)
        for rung in ("swapped", "naive")
        for engine in ("numba", "cpp")
    }


def _tiled(record: Record) -> dict[str, Row]:
    """The tiled kernel in both languages, with tiles of 32 × 32."""
    return {engine: _timed(record, "tiled", engine, tile=32) for engine in ("numba", "cpp")}


def _title(rung: str) -> str:
    """A rung's title as it stands within a sentence, in quotes."""
    title = LADDER[rung].title
    return f'"{title[0].lower()}{title[1:]}"'


def _speeds(rows: dict[str, Row]) -> Finding:
    told = "; ".join(f"{name} {row.speed}" for name, row in rows.items())
    return Finding(f"At {TIMED}³, {told}.", tuple(1e9 * row.gflops for row in rows.values()))


def _factor(old: Row, new: Row) -> float:
    return new.gflops / old.gflops


def _steps(record: Record, old: str, new: str) -> Finding:
    """What a rung brought over the one before it, in both languages."""
    gains = {
        engine: _factor(_best(record, old, engine), _best(record, new, engine))
        for engine in ("numba", "cpp")
    }
    told = ", ".join(f"{ENGINE_TITLES[engine]} {gain:.2f}×" for engine, gain in gains.items())
    step = f"from {_title(old)} to {_title(new)}"
    return Finding(f"At {TIMED}³, {step}: {told}.", tuple(gains.values()))


def _best(record: Record, rung: str, engine: str) -> Row:
    rows = record.rows("timings", rung=rung, engine=engine, M=TIMED, N=TIMED, K=TIMED)
    if not rows:
        raise RecordError(f"record {record.name!r} has no timing of {rung} ({engine}) at {TIMED}³")
    return max(rows, key=lambda row: row.gflops)


# The findings -----------------------------------------------------------------


def _copy(record: Record) -> Finding:
    speed = _copy_speed(record)
    return Finding(f"A copy on the device, read and written: {quantity(speed, 'B/s')}.", (speed,))


def _copy_speed(record: Record) -> float:
    return record.row("bandwidth", what="copy").bytes_per_second


def _loaded(record: Record, space: str, size: int) -> Row:
    """The wait for a load that depends on the one before it, from an array of at most ``size``."""
    rows = [row for row in record.rows("latency", space=space) if row.bytes <= size]
    return max(rows, key=lambda row: row.bytes)


def _loads(record: Record) -> dict[str, Row]:
    return {
        "shared memory": _loaded(record, "shared", 2**20),
        "L1": _loaded(record, "global", 2**16),
        "L2": _loaded(record, "global", 2**22),
        "DRAM": _loaded(record, "global", 2**30),
    }


def _waits(record: Record) -> Finding:
    rows = _loads(record)
    told = ", ".join(f"{name} {quantity(1e-9 * row.ns, 's')}" for name, row in rows.items())
    return Finding(f"From address to value: {told}.", tuple(row.ns for row in rows.values()))


def _latencies(record: Record) -> Finding:
    """In cycles, against those of S1."""
    said = {"shared memory": 20, "L1": 25, "L2": 200, "DRAM": 300}
    rows = _loads(record)
    told = ", ".join(f"{name} {row.cycles:.0f}" for name, row in rows.items())
    values = tuple(row.cycles / said[name] for name, row in rows.items())
    return Finding(f"Cycles from address to value: {told}.", values)


def _latency(space: str, size: int) -> Find:
    def found(record: Record) -> Finding:
        cycles = _loaded(record, space, size).cycles
        return Finding(f"From address to value: {cycles:.0f} cycles.", (cycles,))

    return found


def _dependent_fma(record: Record) -> Finding:
    row = _loaded(record, "registers", 4)
    told = f"an FMA that needs the result of the one before waits {row.cycles:.1f} cycles"
    return Finding(f"{told[0].upper()}{told[1:]}.", (row.cycles,))


def _level_speeds(record: Record) -> dict[str, float]:
    """Bytes per second that each level of memory delivered."""
    levels = (("shared memory", "shared"), ("L1", "L1"), ("L2", "L2"))
    speeds = {name: record.row("levels", level=level).bytes_per_second for name, level in levels}
    return speeds | {"DRAM, a copy": _copy_speed(record)}


def _bandwidths(record: Record) -> Finding:
    """Against those of S1."""
    speeds = _level_speeds(record)
    told = ", ".join(f"{name} {quantity(speed, 'B/s')}" for name, speed in speeds.items())
    said = (15e12, 15e12, 3e12, 1e12)
    values = tuple(speed / claimed for speed, claimed in zip(speeds.values(), said, strict=True))
    return Finding(f"Delivered: {told}.", values)


def _shared_bandwidth(record: Record) -> Finding:
    speed = _level_speeds(record)["shared memory"]
    return Finding(f"Delivered to all SMs together: {quantity(speed, 'B/s')}.", (speed,))


def _shared_over_dram(record: Record) -> Finding:
    speeds = _level_speeds(record)
    factor = speeds["shared memory"] / speeds["DRAM, a copy"]
    return Finding(f"Bandwidth, over a copy in DRAM: {factor:.1f} times.", (factor,))


def _shared_advantage(record: Record) -> Finding:
    rows = _loads(record)
    sooner = rows["DRAM"].ns / rows["shared memory"].ns
    (more,) = _shared_over_dram(record).values
    told = f"{sooner:.0f} times sooner, with {more:.1f} times the bandwidth"
    return Finding(f"Against DRAM it answers {told}.", (sooner, more))


def _pcie(record: Record) -> tuple[float, float]:
    rows = record.rows("transfers", direction="host to device")
    best = {
        memory: max(row.bytes_per_second for row in rows if row.memory == memory)
        for memory in ("pinned", "pageable")
    }
    return best["pinned"], best["pageable"]


def _transfer_speeds(record: Record) -> Finding:
    pinned, pageable = _pcie(record)
    told = f"pinned {quantity(pinned, 'B/s')}, pageable {quantity(pageable, 'B/s')}"
    return Finding(f"Host to device at best: {told}.", (pinned, pageable))


def _pcie_slower(record: Record) -> Finding:
    pinned, _ = _pcie(record)
    copy = _copy_speed(record)
    told = f"{quantity(pinned, 'B/s')} over the link, {quantity(copy, 'B/s')} on the device"
    return Finding(f"{told}: {copy / pinned:.0f} times as fast.", (copy / pinned,))


def _few_transfers(record: Record) -> Finding:
    kernel = record.row("bandwidth", what="vector_add", engine="numba")
    pinned, _ = _pcie(record)
    trip = kernel.bytes / pinned
    told = f"the way there and back takes {trip / kernel.median:.0f} times as long as adding"
    return Finding(f"Vectors of {kernel.n:,} floats: {told}.", (trip,))


CPU = {
    "python loops": "a Python loop on one core", "numba": "a compiled loop on one core",
    "numba parallel": "the same on all", "numpy matmul": "NumPy's library on all",
}  # fmt: skip


def _cpu(record: Record) -> Finding:
    rows = {told: record.row("cpu", what=what) for what, told in CPU.items()}
    cores = record.row("cpu", what="numpy matmul").cores
    told = ", ".join(f"{name} {row.speed}" for name, row in rows.items())
    return Finding(f"With {cores} cores: {told}.", tuple(1e9 * row.gflops for row in rows.values()))


def _over_cpu(record: Record) -> Finding:
    tiled = _tiled(record)["cpp"]
    factors = {told: _factor(record.row("cpu", what=what), tiled) for what, told in CPU.items()}
    told = ", ".join(f"{name} {round(value):,}×" for name, value in factors.items())
    return Finding(f"Tiled 32 in CUDA C++ over {told}.", tuple(factors.values()))


def _naive_dram(record: Record) -> Finding:
    """How busy DRAM is, where L2 can't hold A and B; until that is recorded, where it can."""
    if "beyond_l2" in record.tables:
        return _beyond_l2(record)
    row = _profiled(record, "naive", "cpp", block=32)
    small, large = (record.timing("naive", "cpp", M=size, block=32) for size in (PROFILED, TIMED))
    told = (
        f"naive in CUDA C++ at {PROFILED}³, where L2 holds A and B, keeps DRAM busy "
        f"{percent(row.dram_throughput)} of the time and L1 {percent(row.l1_throughput)}; at "
        f"{TIMED}³, where A and B take {quantity(2 * 4 * TIMED**2, 'B')} and L2 has "
        f"{quantity(record.device['l2_bytes'], 'B')}, it's about as fast: {large.speed} "
        f"against {small.speed}"
    )
    return Finding(f"{told[0].upper()}{told[1:]}.", (row.dram_throughput,))


def _beyond_l2(record: Record) -> Finding:
    rows = {
        ENGINE_TITLES[engine]: record.row("beyond_l2", rung="naive", engine=engine)
        for engine in ("numba", "cpp")
    }
    size = next(iter(rows.values())).M
    told = "; ".join(
        f"{name} keeps DRAM busy {percent(row.dram_throughput)} of the time, "
        f"L1 {percent(row.l1_throughput)}"
        for name, row in rows.items()
    )
    held = f"L2 has {quantity(record.device['l2_bytes'], 'B')}, A and B"
    where = f"At {size}³, where {held} {quantity(2 * 4 * size**2, 'B')}"
    return Finding(f"{where}: {told}.", tuple(row.dram_throughput for row in rows.values()))


def _unit(name: str, title: str, get: Callable[[Record], dict[str, Row]]) -> Find:
    """How busy one unit is, in the kernels that ``get`` finds."""

    def found(record: Record) -> Finding:
        rows = get(record)
        told = "; ".join(f"{kernel} {percent(row[name])}" for kernel, row in rows.items())
        return Finding(
            f"{title} at {PROFILED}³: {told}.", tuple(row[name] for row in rows.values())
        )

    return found


def _coalesced_profiles(record: Record) -> dict[str, Row]:
    return {
        f"naive in {ENGINE_TITLES[engine]}": _profiled(record, "naive", engine, block=32)
        for engine in ("numba", "cpp")
    }


def _tiled_profiles(record: Record) -> dict[str, Row]:
    return {
        f"tiled in {ENGINE_TITLES[engine]}": _profiled(record, "tiled", engine, tile=32)
        for engine in ("numba", "cpp")
    }


def _naives_profiled(record: Record) -> dict[str, Row]:
    return _naives(record, _profiled)


def _coalesced_and_tiled(record: Record) -> dict[str, Row]:
    return _coalesced_profiles(record) | _tiled_profiles(record)


def _all_profiled(record: Record) -> dict[str, Row]:
    return _naives_profiled(record) | _tiled_profiles(record)


def _compute_bound(record: Record) -> Finding:
    rows = {
        ENGINE_TITLES[engine]: _profiled(record, "tiled", engine, tile=16)
        for engine in ("numba", "cpp")
    }
    told = "; ".join(
        f"{name} FMA units {percent(row.fma_unit)}, L1 and shared memory "
        f"{percent(row.l1_throughput)}"
        for name, row in rows.items()
    )
    return Finding(
        f"Busy at {PROFILED}³, T = 16: {told}.", tuple(row.fma_unit for row in rows.values())
    )


def _swap(record: Record) -> Finding:
    factors = {
        engine: _factor(
            _timed(record, "swapped", engine, block=32), _timed(record, "naive", engine, block=32)
        )
        for engine in ("numba", "cpp")
    }
    told = ", ".join(f"{ENGINE_TITLES[engine]} {value:.1f}×" for engine, value in factors.items())
    return Finding(f"Neighbours instead of strides, at {TIMED}³: {told}.", tuple(factors.values()))


def _intensities(rung: str, told: str, **options: int) -> Find:
    """FLOP per byte: of what the threads load, and of what DRAM moves."""

    def found(record: Record) -> Finding:
        row = _profiled(record, rung, "cpp", **options)
        moved = 2 * PROFILED**3 / (row.dram_read_bytes + row.dram_write_bytes)
        loaded = LADDER[rung].model(PROFILED, PROFILED, PROFILED, **options).intensity
        figures = f"{loaded:.2f} FLOP per byte loaded, {moved:.0f} per byte that DRAM moves"
        return Finding(f"{told} at {PROFILED}³: {figures}.", (loaded, moved))

    return found


def _both_intensities(record: Record) -> Finding:
    naive, tiled = _intensity(record), _tiled_intensity(record)
    return Finding(f"{naive.text} {tiled.text}", naive.values + tiled.values)


_intensity = _intensities("naive", "Naive", block=32)
_tiled_intensity = _intensities("tiled", "Tiled", tile=32)


def _rereads(record: Record) -> Finding:
    row = _profiled(record, "naive", "cpp", block=32)
    loaded = 2 * PROFILED**3 * 4
    told = (
        f"the threads load {quantity(loaded, 'B')}, DRAM sends {quantity(row.dram_read_bytes, 'B')}"
    )
    return Finding(f"At {PROFILED}³ {told}.", (loaded, row.dram_read_bytes))


def _reads(tile: int) -> Find:
    def found(record: Record) -> Finding:
        naive = _profiled(record, "naive", "numba", block=tile)
        tiled = _profiled(record, "tiled", "numba", tile=tile)
        requests = naive.requests / tiled.requests
        sectors = naive.sectors / tiled.sectors
        told = f"requests fall by {requests:.1f}, sectors by {sectors:.1f}"
        by = f"Counted by the hardware at {PROFILED}³, T = {tile}"
        return Finding(f"{by}: {told}.", (requests, sectors))

    return found


def _sectors(record: Record) -> Finding:
    rows = _tiled_profiles(record)
    per = {name: row.sectors / row.requests for name, row in rows.items()}
    told = ", ".join(f"{name} {value:.1f}" for name, value in per.items())
    return Finding(f"Sectors per request at {PROFILED}³: {told}.", tuple(per.values()))


def _naive_speeds(record: Record) -> Finding:
    return _speeds(_naives(record, _timed))


def _tiled_speeds(record: Record) -> Finding:
    return _speeds({ENGINE_TITLES[engine]: row for engine, row in _tiled(record).items()})


def _library(record: Record) -> Finding:
    return _speeds({"cuBLAS in fp32": record.timing("cublas", "library", M=TIMED)})


def _shares(record: Record) -> Finding:
    """Of the library's speed at a small size and at the usual one: the share depends on it."""
    rows = {
        size: [record.timing("tiled", engine, M=size, tile=32) for engine in ("numba", "cpp")]
        for size in (1024, TIMED)
    }
    told = "; ".join(
        f"at {size}³ Numba {percent(numba.share)}, CUDA C++ {percent(cpp.share)}"
        for size, (numba, cpp) in rows.items()
    )
    shares = tuple(row.share for pair in rows.values() for row in pair)
    return Finding(f"Tiles of 32, of cuBLAS: {told}.", shares)


def _peak_shares(rows: dict[str, Row], record: Record) -> Finding:
    shares = {name: 1e9 * row.gflops / record.device["fp32_peak"] for name, row in rows.items()}
    told = "; ".join(f"{name} {rows[name].speed}, {percent(n)}" for name, n in shares.items())
    return Finding(f"At {TIMED}³, and of the peak: {told}.", tuple(shares.values()))


def _tiled_of_peak(record: Record) -> Finding:
    return _peak_shares({ENGINE_TITLES[name]: row for name, row in _tiled(record).items()}, record)


def _best_of_peak(record: Record) -> Finding:
    tiled = {f"tiled in {ENGINE_TITLES[name]}": row for name, row in _tiled(record).items()}
    return _peak_shares(tiled | {"cuBLAS": record.timing("cublas", "library", M=TIMED)}, record)


def _over_swapped(record: Record) -> Finding:
    """Tiled over every kernel with one thread per element: the span of what can be called naive."""
    fastest = _tiled(record)
    factors = {
        f"{rung} in {ENGINE_TITLES[engine]}": _factor(
            _timed(record, rung, engine, block=32), fastest[engine]
        )
        for rung in ("swapped", "naive")
        for engine in ("numba", "cpp")
    }
    told = "; ".join(f"{name} {value:.1f}×" for name, value in factors.items())
    return Finding(f"At {TIMED}³, tiled 32 over {told}.", tuple(factors.values()))


def _gains(record: Record) -> Finding:
    """What coalescing, tiling and register tiles bring, each over the step before."""
    parts, values = [], []
    for engine in ("numba", "cpp"):
        steps = [_timed(record, rung, engine, block=32) for rung in ("swapped", "naive")]
        steps += [_tiled(record)[engine], _best(record, "thread_tiled", engine)]
        gains = [_factor(old, new) for old, new in pairwise(steps)]
        names = ("coalescing", "tiling", "register tiles")
        told = ", ".join(f"{n} {gain:.1f}×" for n, gain in zip(names, gains, strict=True))
        parts.append(f"{ENGINE_TITLES[engine]} {told}")
        values += gains
    return Finding(f"At {TIMED}³: {'; '.join(parts)}.", tuple(values))


def _over_naive(record: Record) -> Finding:
    fastest = _tiled(record)
    factors = {
        engine: _factor(_timed(record, "naive", engine, block=32), row)
        for engine, row in fastest.items()
    }
    told = ", ".join(f"{ENGINE_TITLES[engine]} {value:.2f}×" for engine, value in factors.items())
    return Finding(
        f"At {TIMED}³, tiled 32 over the coalesced kernel: {told}.", tuple(factors.values())
    )


def _tile_bytes(record: Record) -> Finding:
    rows = {
        tile: record.row("resources", rung="tiled", engine="cpp", tile=tile) for tile in (8, 16, 32)
    }
    told = ", ".join(f"T = {tile}: {row.shared_bytes} B" for tile, row in rows.items())
    values = tuple(row.shared_bytes / (2 * tile**2 * 4) for tile, row in rows.items())
    return Finding(f"As the compiler reports it, {told}.", values)


def _occupancies(record: Record) -> Finding:
    parts, values = [], []
    for engine in ("numba", "cpp"):
        rows = [record.row("resources", rung="tiled", engine=engine, tile=T) for T in (8, 16, 32)]
        shares = ", ".join(percent(row.occupancy) for row in rows)
        registers = ", ".join(str(row.registers) for row in rows)
        parts.append(f"{ENGINE_TITLES[engine]} {shares} with {registers} registers per thread")
        values += [row.occupancy for row in rows]
    return Finding(f"Occupancy at T = 8, 16, 32: {'; '.join(parts)}.", tuple(values))


def _larger_tiles(record: Record) -> Finding:
    parts, gains = [], []
    for engine in ("numba", "cpp"):
        rows = [_timed(record, "tiled", engine, tile=tile) for tile in (8, 16, 32)]
        parts.append(f"{ENGINE_TITLES[engine]} {', '.join(row.speed for row in rows)}")
        gains += [_factor(rows[0], rows[1]), _factor(rows[1], rows[2])]
    return Finding(f"At {TIMED}³, T = 8, 16, 32: {'; '.join(parts)}.", tuple(gains))


def _instruction_mix(record: Record) -> Finding:
    parts, values = [], []
    for name, row in _tiled_profiles(record).items():
        fma = row.ffma / 32 / row.instructions
        loads = row.shared_load_instructions / row.instructions
        parts.append(f"{name} {percent(fma)} FMAs, {percent(loads)} loads from shared memory")
        values += [fma, loads]
    return Finding(f"Instructions at {PROFILED}³: {'; '.join(parts)}.", tuple(values))


def _vector_loads(record: Record) -> Finding:
    """Loads of the tiled kernel's inner loop, in what the GPU runs."""
    parts, values = [], []
    for engine in ("numba", "cpp"):
        loads = record.row("sass", rung="tiled", engine=engine).loop["shared_loads"]
        wide = loads["of_16"]
        parts.append(f"{ENGINE_TITLES[engine]} {wide} of {sum(loads.values())}")
        values.append(wide)
    return Finding(f"16-byte loads from shared memory, T = 16: {', '.join(parts)}.", tuple(values))


def _conflicts(record: Record) -> Finding:
    row = _profiled(record, "tiled", "numba", tile=32)
    share = row.shared_load_conflicts / row.shared_load_instructions
    counted, among = row.shared_load_conflicts, row.shared_load_instructions
    told = f"{counted:,} conflicts counted in {among:,} shared loads of warps ({percent(share)})"
    return Finding(f"At {PROFILED}³, T = 32: {told}.", (share,))


def _stalled(row: Row, *reasons: str) -> float:
    """The share of a warp's time that it waits for these reasons."""
    return sum(row.stalls[reason] for reason in reasons) / sum(row.stalls.values())


def _barrier(record: Record) -> Finding:
    rows = _tiled_profiles(record)
    shares = {name: _stalled(row, "barrier") for name, row in rows.items()}
    told = ", ".join(f"{name} {percent(share)}" for name, share in shares.items())
    at = f"Share of a warp's time at barriers, at {PROFILED}³ with T = 32"
    return Finding(f"{at}: {told}.", tuple(shares.values()))


def _memory_stalls(record: Record) -> Finding:
    """Stalls on global and on shared memory, before tiling and with it."""
    parts, values = [], []
    for engine in ("numba", "cpp"):
        naive = _profiled(record, "naive", engine, block=32)
        tiled = _profiled(record, "tiled", engine, tile=32)
        for memory, reasons in (
            ("global", ("long_scoreboard", "lg_throttle")),
            ("shared", ("short_scoreboard", "mio_throttle")),
        ):
            before, after = (_stalled(row, *reasons) for row in (naive, tiled))
            waits = f"{memory} memory {percent(before)}, then {percent(after)}"
            parts.append(f"{ENGINE_TITLES[engine]}, {waits}")
            values += [before, after]
    at = f"Share of a warp's time at {PROFILED}³, naive and then tiled 32"
    return Finding(f"{at}: {'; '.join(parts)}. {_over_naive(record).text}", tuple(values))


def _next_share(record: Record) -> Finding:
    """The rung that has the four techniques of the claim, and no other."""
    shares = {engine: _best(record, "vectorized", engine).share for engine in ("numba", "cpp")}
    told = ", ".join(f"{ENGINE_TITLES[engine]} {percent(n)}" for engine, n in shares.items())
    return Finding(
        f"With these four, at {TIMED}³ ({_title('vectorized')}): {told} of cuBLAS.",
        tuple(shares.values()),
    )


#: What a record says, by the claim's id. Claims without an entry are judged by their fact alone.
FINDINGS: dict[str, Find] = {
    "s0-pyramid": _waits,
    "s0-orders-of-magnitude": _shared_advantage,
    "s0-naive-dram": _naive_dram,
    "s0-idle": _unit("fma_unit", "FMA units, busy", _coalesced_profiles),
    "s0-rereads": _rereads,
    "s0-intensity": _intensity,
    "s0-coalescing": _swap,
    "s0-speed-up": _over_naive,
    "s1-latency": _latencies,
    "s1-register-latency": _dependent_fma,
    "s1-bandwidth": _bandwidths,
    "s1-naive-versions": _swap,
    "s1-l2-hit-rate": _unit("l2_hit_rate", "Hits in L2", _naives_profiled),
    "s1-naive-sm-throughput": _unit("sm_throughput", "SM throughput", _all_profiled),
    "s1-reads": _reads(32),
    "s1-intensity": _both_intensities,
    "s1-most-important": _gains,
    "s1-tile-bytes": _tile_bytes,
    "s1-larger-tiles": _larger_tiles,
    "s1-occupancy": _occupancies,
    "s1-gflops": _tiled_of_peak,
    "s1-speed-up": _over_naive,
    "s1-share": _shares,
    "s1-peak-share": _best_of_peak,
    "s1-instruction-mix": _instruction_mix,
    "s1-no-vectors": _vector_loads,
    "s1-no-conflicts": _conflicts,
    "s1-memory-throughput": _unit("dram_throughput", "DRAM, busy", _all_profiled),
    "s1-tiled-l2": _unit("l2_hit_rate", "Hits in L2", _tiled_profiles),
    "s1-barrier-stalls": _barrier,
    "s1-one-element": lambda record: _steps(record, "tiled", "thread_tiled"),
    "s1-wide-loads": lambda record: _steps(record, "thread_tiled", "vectorized"),
    "s1-next-share": _next_share,
    "s1-next-factor": lambda record: _steps(record, "tiled", "vectorized"),
    "s2-one-task": _cpu,
    "s2-global-bandwidth": _copy,
    "s2-shared-bandwidth": _shared_bandwidth,
    "s2-200-times": _shared_over_dram,
    "s2-dram-latency": _latency("global", 2**30),
    "s2-shared-latency": _latency("shared", 2**20),
    "s2-register-latency": _dependent_fma,
    "s2-pcie-slowest": _pcie_slower,
    "s2-pcie-theory": _transfer_speeds,
    "s2-pcie-actual": _transfer_speeds,
    "s2-few-transfers": _few_transfers,
    "s2-cpu-gflops": _cpu,
    "s2-over-cpu": _over_cpu,
    "s2-naive-gflops": _naive_speeds,
    "s2-naive-dram": _naive_dram,
    "s2-reads": _reads(16),
    "s2-tiled-gflops": _tiled_speeds,
    "s2-speed-up": _over_swapped,
    "s2-compute-bound": _compute_bound,
    "s2-why": _unit("occupancy_achieved", "Occupancy achieved", _coalesced_and_tiled),
    "s2-library": _library,
    "s3-coalesced": _sectors,
    "s3-no-conflicts": _conflicts,
    "s3-reads": _reads(32),
    "s3-speed-up": _over_swapped,
    "s3-share": _shares,
    "s4-stalls": _memory_stalls,
}

"""The fact-check: each claim of the course's sources, and what a record says to it.

The page ``chapters/fact-check.md`` holds a table for each source between markers; `write` makes
them from `kernels.lab.claims` and from a record, so that no figure there is typed by hand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from kernels.basics.files import ROOT, replace_text
from kernels.basics.units import grouped, percent, quantity
from kernels.lab import claims
from kernels.records import Record, RecordError, Row
from kernels.rungs.order import ENGINE_TITLES, LADDER

__all__ = ["FINDINGS", "PAGE", "VERDICTS", "Finding", "finding", "table", "tally", "write"]

PAGE = ROOT / "chapters" / "fact-check.md"
MARKERS = re.compile(r"(<!-- (claims|tally) ?(S\d)? -->).*?(<!-- /\2 -->)", re.S)
#: What each verdict means, in the order of the tally.
VERDICTS = {
    "right": "it holds as it is said",
    "half right": "it holds for one reading of its words, and not for another",
    "incomplete": "what it says holds; what it leaves out matters here",
    "depends": "it holds for some kernels, languages or machines and fails for others",
    "outdated": "it was right for older hardware or tools",
    "wrong": "it does not hold",
}
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


# Rows that several findings need -------------------------------------------------


def _timed(record: Record, rung: str, engine: str, **options: int) -> Row:
    return record.timing(rung, engine, M=TIMED, **options)


def _profiled(record: Record, rung: str, engine: str, **options: int) -> Row:
    sizes = {"M": PROFILED, "N": PROFILED, "K": PROFILED}
    return record.row("profiles", rung=rung, engine=engine, **sizes, **options)


def _naives(record: Record, get: Callable[..., Row]) -> dict[str, Row]:
    """The four kernels with one thread an element, in blocks of 32 × 32."""
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
    speed = record.row("bandwidth", what="copy").bytes_per_second
    return Finding(f"A copy on the device, read and written: {quantity(speed, 'B/s')}.", (speed,))


def _latency(record: Record) -> Finding:
    def wait(space: str, size: int) -> float:
        rows = [row for row in record.rows("latency", space=space) if row.bytes <= size]
        return max(rows, key=lambda row: row.bytes).ns

    levels = {
        "a register": wait("registers", 4),
        "shared memory": wait("shared", 2**20),
        "L1": wait("global", 2**16),
        "L2": wait("global", 2**22),
        "DRAM": wait("global", 2**30),
    }
    told = ", ".join(f"{name} {quantity(1e-9 * ns, 's')}" for name, ns in levels.items())
    return Finding(f"From address to value: {told}.", tuple(levels.values()))


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
    copy = record.row("bandwidth", what="copy").bytes_per_second
    told = f"{quantity(pinned, 'B/s')} over the bus, {quantity(copy, 'B/s')} on the device"
    return Finding(f"{told}: {copy / pinned:.0f} times as fast.", (copy / pinned,))


def _few_transfers(record: Record) -> Finding:
    kernel = record.row("bandwidth", what="vector_add", engine="numba")
    pinned, _ = _pcie(record)
    trip = kernel.bytes / pinned
    told = f"the way there and back takes {trip / kernel.median:.0f} times as long as adding"
    return Finding(f"Vectors of {grouped(kernel.n)} floats: {told}.", (trip,))


def _cpu(record: Record) -> Finding:
    names = {
        "python loops": "a Python loop on one of them", "numba": "a compiled loop on one",
        "numba parallel": "the same on all", "numpy matmul": "NumPy's library",
    }  # fmt: skip
    rows = {told: record.row("cpu", what=what) for what, told in names.items()}
    cores = record.row("cpu", what="numpy matmul").cores
    told = ", ".join(f"{name} {row.speed}" for name, row in rows.items())
    return Finding(f"With {cores} cores: {told}.", tuple(1e9 * row.gflops for row in rows.values()))


def _naive_dram(record: Record) -> Finding:
    row = _profiled(record, "naive", "cpp", block=32)
    least = 2 * 4 * PROFILED**2
    told = (
        f"naive in CUDA C++ at {PROFILED}³ reads {quantity(row.dram_read_bytes, 'B')} from DRAM "
        f"(A and B together have {quantity(least, 'B')}); DRAM is busy "
        f"{percent(row.dram_throughput)} of the time, L1 {percent(row.l1_throughput)}"
    )
    return Finding(f"{told[0].upper()}{told[1:]}.", (row.dram_throughput,))


def _l2_hits(record: Record) -> Finding:
    rows = _naives(record, _profiled)
    told = "; ".join(f"{name} {percent(min(row.l2_hit_rate, 1))}" for name, row in rows.items())
    return Finding(
        f"Hits in L2 at {PROFILED}³: {told}.", tuple(row.l2_hit_rate for row in rows.values())
    )


def _sm_throughput(record: Record) -> Finding:
    rows = _naives(record, _profiled)
    told = "; ".join(f"{name} {percent(row.sm_throughput)}" for name, row in rows.items())
    return Finding(
        f"SM throughput at {PROFILED}³: {told}.", tuple(row.sm_throughput for row in rows.values())
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


def _intensity(record: Record) -> Finding:
    row = _profiled(record, "naive", "cpp", block=32)
    moved = 2 * PROFILED**3 / (row.dram_read_bytes + row.dram_write_bytes)
    asked = LADDER["naive"].model(PROFILED, PROFILED, PROFILED).intensity
    told = f"{asked:.2f} FLOP for a byte asked, {moved:.0f} for a byte of DRAM"
    return Finding(f"At {PROFILED}³: {told}.", (asked, moved))


def _reads(tile: int) -> Callable[[Record], Finding]:
    def found(record: Record) -> Finding:
        naive = _profiled(record, "naive", "numba", block=tile)
        tiled = _profiled(record, "tiled", "numba", tile=tile)
        requests = naive.requests / tiled.requests
        sectors = naive.sectors / tiled.sectors
        told = f"requests fall by {requests:.1f}, sectors by {sectors:.1f}"
        by = f"Counted by the hardware at {PROFILED}³, T = {tile}"
        return Finding(f"{by}: {told}.", (requests, sectors))

    return found


def _naive_speeds(record: Record) -> Finding:
    return _speeds(_naives(record, _timed))


def _tiled_speeds(record: Record) -> Finding:
    return _speeds({ENGINE_TITLES[engine]: row for engine, row in _tiled(record).items()})


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


def _over_swapped(record: Record) -> Finding:
    """Tiled over every kernel with one thread an element: the span of what can be called naive."""
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


def _larger_tiles(record: Record) -> Finding:
    parts, gains = [], []
    for engine in ("numba", "cpp"):
        rows = [_timed(record, "tiled", engine, tile=tile) for tile in (8, 16, 32)]
        parts.append(f"{ENGINE_TITLES[engine]} {', '.join(row.speed for row in rows)}")
        gains += [_factor(rows[0], rows[1]), _factor(rows[1], rows[2])]
    return Finding(f"At {TIMED}³, T = 8, 16, 32: {'; '.join(parts)}.", tuple(gains))


def _conflicts(record: Record) -> Finding:
    row = _profiled(record, "tiled", "numba", tile=32)
    share = row.shared_load_conflicts / row.shared_load_instructions
    counted, among = map(grouped, (row.shared_load_conflicts, row.shared_load_instructions))
    told = f"{counted} conflicts counted in {among} shared loads of warps ({percent(share)})"
    return Finding(f"At {PROFILED}³, T = 32: {told}.", (share,))


def _barrier(record: Record) -> Finding:
    """The wait at barriers, and the longest wait beside it."""
    parts, shares, longest = [], [], []
    for engine in ("numba", "cpp"):
        stalls = [_profiled(record, "tiled", engine, tile=tile).stalls for tile in (8, 16, 32)]
        found = [waits["barrier"] / sum(waits.values()) for waits in stalls]
        parts.append(f"{ENGINE_TITLES[engine]} {', '.join(map(percent, found))}")
        shares += found
        longest += [max(waits.values()) / sum(waits.values()) for waits in stalls]
    told = f"at {PROFILED}³, T = 8, 16, 32: {'; '.join(parts)}"
    most = f"the longest wait takes {percent(min(longest))} to {percent(max(longest))}"
    return Finding(f"Share of a warp's time spent at barriers, {told}; {most}.", tuple(shares))


def _next_share(record: Record) -> Finding:
    """The rung that has the four techniques of the claim, and no other."""
    shares = {engine: _best(record, "pipelined", engine).share for engine in ("numba", "cpp")}
    told = ", ".join(f"{ENGINE_TITLES[engine]} {percent(n)}" for engine, n in shares.items())
    return Finding(
        f"With these four, at {TIMED}³ ({_title('pipelined')}): {told}.", tuple(shares.values())
    )


#: What a record says, by the claim's id. Claims without an entry are judged by their fact alone.
FINDINGS: dict[str, Callable[[Record], Finding]] = {
    "s2-global-bandwidth": _copy,
    "s0-pyramid": _latency,
    "s2-pcie-slowest": _pcie_slower,
    "s2-pcie-theory": _transfer_speeds,
    "s2-few-transfers": _few_transfers,
    "s2-cpu-gflops": _cpu,
    "s2-naive-gflops": _naive_speeds,
    "s0-naive-dram": _naive_dram,
    "s2-naive-dram": _naive_dram,
    "s0-intensity": _intensity,
    "s0-coalescing": _swap,
    "s1-naive-versions": _swap,
    "s1-l2-hit-rate": _l2_hits,
    "s1-naive-sm-throughput": _sm_throughput,
    "s0-reads": _reads(32),
    "s2-reads": _reads(16),
    "s2-tiled-gflops": _tiled_speeds,
    "s2-speed-up": _over_swapped,
    "s3-speed-up": _over_swapped,
    "s1-speed-up": _over_naive,
    "s1-share": _shares,
    "s3-share": _shares,
    "s1-tile-bytes": _tile_bytes,
    "s1-larger-tiles": _larger_tiles,
    "s1-no-conflicts": _conflicts,
    "s1-barrier-stalls": _barrier,
    "s1-one-element": lambda record: _steps(record, "tiled", "thread_tiled"),
    "s1-wide-loads": lambda record: _steps(record, "thread_tiled", "vectorized"),
    "s1-prefetch": lambda record: _steps(record, "vectorized", "pipelined"),
    "s1-next-share": _next_share,
}


def finding(claim: claims.Claim, record: Record) -> Finding | None:
    """What the record says to a claim; None if the claim needs no measurement.

    Raises
    ------
    RecordError
        When a row that decides the claim is not recorded.
    """
    found = FINDINGS.get(claim.id)
    try:
        return found(record) if found else None
    except AttributeError as error:
        raise RecordError(f"the record {record.name!r} cannot judge {claim.id}: {error}") from None


def table(source: str, record: Record) -> str:
    """The claims of one source as a Markdown table."""
    lines = ["| claim | verdict | what we found | try it |", "| --- | --- | --- | --- |"]
    for claim in claims.claims(source=source):
        found = finding(claim, record)
        by = "" if found else f" *({claim.judged_by})*"
        told = " ".join(filter(None, (claim.fact, found.text if found else "")))
        link = f"[chapter {int(claim.where[:2])}]({claim.where})"
        lines.append(f"| {claim.claim} | **{claim.verdict}** | {told}{by} | {link} |")
    return "\n".join(lines)


def tally() -> str:
    """How many claims got each verdict, as a Markdown table, a column for each source."""
    every = claims.claims()
    count = Counter((claim.verdict, claim.source) for claim in every)
    sources = list(claims.sources())
    lines = [
        "| verdict | it means | " + " | ".join(sources) + " | all |",
        "| --- | --- |" + " ---: |" * (len(sources) + 1),
    ]
    for verdict, meaning in VERDICTS.items():
        numbers = [count[verdict, source] for source in sources]
        cells = [str(n) if n else "" for n in numbers] + [str(sum(numbers))]
        lines.append(f"| **{verdict}** | {meaning} | " + " | ".join(cells) + " |")
    totals = [sum(count[verdict, source] for verdict in VERDICTS) for source in sources]
    lines.append("| all | | " + " | ".join(map(str, [*totals, len(every)])) + " |")
    return "\n".join(lines)


def write(record: Record, page: Path = PAGE) -> Path:
    """Rewrite the tables between the page's markers.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    RecordError
        When nothing is recorded, or rows that a claim needs are not.
    """
    if not record:
        raise RecordError(record.caption())

    def new(found: re.Match[str]) -> str:
        start, what, source, end = found.groups()
        body = tally() if what == "tally" else table(source, record)
        measured = any(claim.id in FINDINGS for claim in claims.claims(source=source))
        caption = f"\n\n{record.caption()}" if what == "claims" and measured else ""
        return f"{start}\n{body}{caption}\n{end}"

    replace_text(page, MARKERS.sub(new, page.read_text(encoding="utf-8")))
    return page

"""The ladder on the front page: its tables between markers, and its charts, from a record."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from matplotlib.figure import Figure

from kernels.basics.files import ROOT, replace_text
from kernels.basics.units import percent
from kernels.host.half import E4M3, PARTS
from kernels.lab import plots
from kernels.lab.plots import TITLES
from kernels.records import Record, RecordError, Row
from kernels.rungs.order import ENGINE_TITLES, LADDER

INKS = {"": "#1f2328", "-dark": "#f0f6fc"}  # what a chart's file ends in, and its text's colour
#: The rungs of the climb in one hour: the short chart shows them, then the fastest in Numba.
CLIMB = ("swapped", "naive", "tiled", "thread_tiled", "vectorized")
#: The rungs whose budgets the front page shows: each waits for something else, or for less of it.
BUDGETS = (*CLIMB, "serpentine", "async_tiled", "mma", "wgmma", "persistent")
MARKERS = re.compile(r"(<!-- (ladder|caption) -->\n).*?(<!-- /\2 -->)", re.DOTALL)
#: Number formats as headings name them, the one of the ladder's first part in front.
FORMATS = {
    "float32": "fp32", "float16": "fp16", "bfloat16": "bf16", PARTS: "fp32 as 3 × bf16",
    E4M3: "fp8 (e4m3)",
}  # fmt: skip
#: The size that tensor cores are shown at: at smaller ones they wait for data.
HALF_SIZE = 8192


def tables(record: Record) -> str:
    """The ladder as Markdown: every rung by size, the best at other shapes, the tensor cores."""
    parts = [
        "GFLOP/s in fp32 and, in brackets, the share of cuBLAS, timed alternately with it. Each "
        "rung has the fastest of its measured tiles; the naive kernels have blocks of 32 × 32.",
        by_size(record, "float32"),
        *in_turn(record),
    ]
    shapes = by_shape(record)
    if shapes:
        parts += ["Other shapes, A M×K and B K×N: the fastest rung in each language.", shapes]
    for dtype in record.dtypes():
        if dtype != "float32":
            name = FORMATS.get(dtype, dtype)
            # Of 8-bit numbers, tensor cores keep sums in a shorter format of their own.
            sums = "" if dtype == E4M3 else ", sums in fp32"
            parts += [f"Tensor cores: A and B in {name}{sums}.", by_size(record, dtype)]
    parts.append(f"Medians. {record.caption(*record.rows('timings'))}")
    return "\n\n".join(parts)


def in_turn(record: Record) -> list[str]:
    """Why a share may differ from the ratio of two speeds: how far cuBLAS's own varied."""
    runs: dict[tuple[str, int], list[float]] = {}
    for row in record.rows("timings"):
        if row.M == row.N == row.K and "cublas_gflops" in row:
            runs.setdefault((row.dtype, row.M), []).append(row.cublas_gflops)
    if not runs:
        return []
    varied = max(max(speeds) / min(speeds) - 1 for speeds in runs.values())
    return [
        f"Between the rungs' runs, cuBLAS itself varied by up to {percent(varied)}. So here and "
        "below, a share may differ from the ratio of two speeds."
    ]


def by_size(record: Record, dtype: str) -> str:
    """A row for each rung and language, a column for each square size."""
    cubes = {row.M for row in record.rows("timings", dtype=dtype) if row.M == row.N == row.K}
    sizes = sorted(cubes - odd_sizes(record))
    versions: dict[tuple[str, str], dict[int, Row]] = {}
    for size in sizes:
        for row in record.ladder(M=size, dtype=dtype):
            versions.setdefault((row.rung, row.engine), {})[size] = row
    order = [*LADDER, *TITLES, "cublas"]
    engines = list(ENGINE_TITLES)
    lines = [
        [
            TITLES[rung],
            "library" if engine == "library" else ENGINE_TITLES[engine],
            *(told(rows[size]) if size in rows else "" for size in sizes),
        ]
        for (rung, engine), rows in sorted(
            versions.items(), key=lambda item: (order.index(item[0][0]), engines.index(item[0][1]))
        )
    ]
    return markdown(["rung", "language", *(f"{size}³" for size in sizes)], lines, left=2)


def odd_sizes(record: Record) -> set[int]:
    """Sizes of square products that are there because no tile divides them."""
    return {row.M for row in record.rows("timings") if row.M == row.N == row.K and row.M % 64}


def by_shape(record: Record) -> str:
    """A row for each shape that is no ordinary cube: cuBLAS, and the best in each language."""
    odd = odd_sizes(record)
    shapes = dict.fromkeys(
        (row.M, row.N, row.K)
        for row in record.rows("timings", dtype="float32")
        if len({row.M, row.N, row.K}) > 1 or row.M in odd
    )
    lines = []
    for M, N, K in shapes:
        rows = record.ladder(M, N, K)
        library = next(row for row in rows if row.rung == "cublas")
        cells = [f"{M}×{N}×{K}" if len({M, N, K}) > 1 else f"{M}³", told(library)]
        for engine in ("numba", "cpp"):
            own = [row for row in rows if row.engine == engine]
            best = max(own, key=lambda row: row.gflops, default=None)
            cells.append(f"{TITLES[best.rung]}: {told(best)}" if best else "")
        lines.append(cells)
    head = ["M×N×K", "cuBLAS", ENGINE_TITLES["numba"], ENGINE_TITLES["cpp"]]
    return markdown(head, lines, left=1) if lines else ""


def told(row: Row) -> str:
    """``"8,834 (23 %)"``: GFLOP/s and the share of cuBLAS, which is left out for cuBLAS itself.

    A line may break before the share, not within a number.
    """
    share = percent(row.share).replace(" ", "\N{NO-BREAK SPACE}")
    return f"{round(row.gflops):,}" + ("" if row.rung == "cublas" else f" ({share})")


def markdown(head: list[str], lines: Iterable[list[str]], left: int) -> str:
    """A Markdown table; all columns but the first ``left`` hold figures."""
    rule = ["---"] * left + ["---:"] * (len(head) - left)
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, rule, *lines))


def chart(record: Record) -> Figure:
    """The climb: float32 at the largest size all rungs have, then the tensor cores."""
    size = largest(record)
    panels = {f"fp32, {size}³": record.ladder(M=size)}
    for dtype in record.dtypes():
        if dtype != "float32":
            heading = f"tensor cores, {FORMATS.get(dtype, dtype)}, {HALF_SIZE}³"
            panels[heading] = record.ladder(M=HALF_SIZE, dtype=dtype)
    return plots.climb(panels, TITLES)


def largest(record: Record) -> int:
    """The largest square size at which all rungs were timed: the naive ones set it."""
    return max(row.M for row in record.rows("timings", rung="naive"))


def caption(record: Record) -> str:
    """What the short chart shows, and where it was measured."""
    size, gpu = largest(record), record.provenance["gpu"]
    return (
        f"*Two {size} × {size} matrices of 32-bit floats, multiplied on {gpu}. "
        "Blue bars are Python, compiled by Numba.*"
    )


def short_chart(record: Record) -> Figure:
    """The climb in a few bars: the rungs of one hour, the fastest in Numba, and the library."""
    rows = record.ladder(M=largest(record))
    rows = [
        record.timing("tiled", M=row.M, tile=16)  # as the reader writes it there
        if (row.rung, row.engine) == ("tiled", "numba") else row
        for row in rows
    ]  # fmt: skip
    python = [row for row in rows if row.engine == "numba"]
    fastest = max(python, key=lambda row: row.gflops)
    shown = [row for row in python if row.rung in CLIMB or row is fastest]
    shown += [row for row in rows if row.rung == "cublas"]
    return plots.rungs(shown, TITLES, climbed=TITLES)


def budgets(record: Record) -> Figure:
    """What an FMA takes of an SM in each rung, and what single units need for it at least."""
    return plots.budget(plots.budget_bars(record, BUDGETS), TITLES)


def write(record: Record, root: Path = ROOT) -> list[Path]:
    """Rewrite what stands between the markers of the front page, and draw the charts.

    Returns
    -------
    list of Path
        The files that were written.

    Raises
    ------
    RecordError
        When nothing is recorded, or the page has no markers.
    """
    if not record:
        raise RecordError(record.caption())
    page = root / "index.md"
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    if not MARKERS.search(text):
        raise RecordError("index.md lacks the markers <!-- ladder --> and <!-- /ladder -->")
    texts = {"ladder": tables(record), "caption": caption(record)}
    replace_text(page, MARKERS.sub(lambda at: f"{at[1]}{texts[at[2]]}\n{at[3]}", text))
    written = [page]
    charts = {"ladder": chart, "ladder-short": short_chart, "ladder-budget": budgets}
    for name, draw in charts.items():
        for ending, ink in INKS.items():
            path = root / "book" / "assets" / f"{name}{ending}.svg"
            svg = plots.svg(draw(record), ink)
            replace_text(path, '<?xml version="1.0" encoding="utf-8"?>\n' + svg)
            written.append(path)
    return written

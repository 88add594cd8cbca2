"""A trace as people read it: the kernel's own lines, with what each access cost under it."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from html import escape

from .sites import Site

HEADINGS = ("line", "access", "requests", "lanes", "per request", "bytes used / moved", "note")
_BAR = 16  # characters of the longest bar
_WORST = 32  # sectors or wavefronts that fill it: one for every lane


@dataclass(frozen=True)
class ReportLine:
    """One line of the report: a source line (`cells` empty), or an access or barrier under it.

    `bar` is the length of the bar beside it: what a request costs, as a share of the worst case.
    """

    line: int
    text: str
    cells: tuple[str, ...] = ()
    bar: float = 0.0


class Table:
    """The accesses of a trace under the source lines they stand in.

    Prints as text; in a notebook it shows itself as an HTML table. `rows` holds the same as data.

    Parameters
    ----------
    trace : microscope.trace.Trace
    """

    def __init__(self, trace):
        self.trace = trace
        self.rows = list(_rows(trace))

    def __str__(self) -> str:
        body = [HEADINGS, *(("", r.text, *r.cells) for r in self.rows if r.cells)]
        widths = [max(len(row[i]) for row in body) for i in range(len(HEADINGS))]
        widths[0] = max(4, len(str(self.trace.first_line + len(self.trace.source))))
        lines = [heading(self.trace), "", _align(HEADINGS, widths)]
        for row in self.rows:
            if row.cells:
                lines.append(_align(("", row.text, *row.cells), widths))
            else:
                lines.append(f"{row.line:>{widths[0]}}  {row.text}")
        return "\n".join([*lines, "", *totals(self.trace), *problems(self.trace)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th scope='col'>{escape(h)}</th>" for h in HEADINGS)
        body = "".join(_html_row(row) for row in self.rows)
        below = "<br>".join(escape(line) for line in [*totals(self.trace), *problems(self.trace)])
        return (
            f"<div class='trace' style='overflow-x:auto'><p><strong>{escape(heading(self.trace))}"
            "</strong></p><table style='border-collapse:collapse;text-align:left'>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{below}</p></div>"
        )


def table(trace) -> Table:
    """Return the report of a trace; `Trace.table` calls this."""
    return Table(trace)


def heading(trace) -> str:
    """One line: the kernel, its launch, how much of it was traced."""
    grid, block = (_extent(trace.grid), _extent(trace.block))
    x, y, z = trace.grid
    share = "all blocks" if trace.blocks == x * y * z else f"{trace.blocks} of {x * y * z} blocks"
    return f"{trace.kernel}: grid {grid}, block {block}, {share} traced, {trace.schedule}"


def totals(trace) -> list[str]:
    """The launch as a whole: arithmetic, bytes asked, moved and unique, shared memory."""
    work, shared = trace.work, trace.count(space="shared")
    flops = ", ".join(f"{n:,} {kind}" for kind, n in work.flops.items() if n) or "none"
    lines = [
        f"FLOPs: {flops}" + (f"; {work.special:,} function calls" if work.special else ""),
        f"global bytes: {work.bytes_requested:,} asked, {work.bytes_transferred:,} moved, "
        f"{work.bytes_unique:,} unique",
        f"FLOP per byte: {work.intensity_requested:.3g} asked, "
        f"{work.intensity_transferred:.3g} moved, {work.intensity_unique:.3g} unique",
    ]
    if trace.shared_bytes:
        lines.append(
            f"shared memory: {trace.shared_bytes:,} bytes per block, "
            f"{shared['wavefronts']:,} wavefronts, {shared['conflicts']:,} of them bank conflicts"
        )
    return lines


def problems(trace) -> list[str]:
    """One sentence a problem, or the sentence that there is none."""
    return [f"{p.kind}: {p}" for p in trace.problems] or ["No problem found."]


def _rows(trace):
    """Source lines that touch memory, compute or wait, each followed by what happens there."""
    by_line: dict[int, list[Site]] = {}
    for site in trace.sites:
        by_line.setdefault(site.line, []).append(site)
    source = textwrap.dedent("\n".join(line.rstrip() for line in trace.source)).split("\n")
    marked = by_line.keys() | trace.barriers.keys() | trace.work.flops_by_line.keys()
    for line in sorted(marked):
        offset = line - trace.first_line
        inside = 0 <= offset < len(source)
        yield ReportLine(line, source[offset] if inside else "(a function it calls)")
        for site in by_line.get(line, ()):
            bar = min(1, _cost(site)[0] / _WORST)
            yield ReportLine(line, f"    {site.op} {site.expr}", _cells(site), bar)
        if line in trace.barriers:
            yield ReportLine(line, "    barrier", (f"{trace.barriers[line]:,}", "", "", "", ""))
        if trace.work.flops_by_line.get(line):
            flops = f"{trace.work.flops_by_line[line]:,} FLOPs"
            yield ReportLine(line, "    arithmetic", ("", "", "", "", flops))


def _cells(site: Site) -> tuple[str, ...]:
    """Requests, and per request: lanes, cost, bytes used and moved; and a remark."""
    lanes = f"{site.lanes / site.requests:.4g}"
    if site.space == "local":
        return (f"{site.requests:,}", lanes, "", "", "registers or local memory")
    cost, unit = _cost(site)
    plural = "" if cost == 1 else "s"
    bar = "#" * max(1, round(_BAR * min(1, cost / _WORST)))
    return (
        f"{site.requests:,}",
        lanes,
        f"{cost:.4g} {unit}{plural} {bar}",
        _moved(site),
        _remark(site),
    )


def _cost(site: Site) -> tuple[float, str]:
    """What an average request takes, and the unit: 32 at the worst for elements of 4 bytes."""
    if site.space == "global":
        return site.sectors_per_request, "sector"
    return site.wavefronts_per_request, "wavefront"


def _moved(site: Site) -> str:
    """Bytes that an average request of global memory uses and moves."""
    if site.space != "global":
        return ""
    each = (n / site.requests for n in (site.bytes_used, site.bytes_transferred))
    return " / ".join(f"{n:.4g}" if n < 10_000 else f"{n:,.0f}" for n in each)


def _remark(site: Site) -> str:
    """What is worth knowing of an access: waste, sharing, conflicts."""
    if site.space == "shared":
        return f"{site.conflicts:,} conflicts" if site.conflicts else "no conflict"
    remarks = ["boxes by TMA"] if site.unit == "TMA" else []
    if site.bytes_used * 2 <= site.bytes_transferred:
        remarks.append(
            f"{100 * site.bytes_used / site.bytes_transferred:.3g} % of what moves is used"
        )
    if site.bytes_requested > site.bytes_used:
        remarks.append(f"each byte serves {site.bytes_requested / site.bytes_used:.3g} threads")
    return "; ".join(remarks)


def _extent(extent: tuple[int, int, int]) -> str:
    x, y, z = extent
    return f"{x} × {y} × {z}" if z > 1 else f"{x} × {y}" if y > 1 else f"{x}"


def _align(cells: tuple[str, ...], widths: list[int]) -> str:
    left = {1, 4, 6}  # text columns; the others hold numbers
    pairs = enumerate(zip(cells, widths, strict=True))
    parts = (cell.ljust(w) if i in left else cell.rjust(w) for i, (cell, w) in pairs)
    return "  ".join(parts).rstrip()


def _html_row(row: ReportLine) -> str:
    style = "padding:.1em .6em;white-space:pre;text-align:left"
    if not row.cells:
        span = len(HEADINGS) - 1
        return (
            f"<tr style='border-top:1px solid currentColor'><th scope='row' style='{style}'>"
            f"{row.line}</th><td colspan='{span}' style='{style}'><code>{escape(row.text)}</code>"
            "</td></tr>"
        )
    shown = [escape(cell) for cell in row.cells]
    shown[2] = shown[2].rstrip("#") + _html_bar(row.bar)
    cells = "".join(f"<td style='{style}'>{cell}</td>" for cell in shown)
    return f"<tr><td></td><td style='{style}'>↳ {escape(row.text.strip())}</td>{cells}</tr>"


def _html_bar(share: float) -> str:
    if not share:
        return ""
    style = f"display:inline-block;width:{_BAR / 2 * share:.2f}em;height:.6em;margin-left:.4em"
    return f"<span aria-hidden='true' style='{style};background:currentColor;opacity:.6'></span>"

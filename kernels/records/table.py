"""Rows as a table: HTML in a notebook, aligned text anywhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any

from kernels.basics.units import percent
from kernels.records.record import field_of

__all__ = ["Table", "ablation", "sustained"]


class Table:
    """Rows for a page: an HTML table in a notebook, aligned text anywhere else.

    Parameters
    ----------
    rows : iterable
        Mappings (such as the rows of a record) or sequences.
    columns : mapping of str to (str, callable or None)
        Heading to the field it shows, or to a function of the row. For sequences: the headings.
    caption : str
        Shown under the table: say where the figures come from.
    """

    def __init__(
        self,
        rows: Iterable[Any],
        columns: Mapping[str, str | Callable[[Any], Any]] | Iterable[str],
        caption: str = "",
    ) -> None:
        self.headings = list(columns)
        self.caption = caption
        getters = columns.values() if isinstance(columns, Mapping) else None
        self.cells = [
            [_text(get(row) if callable(get) else field_of(row, get)) for get in getters]
            if getters is not None
            else [_text(cell) for cell in row]
            for row in rows
        ]

    def __repr__(self) -> str:
        lines = [self.headings, *self.cells]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.headings))]
        right = [self._numeric(i) for i in range(len(self.headings))]
        text = [
            "  ".join(
                cell.rjust(width) if numeric else cell.ljust(width)
                for cell, width, numeric in zip(line, widths, right, strict=True)
            ).rstrip()
            for line in lines
        ]
        text.insert(1, "  ".join("-" * width for width in widths))
        return "\n".join([*text, *([self.caption] if self.caption else [])])

    def _repr_html_(self) -> str:
        def line(cells: list[str], tag: str) -> str:
            return (
                "<tr>"
                + "".join(
                    f"<{tag}{style(i, tag)}>{escape(cell)}</{tag}>" for i, cell in enumerate(cells)
                )
                + "</tr>"
            )

        def style(index: int, tag: str) -> str:
            if not self._numeric(index):
                return ' style="text-align:left"'
            # A figure stays on one line with its unit.
            return f' style="text-align:right{";white-space:nowrap" if tag == "td" else ""}"'

        head = line(self.headings, "th")
        body = "".join(line(cells, "td") for cells in self.cells)
        table = f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
        # Under the table and not a <caption>: it is a source, not a title.
        caption = f"<figcaption>{escape(self.caption)}</figcaption>" if self.caption else ""
        return f'<figure class="recorded" style="margin:0">{table}{caption}</figure>'

    def _numeric(self, index: int) -> bool:
        column = [cells[index] for cells in self.cells if cells[index] not in {"", "–"}]
        # What takes more than 24 characters needs room to break: it is set like words.
        figures = (len(cell) <= 24 and (cell[0].isdigit() or cell[0] in "+-−–") for cell in column)
        return bool(column) and all(figures)


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value)


def ablation(rows: Iterable[Any], caption: str = "") -> Table:
    """Recorded speeds of steps at each size, each step with all before it, and what it gains.

    Parameters
    ----------
    rows : iterable of rows of the table ``ablation``
        Of one number format, in the order of the steps.
    caption : str
        Shown under the table: say where the figures come from.
    """
    lines: dict[str, list[str | None]] = {}
    before: dict[int, Any] = {}
    for row in rows:
        gain = f"{row.gflops / before[row.N].gflops - 1:+.1%}" if row.N in before else None
        speed = row.gflops / 1000
        cells = f"{speed:.{1 if speed < 100 else 0}f}", gain
        lines.setdefault(row.what, []).extend(cells)
        before[row.N] = row
    heads = [head for size in before for head in (f"{size}³", "gain")]
    return Table([(what, *cells) for what, cells in lines.items()], ("added", *heads), caption)


def sustained(record: Any, dtype: str, titles: Mapping[str, str], size: int = 8192) -> Table:
    """Recorded speeds of products at size³ in bursts and without a break, with the power.

    Parameters
    ----------
    record : Record
        With a table ``sustained``; without one, the table is empty and says so.
    dtype : str
    titles : mapping of rung to str
        What to call rungs and libraries.
    size : int
    """
    rows = [r for r in record.tables.get("sustained", ()) if (r.dtype, r.N) == (dtype, size)]
    if not rows:
        return Table([], (), "Not in this record yet: `make record` on a GPU measures it.")
    library = next(row for row in rows if row.engine == "library")
    lines = []
    for row in rows:
        held = row["sustained"]
        speeds = [
            f"{now / 1000:.{1 if now < 1e5 else 0}f} ({percent(now / of)})"
            for now, of in ((row.gflops, library.gflops),
                            (held["gflops"], library["sustained"]["gflops"]))
        ]  # fmt: skip
        language = {"numba": "Numba", "cpp": "CUDA C++"}.get(row.engine)
        power = f"{held['watts']:.0f} of {held['limit']:.0f} W" if "watts" in held else None
        lines.append((titles[row.rung], language, *speeds, power))
    caption = (
        "TFLOP/s; in brackets the share of cuBLAS. Bursts last about a millisecond, with rests "
        "between; sustained is more than a second without one, with the power at its "
        "end. L2 is warm: it holds what the last launch left. No launch starts before the last has "
        f"ended. {record.caption(rows[0])}"
    )
    heads = ("written in", "burst", "sustained", "power")
    return Table(lines, (f"{size}³, {dtype}", *heads), caption)

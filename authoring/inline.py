"""Figures in running text: a name in the text, filled from the record or from a cell's output.

A text never types a measured figure. It names it, in two comments that no reader sees::

    Tiling takes the kernel from 2 to <!-- =speed("tiled", tile=32) -->8.66 TFLOP/s<!-- = -->.

What stands between the two is written here, from the course's record, whenever a page is executed
or the front pages are written; a test compares. Colab and JupyterLab show it as plain text, and the
book adds where it comes from.

The name is an expression of the functions of `Source`, of numbers, ``+ - * /`` and brackets.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import nbformat

from kernels import records
from kernels.basics.files import replace_text
from kernels.basics.units import percent, quantity
from kernels.budget import counts, versions
from kernels.budget.ceilings import Budget
from kernels.host.rung import ENGINE_TITLES
from kernels.lab import pages
from kernels.records import Record, Row
from kernels.rungs.order import LADDER

#: A figure in a text: its name, and what stands there.
INLINE = re.compile(r"<!-- =(?P<name>\S(?:.*?\S)?) -->(?P<text>[^<\n]*)<!-- = -->")
#: A comment at the beginning of a line would end the paragraph before it.
AT_START = re.compile(r"^ *<!-- =(?= -->|\S)", re.MULTILINE)
#: A tag of cells whose output depends on the machine: no text may lean on it.
MACHINE = "nbval-ignore-output"
OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip
#: Fields of records that are not in the unit that a text says.
SCALES = {
    "gflops": (1e9, "FLOP/s"), "cublas_gflops": (1e9, "FLOP/s"), "ns": (1e-9, "s"),
    "bytes_per_second": (1, "B/s"), "share_of_copy": (1, "%"), "seconds": (1, "s"),
    "dram_read_bytes": (1, "B"), "l2_read_bytes": (1, "B"), "l2_write_bytes": (1, "B"),
    "dram_throughput": (1, "%"), "occupancy": (1, "%"), "duration": (1, "s"),
    "l2_throughput": (1, "%"), "sustained.gflops": (1e9, "FLOP/s"),
}  # fmt: skip


class InlineError(ValueError):
    """A figure whose name cannot be read, or that nothing holds."""


@dataclass(frozen=True)
class Figure:
    """A number with its unit and where it comes from.

    Attributes
    ----------
    number : float or str
        In the bare unit; text that a cell printed stays as it is.
    unit : str
        ``"FLOP/s"``, ``"B/s"``, ``"s"`` and ``"B"`` get a prefix; ``"%"`` of 1; ``""`` is a plain
        number or a ratio.
    rows : tuple of Row
        What it was computed from.
    said : str
        What it is, such as ``"tiled, Numba, 4096³"``.
    digits : int or None
        Digits to show; None for what the unit usually has.
    record : Record or None
        What the rows are from, where it isn't the course's own.
    """

    number: Any
    unit: str = ""
    rows: tuple[Row, ...] = ()
    said: str = ""
    digits: int | None = None
    record: Record | None = None

    def __str__(self) -> str:
        if isinstance(self.number, str):
            return self.number
        if self.unit == "%":
            return percent(self.number)
        if self.unit:
            return quantity(self.number, self.unit, self.digits or 3)
        if self.digits is not None:
            return f"{self.number:,.{self.digits}f}"
        return f"{self.number:,.0f}" if self.number >= 100 else f"{self.number:.3g}"

    def of(self, other: Figure, compute: Callable) -> Figure:
        """This figure with another: a ratio of equal units has none."""
        units = {self.unit, other.unit}
        if compute is operator.truediv:
            unit = "" if self.unit == other.unit else self.unit
        else:
            unit = next(iter(units - {""}), "")
        said = "; ".join(dict.fromkeys(filter(None, (self.said, other.said))))
        number = compute(self.number, other.number)
        return Figure(number, unit, (*self.rows, *other.rows), said, record=self.record)


class Source:
    """What a name may be made of.

    Parameters
    ----------
    record : Record
    cells : list of cells, optional
        Those of the page, for `cell`.
    """

    def __init__(self, record: Record, cells: list[Any] = ()):
        self._record, self._cells = record, cells

    def speed(self, rung: str, engine: str = "numba", M: int = 4096, **options: Any) -> Figure:
        """The speed of a matrix product, as `Record.timing` takes it."""
        row = self._record.timing(rung, engine, M, **options)
        return Figure(row.gflops * 1e9, "FLOP/s", (row,), _said(row))

    def share(self, rung: str, engine: str = "numba", M: int = 4096, **options: Any) -> Figure:
        """That speed as a share of cuBLAS, measured in the same run."""
        row = self._record.timing(rung, engine, M, **options)
        return Figure(row.share, "%", (row,), f"{_said(row)}, as a share of cuBLAS")

    def best(self, rung: str, engine: str = "numba", M: int = 4096) -> Figure:
        """The speed of a rung with the fastest of its measured tiles, as charts show it."""
        row = next(r for r in self._record.ladder(M) if (r.rung, r.engine) == (rung, engine))
        return Figure(row.gflops * 1e9, "FLOP/s", (row,), f"{_said(row)}, the fastest measured")

    def row(self, table: str, field: str, **where: Any) -> Figure:
        """One field of the one row of a table that matches, in the first record that has it.

        A field within another is named with a point.
        """
        first, *inner = field.split(".")
        having = (
            record
            for record in (self._record, *map(records.load, records.names()))
            if table in record.tables and any(first in row for row in record.rows(table, **where))
        )
        record = next(having, self._record)
        row = record.row(table, **where)
        scale, unit = SCALES.get(field, (1, ""))
        number = row[first]
        for part in inner or (["median"] if field == "seconds" else []):
            number = number[part]
        key = ", ".join(str(value) for value in where.values())
        said = f"{table.replace('_', ' ')}: {key}"
        return Figure(number * scale, unit, (row,), said, record=record)

    def device(self, field: str, unit: str = "") -> Figure:
        """What the driver said of the GPU."""
        return Figure(self._record.device[field], unit, (), f"{field} of the GPU, by its driver")

    def spent(self, rung: str, engine: str = "numba", **options: Any) -> Figure:
        """Cycles of one SM per FMA of a warp, profiled at 2048³."""
        row, _ = self._profile(rung, engine, options)
        said = f"cycles per FMA: {rung}, {ENGINE_TITLES[engine]}, 2048³"
        return Figure(counts.measured(row), "", (row,), said)

    def limit(self, rung: str, engine: str = "numba", **options: Any) -> Figure:
        """The highest ceiling of a kernel, in cycles per FMA."""
        row, budget = self._profile(rung, engine, options)
        said = f"highest limit: {rung}, {ENGINE_TITLES[engine]}, 2048³"
        return Figure(budget.cycles, "", (row,), said)

    def count(self, what: str, rung: str, engine: str = "numba", **options: Any) -> Figure:
        """A count of a profile per FMA: ``"instructions"`` or ``"wavefronts"``."""
        row, budget = self._profile(rung, engine, options)
        said = f"{what} per FMA: {rung}, {ENGINE_TITLES[engine]}, 2048³"
        return Figure(getattr(budget.counts, what), "", (row,), said)

    def stall(self, reason: str, rung: str, engine: str = "numba", **options: Any) -> Figure:
        """The share of a warp's time that it spends on one of the profiler's stall reasons."""
        row, _ = self._profile(rung, engine, options)
        said = f"time of a warp, {reason.replace('_', ' ')}: {rung}, {ENGINE_TITLES[engine]}, 2048³"
        return Figure(row["stalls"][reason] / sum(row["stalls"].values()), "%", (row,), said)

    def cell(self, name: str, pattern: str) -> Figure:
        """What the first group of a pattern finds in the output of a cell of the page."""
        cell = next((cell for cell in self._cells if cell.get("id") == name), None)
        if cell is None or MACHINE in cell.metadata.get("tags", ()):
            what = "no cell of the page" if cell is None else "a cell whose output varies"
            raise InlineError(f"cell({name!r}) is {what}: name one that prints the same everywhere")
        text = "\n".join(
            out.get("text", "") + out.get("data", {}).get("text/plain", "") for out in cell.outputs
        )
        found = re.search(pattern, text)
        if not found:
            raise InlineError(f"cell({name!r}) prints nothing like {pattern!r}")
        return Figure(found[1], said=f"printed on this page by the cell {name}")

    def digits(self, figure: Figure, count: int) -> Figure:
        """The same with so many digits: behind the point for a plain number."""
        return replace(figure, digits=count)

    def as_share(self, figure: Figure) -> Figure:
        """A ratio as a percentage."""
        return replace(figure, unit="%")

    def _profile(self, rung: str, engine: str, options: dict[str, Any]) -> tuple[Row, Budget]:
        chosen = LADDER[rung].default(engine) | options if rung in LADDER else options
        row, same = versions.profile_of(self._record, rung, engine, chosen, 2048**3)
        if row is None or not same or row["M"] != 2048:
            raise InlineError(f"no profile of {rung} ({engine}, {options}) at 2048³ is recorded")
        warps, limits = versions.bounds(self._record, "float32")
        return row, Budget(counts.of_profile(row, warps), limits)


def _said(row: Row) -> str:
    options = [f"{name} {value}" for name, value in row.get("options", {}).items()]
    size = f"{row.M}³" if row.M == row.N == row.K else f"{row.M} × {row.N} × {row.K}"
    return ", ".join([row.rung, ENGINE_TITLES.get(row.engine, row.engine), size, *options])


def evaluate(name: str, source: Source) -> Figure:
    """The figure that a name stands for.

    Raises
    ------
    InlineError
        Names what cannot be read, and what may stand there.
    RecordError
        When the record lacks the row.
    """
    try:
        figure = _value(ast.parse(name, mode="eval").body, source)
    except SyntaxError as error:
        raise InlineError(f"{name!r} cannot be read: {error.msg}") from None
    except TypeError as error:
        raise InlineError(f"{name!r} cannot be computed: {error}") from None
    return figure if isinstance(figure, Figure) else Figure(figure)


def _value(node: ast.expr, source: Source) -> Any:
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        left, right = (_value(side, source) for side in (node.left, node.right))
        left, right = (x if isinstance(x, Figure) else Figure(x) for x in (left, right))
        return left.of(right, OPERATORS[type(node.op)])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        known = [name for name in vars(Source) if not name.startswith("_")]
        if node.func.id not in known:
            raise InlineError(f"{node.func.id} is no source of figures: use {', '.join(known)}")
        called = getattr(source, node.func.id)
        named = {argument.arg: _value(argument.value, source) for argument in node.keywords}
        return called(*(_value(argument, source) for argument in node.args), **named)
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise InlineError(f"{ast.unparse(node)!r}: only calls, numbers and + - * / here") from None


def filled(text: str, source: Source) -> str:
    """A text with all its figures as the source has them now.

    Raises
    ------
    InlineError
        Also where a line begins with a figure: there a comment ends the paragraph.
    """
    if wrong := AT_START.search(text):
        line = text.count("\n", 0, wrong.start()) + 1
        raise InlineError(f"line {line} begins with a figure: break the line elsewhere")
    return INLINE.sub(
        lambda at: f"<!-- ={at['name']} -->{evaluate(at['name'], source)}<!-- = -->", text
    )


def fill(notebook: Any, record: Record | None = None) -> Any:
    """Fill in the figures of an executed notebook's texts; it is changed in place, and returned."""
    source = Source(record or records.load(records.DEFAULT_GPU), notebook.cells)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = filled(cell.source, source)
    return notebook


def write(folder: Path = pages.CHAPTERS, record: Record | None = None) -> list[Path]:
    """Bring the figures in all texts up to date, and return the files that changed."""
    record = record or records.load(records.DEFAULT_GPU)
    changed = []
    for path in (*pages.paths(folder), *sorted(folder.glob("*.md")), folder.parent / "index.md"):
        before = path.read_text(encoding="utf-8")
        if path.suffix == ".md":
            after = filled(before, Source(record))
        else:
            notebook = fill(nbformat.reads(before, as_version=4), record)
            after = nbformat.writes(notebook).rstrip("\n") + "\n"
        if INLINE.search(before) and after != before:
            replace_text(path, after)
            changed.append(path)
    return changed


def origins(path: Path) -> Iterator[tuple[str, str]]:
    """For each figure of a page: its name, and one line on where it comes from."""
    text = path.read_text(encoding="utf-8")
    if not INLINE.search(text):
        return
    record = records.load(records.DEFAULT_GPU)
    cells = nbformat.reads(text, as_version=4).cells if path.suffix == ".ipynb" else []
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"] or [text]
    source = Source(record, cells)
    for found in INLINE.finditer("\n".join(texts)):
        figure = evaluate(found["name"], source)
        told = f" {(figure.record or record).caption(*figure.rows)}" if figure.rows else ""
        yield found["name"], f"{figure.said}.{told}"

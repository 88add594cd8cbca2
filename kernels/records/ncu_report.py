"""The profiler's own report, as ``ncu --set full`` prints it: sections, their tables, its advice.

``python -m kernels profile RUNG --engine cpp --report FILE`` writes one; those of the course lie in
``chapters/records/reports``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from kernels.records.record import folder

__all__ = ["Report", "Section", "parse", "read"]


@dataclass(frozen=True)
class Section:
    """One section of a report.

    Attributes
    ----------
    text : str
        As it was printed.
    metrics : dict of str to (str, str)
        Value and unit by the metric's label, both as printed: ``("2.09", "ms")``.
    advice : tuple of str
        What the profiler's rules say, each in one line: ``"OPT Est. Speedup: …"``.
    """

    text: str
    metrics: dict[str, tuple[str, str]]
    advice: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """What was profiled, on what and when, and the sections by their titles, in order."""

    about: str
    sections: dict[str, Section]

    def value(self, label: str, section: str = "") -> str:
        """The value and unit of a metric, in one section or in the first that has it.

        Raises
        ------
        LookupError
            If no section has a metric of this label.
        """
        for title, found in self.sections.items():
            if label in found.metrics and section in ("", title):
                return " ".join(found.metrics[label]).strip()
        raise LookupError(f"the report has no metric {label!r}")


def read(name: str, where: Path | None = None) -> Report | None:
    """The stored report of a kernel, such as ``"tiled"``; None where there is none."""
    path = (where or folder() / "reports") / f"{name}.txt"
    return parse(path.read_text(encoding="utf-8")) if path.is_file() else None


def parse(text: str) -> Report:
    """Read a report of one launch.

    Raises
    ------
    ValueError
        If the text has no section.
    """
    about, *parts = re.split(r"^    Section: (.+)\n", text, flags=re.MULTILINE)
    if not parts:
        raise ValueError("no section in this report: write it with kernels profile --report")
    titles, bodies = parts[::2], parts[1::2]
    sections = {title: _section(body) for title, body in zip(titles, bodies, strict=True)}
    return Report(about.partition("\n")[0], sections)


def _section(body: str) -> Section:
    lines = [line.rstrip() for line in body.splitlines()]
    metrics: dict[str, tuple[str, str]] = {}
    advice: list[str] = []
    columns: list[tuple[int, int]] = []
    for line in lines:
        if re.fullmatch(r" *-+ -+ -+", line):
            columns = [match.span() for match in re.finditer("-+", line)]
        elif re.match(r" +(?:OPT|INF|WRN) ", line):
            columns = []
            advice.append(" ".join(line.split()))
        elif advice and not columns:
            if not re.match(r" *-", line):
                advice[-1] = f"{advice[-1]} {line.strip()}".strip()
        elif columns and line.strip():
            label, unit, value = (line[start:end].strip() for start, end in columns)
            metrics[label] = value, unit
    metrics.pop("Metric Name", None)
    return Section("\n".join(lines).strip("\n"), metrics, tuple(advice))

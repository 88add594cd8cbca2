"""The ladder on the front page: its table between markers, and its chart, written from a record."""

from __future__ import annotations

import re
from pathlib import Path

from kernels.lab import plots
from kernels.lab.records import Record, RecordError, replace_text
from kernels.lab.units import percent

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "index.md")
CHARTS = {"ladder.svg": "#1f2328", "ladder-dark.svg": "#f0f6fc"}  # file to colour of its text
MARKERS = re.compile(r"(<!-- ladder -->).*?(<!-- /ladder -->)", re.S)


def table(record: Record) -> str:
    """The ladder as a Markdown table: a row a rung, a column a size."""
    timings = record.rows("timings")
    sizes = sorted({row.M for row in timings if row.M == row.N == row.K})
    lines = [
        f"| rung | language | {' | '.join(f'{size}³' for size in sizes)} |",
        "| --- | --- |" + " ---: |" * len(sizes),
    ]
    versions = {}
    for size in sizes:
        for row in record.ladder(M=size):
            key = (plots.rung_label(row), plots.ENGINE_TITLES[row.engine])
            versions.setdefault(key, {})[size] = row
    for (label, language), rows in versions.items():
        cells = [
            f"{rows[size].gflops:,.0f}".replace(",", " ")
            + ("" if label == "cuBLAS" else f" ({percent(rows[size].share)})")
            if size in rows
            else ""
            for size in sizes
        ]
        spoken = "library" if label == "cuBLAS" else language
        lines.append(f"| {label} | {spoken} | {' | '.join(cells)} |")
    told = "GFLOP/s in fp32, medians, and the share of cuBLAS measured in the same run."
    return "\n".join([*lines, "", f"{told} {record.caption()}"])


def write(record: Record, root: Path = ROOT) -> list[Path]:
    """Rewrite the tables between the markers of the front pages, and draw the chart.

    Returns
    -------
    list of Path
        The files that were written.

    Raises
    ------
    RecordError
        When nothing is recorded, or no page has the markers.
    """
    if not record:
        raise RecordError(record.caption())
    written = []
    for name in PAGES:
        page = root / name
        text = page.read_text(encoding="utf-8") if page.exists() else ""
        if MARKERS.search(text):
            new = MARKERS.sub(lambda found: f"{found[1]}\n{table(record)}\n{found[2]}", text)
            replace_text(page, new)
            written.append(page)
    if not written:
        raise RecordError("README.md lacks the markers <!-- ladder --> and <!-- /ladder -->")
    largest = max(row.M for row in record.rows("timings", rung="naive"))
    for name, ink in CHARTS.items():
        path = root / "site" / "assets" / name
        figure = plots.ladder(record.ladder(M=largest))
        replace_text(path, '<?xml version="1.0" encoding="utf-8"?>\n' + plots.svg(figure, ink))
        written.append(path)
    return written

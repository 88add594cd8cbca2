"""The page *Your GPU*: its forms, the rungs in WGSL for its scripts, and the recorded ladder.

The forms and the tables are in the page from the start: nothing moves when the scripts start, and
without them, or without WebGPU, a reader finds the record and one line that says what to do.
"""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from bs4 import BeautifulSoup, Tag
from sphinx.application import Sphinx

from kernels import records
from kernels.basics.units import percent, quantity
from kernels.budget import counts
from kernels.lab.widgets.stills import ENGINES, StillTable
from kernels.rungs.order import LADDER
from kernels.rungs.webgpu.ladder import SHADERS, described

PAGE = "chapters/your-gpu"
SCRIPTS = ("widgets/common", "gpu/wgsl", "gpu/numbers", "gpu/device", "gpu/beside", "gpu/page")
TEMPLATES = Path(__file__).resolve().parents[1] / "templates"
WITHOUT = (
    "To run it, this page needs JavaScript and a browser with WebGPU. "
    "The ladder as it was recorded stands at the end of the page."
)
#: The size that is shown of the record: one that a large GPU takes in the browser, too.
SIZE = 2048
#: Those of the recorded ladder in WGSL.
SIZES = (1024, 2048, 4096)
COUNTS = ("instructions", "wavefronts", "fp32")


def fill(body: Tag) -> None:
    """Put forms, tables and data into their places in the page."""
    first = next(iter(SHADERS.values()))
    parts = {
        "ladder": Template(template("your-gpu")).substitute(without=WITHOUT),
        "single": Template(template("your-gpu-single")).substitute(
            without=WITHOUT,
            rungs="".join(option(name, rung.title) for name, rung in SHADERS.items()),
            choices=option("0", wording(first.choices[0])),
            text=escape(first.text),
        ),
        "beside": Template(template("your-gpu-beside")).substitute(without=WITHOUT),
        "recorded": "".join(map(scrolling, recorded(records.load()))),
    }
    for name, markup in parts.items():
        place = body.find(attrs={"data-gpu": name})
        place.clear()
        place.append(BeautifulSoup(markup, "html.parser"))
    data = json.dumps(described() | beside(), ensure_ascii=False).replace("</", "<\\/")
    element = f'<script type="application/json" id="gpu-rungs">{data}</script>'
    body.append(BeautifulSoup(element, "html.parser"))


def beside() -> dict[str, Any]:
    """What the page compares a GPU with: the records, less what it does not show, and the counts.

    Counts are those of the default GPU's profiles in float32: for an FMA of a warp.
    """
    names = sorted(records.names(), key=lambda name: name != records.DEFAULT_GPU)
    known = map(records.load, names)
    rows = records.load().rows("profiles", dtype="float32", M=SIZE, N=SIZE, K=SIZE)
    counted = [
        {
            **{key: row[key] for key in ("rung", "engine", "options")},
            **{key: getattr(counts.of_profile(row), key) for key in COUNTS},
        }
        for row in rows
        if row["rung"] in LADDER
    ]
    return {
        "recorded": [less(record) for record in known if "timings" in record.tables],
        "counted": counted,
        "titles": {name: rung.title for name, rung in LADDER.items()},
    }


def less(record: records.Record) -> dict[str, Any]:
    """Of a record what the page shows: each rung in WGSL, and in CUDA with its default options."""
    defaults = [
        (name, engine, rung.default(engine))
        for name, rung in LADDER.items()
        if "float32" in rung.dtypes
        for engine in rung.engines
    ]
    timings = [
        row
        for rung, engine, options in defaults
        for row in record.rows("timings", rung=rung, engine=engine, options=options,
                               dtype="float32", M=SIZE, N=SIZE, K=SIZE, correct=True)
    ]  # fmt: skip
    wgsl = (
        [row for size in SIZES for row in fastest(record, size)]
        if "webgpu" in record.tables
        else []
    )
    return {
        "provenance": {key: record.provenance[key] for key in ("gpu", "date")},
        "device": {key: record.device.get(key) for key in ("sms", "clock", "fp32_peak")},
        "levels": [
            dict(row) for row in record.tables.get("levels", ()) if row["level"] == "shared"
        ],
        "timings": [shown(row) for row in timings],
        "webgpu": [shown(row) for row in wgsl],
    }


def shown(row: records.Row) -> dict[str, Any]:
    """The fields of a timing that the page reads."""
    names = ("rung", "engine", "options", "dtype", "M", "N", "K", "clock")
    kept = {name: row[name] for name in names if row.get(name) is not None}
    return kept | {"seconds": {"median": row.median}}


def scrolling(table: StillTable) -> str:
    """A table that may be wider than a telephone, under a caption that isn't."""
    caption = escape(table.caption)
    bare = table.html().replace(f"<caption>{caption}</caption>", "")
    return f'<p>{caption}</p><div class="pst-scrollable-table-container" tabindex="0">{bare}</div>'


def template(name: str) -> str:
    """The text of one of the forms."""
    return (TEMPLATES / f"{name}.html").read_text(encoding="utf-8")


def option(value: str, text: str) -> str:
    """An entry of a list to choose from."""
    return f'<option value="{value}">{escape(text)}</option>'


def wording(options: dict[str, int]) -> str:
    """Options in words, as wgsl.js writes them."""
    return ", ".join(f"{name} {value}" for name, value in options.items())


def recorded(record: records.Record) -> list[StillTable]:
    """The rungs of the page as recorded: in CUDA, and in WGSL where that is recorded."""
    followed = {rung.follows for rung in SHADERS.values()}
    cuda = [row for row in record.ladder(M=SIZE) if row["rung"] in followed]
    tables = [ladder(cuda, f"CUDA at {SIZE}³, the fastest options. {record.caption(*cuda)}")]
    if "webgpu" in record.tables:
        wgsl = fastest(record, SIZE)
        about, (row, *_) = record.provenance, wgsl
        caption = (
            f"WGSL at {SIZE}³, the fastest options. Recorded on {about['gpu']}, {row.date[:10]} "
            f"({row.backend}, driver {about['driver']}, wgpu {row.wgpu})."
        )
        tables.append(ladder(wgsl, caption))
    return tables


def fastest(record: records.Record, size: int) -> list[records.Row]:
    """The rows in WGSL of one size: each rung with the fastest of its measured options."""
    rows = record.rows("webgpu", M=size, N=size, K=size, correct=True)
    best = {row["rung"]: row for row in sorted(rows, key=lambda row: row.gflops)}
    return [best[name] for name in SHADERS if name in best]


def ladder(rows: list[records.Row], caption: str) -> StillTable:
    """A table of recorded rungs, beside the naive kernel of the same language.

    The peak is that of the data sheet.
    """
    naive = {row.engine: row.gflops for row in rows if row["rung"] == "naive"}
    peak = records.load().device.get("fp32_peak")
    cells = []
    for row in rows:
        speed = 1e9 * row.gflops
        cells.append(
            (
                title(row),
                ENGINES.get(row.engine, "WGSL"),
                quantity(speed, "FLOP/s"),
                f"{row.gflops / naive[row.engine]:.2f} ×",
                percent(speed / peak) if peak else "–",
                wording(row["options"]),
            )
        )
    headings = ("kernel", "language", "speed", "beside naive", "of the peak", "options")
    return StillTable(caption, headings, cells)


def title(row: records.Row) -> str:
    """What the page calls a recorded rung."""
    return (SHADERS if row.engine == "wgsl" else LADDER)[row["rung"]].title


def outdated(app: Sphinx, *_: Any) -> list[str]:
    """The page is written on every build: the record or a kernel may have changed."""
    return [PAGE] if PAGE in app.env.found_docs else []

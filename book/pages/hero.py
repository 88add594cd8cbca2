"""The first screen of the book: six kernels, what each loads, and how far it gets.

Six radio buttons hold what is chosen and hero.css draws it: the first paint is complete, and keys
work without a script. Every number comes from the record.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template

from bs4 import BeautifulSoup, Tag

from kernels import records
from kernels.basics.units import percent, quantity
from kernels.records import Row
from kernels.rungs.order import ENGINE_TITLES

FOLDER = Path(__file__).resolve().parents[1] / "templates"
SIZE = 4096
#: The bar ends a little beyond the fastest kernel.
BEYOND = 1.02


@dataclass(frozen=True)
class Step:
    """A rung as the first screen shows it: a line of its own file, what of it is new, and why."""

    rung: str
    engine: str
    title: str
    line: str
    new: str
    says: str


STEPS = (
    Step(
        "swapped",
        "numba",
        "Naive, uncoalesced",
        "row = uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)",
        "row",
        "Neighbouring threads read down a column of A: most of what a load brings is wasted.",
    ),
    Step(
        "naive",
        "numba",
        "Naive",
        "col = uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)",
        "col",
        "Two words swapped. Neighbouring threads read neighbouring numbers of B.",
    ),
    Step(
        "tiled",
        "numba",
        "Tiled",
        "sA = cuda.shared.array((tile, tile), float32)",
        "cuda.shared.array",
        "A block loads each number once, and a whole row of its threads uses it.",
    ),
    Step(
        "thread_tiled",
        "numba",
        "Thread tile",
        "acc[i, j] += a[i] * b[j]",
        "a[i] * b[j]",
        "A thread loads two edges and computes the rectangle between them.",
    ),
    Step(
        "vectorized",
        "numba",
        "16-byte loads",
        "p, q, r, s = load4_guarded(A, row0 + row, k0 + k, wide_A)",
        "load4_guarded",
        "The same numbers, four per instruction.",
    ),
    Step(
        "async_tiled",
        "cpp",
        "Async copies",
        "cp.async.cg.shared.global [%0], [%1], 16, %2;",
        "cp.async",
        "The next tiles are on their way while these are multiplied.",
    ),
)


def best(record: records.Record, rung: str, engine: str) -> Row:
    """The fastest measured version of a rung at the first screen's size; tiled as on page 00."""
    if rung == "tiled":
        return record.timing(rung, engine, SIZE, tile=16)
    found = (row for row in record.ladder(M=SIZE) if (row.rung, row.engine) == (rung, engine))
    return next(found)


def fill(body: Tag) -> None:
    """Make the first screen of the front page of its title, its first paragraph and its link."""
    start = body.select_one("a.start")
    lede = body.h1.find_next("p")
    page = BeautifulSoup(markup(records.load()), "html.parser")
    place = page.select_one(".say")
    body.h1.insert_before(*page.contents)
    for part in (body.h1, lede, start.parent):
        place.append(part.extract())


def marked(step: Step) -> str:
    """A step's line in HTML, with what is new in it marked."""
    new = escape(step.new)
    return escape(step.line).replace(new, f"<mark>{new}</mark>", 1)


def markup(record: records.Record) -> str:
    """The first screen, less its title, in HTML."""
    about = record.provenance
    rows = [best(record, step.rung, step.engine) for step in STEPS]
    library = best(record, "cublas", "library")
    shares = [row.share for row in rows]
    end = max(*shares, 1) * BEYOND
    steps = list(enumerate(zip(STEPS, rows, strict=True), 1))
    return Template((FOLDER / "hero.html").read_text("utf-8")).substitute(
        style=(FOLDER / "hero.css").read_text("utf-8"),
        shares="".join(f"--s{i}:{share / end:.4f};" for i, share in enumerate(shares, 1)),
        library=f"{1 / end:.4f}",
        inputs="".join(
            f'<label><input type="radio" name="rung" id="h{i}"{" checked" if i == 1 else ""} '
            f'aria-describedby="t{i} d{i}"><span>{step.title}</span></label>'
            for i, (step, _) in steps
        ),
        cards="".join(
            f'<div class="k{i}"><b>{step.title}</b><i>{ENGINE_TITLES[step.engine]}</i>'
            f'<code>{marked(step)}</code><p id="t{i}">{step.says}</p></div>'
            for i, (step, _) in steps
        ),
        speeds="".join(
            f'<p class="k{i}" id="d{i}"><b>{percent(row.share)}</b>'
            f"<span>all of C in {quantity(row.median, 's')}</span></p>"
            for i, (_, row) in steps
        ),
        ticks="".join(f'<i style="--at:var(--s{i})"></i>' for i, _ in steps[:-1]),
        cublas=quantity(library.median, "s"),
        size=SIZE,
        source=f"{escape(about['gpu'])}, {about['date'][:10]}",
    )

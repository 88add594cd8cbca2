"""Figures in running text: what a name gives, what is refused, and that no page is out of date."""

import nbformat
import pytest

from authoring import inline
from authoring.inline import InlineError, Source, evaluate, filled
from kernels import records
from kernels.lab.pages import CHAPTERS, paths
from kernels.records import Record, RecordError, Row

TIMING = {"M": 4096, "N": 4096, "K": 4096, "dtype": "float32", "cublas_gflops": 50_000}
RECORD = Record(
    "made-up",
    {"gpu": "Made-up", "date": "2026-01-02"},
    tables={
        "timings": [
            Row(rung="tiled", engine="numba", options={"tile": 32}, gflops=8_661, **TIMING),
            Row(rung="tiled", engine="numba", options={"tile": 16}, gflops=4_330.5, **TIMING),
            Row(rung="cublas", engine="library", options={}, gflops=50_000, **TIMING),
        ],
        "latency": [Row(space="shared", ns=11.7, cycles=23.2)],
        "transpose": [Row(what="tiled", seconds={"median": 5.452e-4}, share_of_copy=0.2354)],
    },
)
CELL = nbformat.v4.new_code_cell(id="sectors")
CELL.outputs = [nbformat.v4.new_output("stream", text="swapped   33 sectors per k\n")]
SOURCE = Source(RECORD, [CELL])


@pytest.mark.parametrize(
    "name, text",
    [
        ('speed("tiled", tile=32)', "8.66 TFLOP/s"),
        ('digits(speed("tiled", tile=32), 2)', "8.7 TFLOP/s"),
        ('share("tiled", tile=32)', "17 %"),
        ('speed("tiled", tile=32) / speed("tiled", tile=16)', "2"),
        ('digits(speed("tiled", tile=32) / speed("tiled", tile=16), 1)', "2.0"),
        ('as_share(speed("tiled", tile=16) / speed("cublas"))', "8.7 %"),
        ('row("latency", "ns", space="shared")', "11.7 ns"),
        ('row("latency", "cycles", space="shared") * 2', "46.4"),
        ('row("transpose", "seconds", what="tiled")', "545 µs"),
        ('row("transpose", "share_of_copy", what="tiled")', "24 %"),
        (r"cell('sectors', r'swapped +(\d+)')", "33"),
        ("268_435_456 / 2", "134,217,728"),
    ],
)
def test_a_name_gives_its_figure(name, text):
    assert str(evaluate(name, SOURCE)) == text


@pytest.mark.parametrize(
    "name, told",
    [
        ("speed(", "cannot be read"),
        ('open("x")', "open is no source of figures: use speed"),
        ("record.tables", "only calls, numbers"),
        ('_profile("tiled", "numba", 1)', "_profile is no source"),
        ('cell("nowhere", "x")', "is no cell of the page"),
        ('cell("sectors", "naive")', "prints nothing like 'naive'"),
        ('speed("tiled", tile=32) / speed', "only calls"),
        ("speed()", "cannot be computed"),
    ],
)
def test_what_cannot_be_read_is_named(name, told):
    with pytest.raises(InlineError, match=told):
        evaluate(name, SOURCE)


def test_a_stall_is_a_share_of_a_warps_time():
    source = Source(records.load(records.DEFAULT_GPU))
    row = records.load(records.DEFAULT_GPU).row(
        "profiles", rung="tiled", engine="numba", M=2048, tile=16
    )
    share = evaluate('stall("barrier", "tiled", tile=16)', source)
    assert share.number == row["stalls"]["barrier"] / sum(row["stalls"].values())
    assert (share.unit, share.rows) == ("%", (row,))


def test_a_row_that_is_not_recorded_is_named():
    with pytest.raises(RecordError, match="tile=8"):
        evaluate('speed("tiled", tile=8)', SOURCE)


def test_no_text_leans_on_an_output_that_varies():
    varies = nbformat.v4.new_code_cell(id="here", metadata={"tags": [inline.MACHINE]})
    with pytest.raises(InlineError, match="output varies"):
        evaluate('cell("here", "x")', Source(RECORD, [varies]))


def test_a_text_is_filled_and_a_filled_text_stays():
    text = 'from 2 to <!-- =share("tiled", tile=32) -->?<!-- = --> of cuBLAS, and\non'
    once = filled(text, SOURCE)
    assert once == text.replace("?", "17 %")
    assert filled(once, SOURCE) == once


def test_a_line_that_begins_with_a_figure_is_refused():
    with pytest.raises(InlineError, match="line 2 begins with a figure"):
        filled('That is\n<!-- =share("tiled", tile=32) -->?<!-- = --> of cuBLAS', SOURCE)


@pytest.mark.parametrize(
    "path",
    [*paths(), *sorted(CHAPTERS.glob("*.md")), CHAPTERS.parent / "index.md"],
    ids=lambda path: path.stem,
)
def test_every_figure_in_a_text_is_what_the_record_holds(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = nbformat.reads(text, as_version=4).cells
        texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    else:
        cells, texts = [], [text]
    source = Source(records.load(records.DEFAULT_GPU), cells)
    assert [filled(each, source) for each in texts] == texts, "run `python -m kernels readme`"
    assert all(origin.endswith(".") for _, origin in inline.origins(path))

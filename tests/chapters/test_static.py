"""What a stored chapter may contain, checked without running it."""

import re

import nbformat
import pytest

from authoring.notebooks import GPU_TAG, normalise
from book import cells
from kernels.basics.files import ROOT
from kernels.lab.pages import CHAPTERS, paths
from tests.chapters.figures import Figure, figures, files, shown, unheld

NOTEBOOKS = paths()
PAGES = sorted([*ROOT.glob("*.md"), *CHAPTERS.glob("*.md")])
#: What a figure in a text may come from: records and data sheets.
DATA = [
    path for held in ("chapters/records/*.json", "kernels/*/*.json") for path in ROOT.glob(held)
]
#: A Markdown cell that invents round figures for the sake of an exercise says so with this tag.
SUPPOSED = "supposed"
TAGS = {"nbval-ignore-output", "raises-exception", GPU_TAG, SUPPOSED}
KNOWN_TO_THE_BOOK = re.compile(r"(hide|remove|scroll|full|margin|exercise|solution)[\w-]*")
SPACED = re.compile(r"(?<![\w.,])[1-9]\d{0,2}[ \u00a0\u202f]\d{3}(?!\w)")
#: Words for the machine that ran a cell: on the published page, they'd be taken for the reader's.
HERE = re.compile(r"measured here|size here|this machine's GPU", re.IGNORECASE)
MACHINE = re.compile(r"/(?:home|root|Users|tmp|work|mnt|var|opt)/\w|[A-Z]:\\\\?Users|ipykernel_\d")


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    return nbformat.read(request.param, as_version=4)


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def outputs_text(cell):
    for output in cell.outputs:
        data = output.get("data", {})
        yield from (output.get("text", ""), output.get("evalue", ""))
        yield from (value for kind, value in data.items() if kind.startswith("text/"))
        yield from output.get("traceback", ())


def test_kernel_cells_are_their_files(notebook):
    different = [cell.id for cell, _ in cells.stale(notebook)]
    assert not different, f"run `make cells`: {', '.join(different)}"


def test_a_changed_kernel_cell_is_seen():
    cell = nbformat.v4.new_code_cell("x = 1", metadata={"kernel": "kernels/rungs/naive.py::naive"})
    found = cells.stale(nbformat.v4.new_notebook(cells=[cell]))
    assert found[0][1].startswith("@cuda.jit\ndef naive(A, B, C):")
    assert found[0][1].endswith("C[row, col] = acc")


@pytest.mark.parametrize(
    "name, told",
    [("kernels/nowhere.py::x", "no file"), ("kernels/rungs/naive.py::naiv", "naive$")],
)
def test_an_unknown_kernel_is_named(name, told):
    with pytest.raises(cells.KernelNotFound, match=told):
        cells.kernel_text(name)


#: Python that a Markdown cell shows: the lines that are new, of a kernel that stands elsewhere.
EXCERPT = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def stripped(text):
    """The lines of some code without their indentation, comments on lines of their own left out."""
    lines = [line.strip() for line in text.split("\n")]
    return "\n".join(line for line in lines if line and not line.startswith("#"))


def strangers(notebook):
    """Parts of excerpts, between empty lines, that are lines of no cell and of no kernel."""
    files = [path.read_text(encoding="utf-8") for path in ROOT.glob("kernels/*/*.py")]
    known = [stripped(text) for text in [*(cell.source for cell in code(notebook)), *files]]
    shown = [
        stripped(part)
        for cell in notebook.cells
        if cell.cell_type == "markdown"
        for excerpt in EXCERPT.findall(cell.source)
        for part in excerpt.split("\n\n")
    ]
    return [part for part in shown if not any(part in text for text in known)]


def test_excerpts_are_lines_of_a_kernel(notebook):
    assert not strangers(notebook), "copy these lines from the kernel that they are taken from"


def test_a_stale_excerpt_is_seen():
    kernel = nbformat.v4.new_code_cell("def f(a):\n    b = a + 1\n    return b")
    shown = nbformat.v4.new_markdown_cell("```python\n# f\nb = a + 1\n\nb = a + 2\n```")
    assert strangers(nbformat.v4.new_notebook(cells=[kernel, shown])) == ["b = a + 2"]


def test_no_figure_of_performance_is_typed(notebook):
    known = files(DATA)
    known += shown(notebook)
    typed = {
        cell.id: unheld(cell.source, known)
        for cell in notebook.cells
        if cell.cell_type == "markdown" and SUPPOSED not in cell.metadata.get("tags", ())
    }
    typed = {cell: found for cell, found in typed.items() if found}
    assert not typed, f"print these from the record, or leave them out: {typed}"


#: The fact-check quotes figures of others, and says under each table when its own were measured.
@pytest.mark.parametrize(
    "path", [path for path in PAGES if path.stem != "fact-check"], ids=lambda path: path.name
)
def test_no_figure_of_performance_is_typed_on_pages(path):
    known = files(DATA)
    assert not unheld(path.read_text(encoding="utf-8"), known)


@pytest.mark.parametrize(
    "text, value, kind",
    [
        ("about 8.61 TFLOP/s on it", 8.61e12, "FLOP/s"),
        ("copies 4.2\u202fTB/s", 4.2e12, "B/s"),
        ("takes 29 µs.", 29e-6, "s"),
        ("9 105 GFLOP/s", 9.105e12, "FLOP/s"),
        ("reaches 17 % of cuBLAS", 0.17, "share"),
        ("936GB/s", 936e9, "B/s"),
    ],
)
def test_figures_are_found(text, value, kind):
    (found,) = figures(text)
    assert (found.value, found.kind) == (pytest.approx(value), kind)
    assert unheld(text, []) == [found.text]
    assert unheld(text, [Figure("", value * 1.3, 0.0, kind)]) == [found.text]
    assert unheld(text, [Figure("", value, 0.0, kind)]) == []


@pytest.mark.parametrize("text", ["64 KB", "32 threads", "2·M·N·K FLOP", "chapter 3 msg", "48 ms2"])
def test_counts_and_sizes_are_no_figures(text):
    assert list(figures(text)) == []


def test_thousands_are_set_off_by_commas(notebook):
    prose = [cell for cell in notebook.cells if cell.cell_type == "markdown"]
    spaced = {cell.id: SPACED.findall(cell.source) for cell in prose if SPACED.search(cell.source)}
    assert not spaced


@pytest.mark.parametrize("text", ["65 536 registers", "100\u00a0000", "49\u202f152 bytes"])
def test_spaces_between_thousands_are_seen(text):
    assert SPACED.search(text)


def test_what_is_folded_in_the_book_is_folded_in_jupyterlab_and_colab(notebook):
    """Colab folds a form: a cell with that view whose first line is its title."""
    for cell in notebook.cells:
        folded = "hide-cell" in cell.metadata.get("tags", ())
        form = cell.metadata.get("cellView") == "form"
        titled = bool(re.match(r"# @title \S", cell.source))
        hidden = cell.metadata.get("jupyter", {}).get("source_hidden", False)
        if cell.cell_type == "code":
            assert form == titled == hidden == folded, (
                f"cell {cell.id} is folded in some places only: it needs the tag hide-cell, "
                '"jupyter": {"source_hidden": true}, "cellView": "form" and "# @title …" on line 1'
            )
        else:
            assert not form and not titled, (
                f"the Markdown cell {cell.id} needs no form, only its tag"
            )


RECORD = "run `.venv/bin/python -m kernels record --only NN` (without a GPU: with `--backend cpu`)"


def test_every_cell_was_run(notebook):
    counts = [cell.execution_count for cell in code(notebook)]
    assert counts == list(range(1, len(counts) + 1)), f"its cells should be executed: {RECORD}"


def test_errors_stand_only_where_they_are_the_point(notebook):
    wrong = []
    for cell in code(notebook):
        raised = any(output.output_type == "error" for output in cell.outputs)
        if raised != ("raises-exception" in cell.metadata.get("tags", ())):
            wrong.append(cell.id)
    assert not wrong


def test_outputs_hold_no_path_of_a_machine(notebook):
    found = {
        cell.id: MACHINE.search(text)[0]
        for cell in code(notebook)
        for text in outputs_text(cell)
        if MACHINE.search(text)
    }
    assert not found


def test_outputs_name_the_device_that_measured(notebook):
    unnamed = [cell.id for cell in code(notebook) if HERE.search("\n".join(outputs_text(cell)))]
    assert not unnamed, f"run these cells again on a GPU: {', '.join(unnamed)}"


def test_outputs_are_as_the_recording_stores_them(notebook):
    before = nbformat.writes(notebook)
    assert nbformat.writes(normalise(notebook)) == before, (
        f"it should be as a recording stores it: {RECORD}"
    )


def test_ids_are_words_and_differ(notebook):
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    assert [name for name in ids if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)] == []


def test_tags_are_known_and_few_cells_need_a_gpu(notebook):
    tags = [tag for cell in notebook.cells for tag in cell.metadata.get("tags", ())]
    assert tags.count(GPU_TAG) <= 3 and tags.count(SUPPOSED) <= 3
    unknown = {tag for tag in tags if tag not in TAGS and not KNOWN_TO_THE_BOOK.fullmatch(tag)}
    assert not unknown
    comments = [cell.id for cell in code(notebook) if re.search(r"# *NBVAL_", cell.source)]
    assert not comments, "say it with a tag"

"""Executed chapters: stored the same each time, with no trace of the machine, all or none."""

from pathlib import Path

import nbformat
import pytest

from authoring import notebooks
from authoring.notebooks import ChapterError
from kernels.lab.widgets.quiz import load


def chapter(path, *cells):
    """Write a notebook of (id, source, tags)."""
    made = [
        nbformat.v4.new_code_cell(source, id=name, metadata={"tags": list(tags)} if tags else {})
        for name, source, *tags in cells
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=made), path)
    return path


@pytest.fixture(scope="module")
def twice(tmp_path_factory):
    """A chapter with streams, a progress bar, widgets, an object and an error, executed twice."""
    path = chapter(
        tmp_path_factory.mktemp("chapters") / "99-test.ipynb",
        ("streams", "import sys\nfor i in range(3):\n    print(i, flush=True)"),
        ("bar", "for i in range(9):\n    print(f'\\r{i} of 9', end='', file=sys.stderr)\nprint()"),
        ("widget", "from kernels.lab.widgets import Quiz\nQuiz('01-hardware')"),
        ("other-widgets", "import ipywidgets\nipywidgets.HBox([ipywidgets.IntSlider()])"),
        ("thing", "object()"),
        ("wrong", "1 / 0", "raises-exception"),
        ("place", f"print({str(notebooks.ROOT / 'kernels')!r}, {str(Path.home() / 'x')!r})"),
        ("on-gpu", "raise SystemError", "gpu"),
    )
    return [notebooks.execute(path, cpu=True) for _ in range(2)]


def cell(notebook, name):
    return next(cell for cell in notebook.cells if cell.id == name)


def test_two_runs_store_the_same(twice):
    one, two = map(nbformat.writes, twice)
    assert one == two
    assert nbformat.writes(notebooks.normalise(twice[0])) == one


def test_cells_are_counted_and_streams_joined(twice):
    assert [c.execution_count for c in twice[0].cells] == [1, 2, 3, 4, 5, 6, 7, 8]
    (output,) = cell(twice[0], "streams").outputs
    assert output.text == "0\n1\n2\n"


def test_progress_bars_paths_and_addresses_are_left_out(twice):
    assert cell(twice[0], "bar").outputs == []
    assert cell(twice[0], "place").outputs[0].text == "kernels ~/x\n"
    assert cell(twice[0], "thing").outputs[0].data["text/plain"] == "<object at 0x…>"


def test_an_error_keeps_its_last_line(twice):
    (output,) = cell(twice[0], "wrong").outputs
    assert output.traceback == ["ZeroDivisionError: division by zero"]


def test_of_a_widget_of_the_course_its_state_is_stored(twice):
    data = cell(twice[0], "widget").outputs[0].data
    assert data["text/plain"] == "Quiz(chapter='01-hardware')"
    assert "<code>Quiz(chapter='01-hardware')</code>" in data["text/html"]
    assert data.keys() == {"text/plain", "text/html"} and "widgets" not in twice[0].metadata
    ((kind, state),) = notebooks.stored_widgets(twice[0])
    assert (kind, state["questions"]) == ("Quiz", load("01-hardware"))
    assert state.keys() == {"chapter", "questions"}


def test_any_other_widget_is_stored_as_text(twice):
    data = cell(twice[0], "other-widgets").outputs[0].data
    assert data == {"text/plain": "HBox(children=(IntSlider(value=0),))"}


def test_no_string_of_a_state_ends_its_element():
    state = {"_esm": "x", "layout": "x", "text": "</script>\u2028", "list": [1, None]}
    html = notebooks.widget_html("Kind", state, "Kind(<a>)")
    assert html.count("</script>") == 1 and "&lt;a&gt;" in html
    output = nbformat.v4.new_output("display_data", {"text/html": html})
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(outputs=[output])])
    own = {"list": [1, None], "text": "</script>\u2028"}
    assert list(notebooks.stored_widgets(notebook)) == [("Kind", own)]


@pytest.mark.parametrize("path", notebooks.chapters(), ids=lambda path: path.stem)
def test_a_chapter_stores_no_script(path):
    text = path.read_text(encoding="utf-8")
    assert "_esm" not in text and "widget-state" not in text and "widget-view" not in text


def test_only_the_kernel_s_name_is_kept(twice):
    assert twice[0].metadata.language_info == {"name": "python", "pygments_lexer": "ipython3"}


def test_a_failing_cell_is_named(tmp_path):
    broken = "raise ValueError('no\\nway')"
    path = chapter(tmp_path / "99-x.ipynb", ("fine", "1"), ("broken", broken))
    with pytest.raises(ChapterError, match=r"^99-x, cell broken: ValueError: no way$"):
        notebooks.execute(path)


def test_chapters_are_found_by_number(tmp_path):
    for name in ("02-b", "01-a-deeper", "01-a", "draft"):
        folder = tmp_path / f"ch{name.removesuffix('-deeper').replace('-', '_')}"
        folder.mkdir(exist_ok=True)
        chapter(folder / f"{name}.ipynb")
    found = [path.stem for path in notebooks.chapters(folder=tmp_path)]
    assert found == ["01-a", "01-a-deeper", "02-b"], "a core page comes before its deeper pages"
    assert [path.stem for path in notebooks.chapters("01", tmp_path)] == ["01-a", "01-a-deeper"]
    assert [path.stem for path in notebooks.chapters("02", tmp_path)] == ["02-b"]
    with pytest.raises(ChapterError, match="no chapter '07' .* there are 01-a, 01-a-deeper, 02-b"):
        notebooks.chapters("07", tmp_path)


def test_nothing_is_replaced_until_all_is_there(tmp_path):
    old, new = tmp_path / "old.ipynb", tmp_path / "new.ipynb"
    old.write_text("old")
    new.write_text("new")
    with pytest.raises(FileNotFoundError, match="nothing was replaced"):
        notebooks.replace_all({old: new, tmp_path / "b": tmp_path / "missing"})
    assert old.read_text() == "old"
    notebooks.replace_all({old: new, tmp_path / "deep" / "c": new})
    assert old.read_text() == (tmp_path / "deep" / "c").read_text() == "new"


def test_a_stored_notebook_has_unix_newlines(tmp_path):
    path = tmp_path / "x.ipynb"
    notebooks.write(nbformat.v4.new_notebook(), path)
    assert path.read_bytes().endswith(b"}\n") and b"\r" not in path.read_bytes()

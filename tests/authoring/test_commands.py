"""``record``, ``readme`` and ``pages``: what they store, and one line for every bad input."""

import nbformat
import pytest

from authoring import commands, notebooks, record
from kernels import records
from kernels.backend import on_gpu
from kernels.lab.pages import path_of
from kernels.measure.bench import run

pytestmark = pytest.mark.usefixtures("recorded")
without_gpu = pytest.mark.skipif(on_gpu, reason="there is a GPU")


def call(capsys, line):
    code = commands.main(line.split())
    return code, *capsys.readouterr()


@pytest.mark.parametrize(
    "line, told",
    [
        ("record --backend cpu --preview /dev/null/x", "cannot write to the folder /dev/null/x"),
        ("record --only 77 --backend cpu", "no chapter '77' in chapters/: there are"),
        ("readme --gpu t4", "no record of GPU 't4'"),
        pytest.param("record", "recording needs an NVIDIA GPU", marks=without_gpu),
    ],
)
def test_bad_input_is_one_line(capsys, line, told):
    code, _, error = call(capsys, line)
    assert code == 2
    assert error.startswith("error: ") and error.count("\n") == 1
    assert told in error


def test_the_pages_are_counted(capsys):
    code, told, _ = call(capsys, "pages")
    assert code == 0
    for path in notebooks.chapters():
        assert f"\n{path.stem} " in told
    assert "minutes  words / 200 + lines / 10" in told


@pytest.fixture
def chapters(tmp_path, monkeypatch):
    """Two small chapters in a folder of their own; the second one can be made to fail."""
    folder = tmp_path / "chapters"
    for name, source in (("01-one", "print(2 + 3)"), ("02-two", "print('two')")):
        cell = nbformat.v4.new_code_cell(source, id="only")
        path = path_of(name, folder)
        path.parent.mkdir(parents=True)
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path)
    find = notebooks.chapters
    monkeypatch.setattr(notebooks, "chapters", lambda only: find(only, folder))
    monkeypatch.setattr(record, "STAGING", tmp_path / "staging")
    return folder


def stored(path):
    return nbformat.read(path, as_version=4).cells[0]


def test_record_stores_outputs(capsys, chapters):
    code, out, error = call(capsys, "record --backend cpu")
    assert code == 0, error
    assert stored(path_of("01-one", chapters)).outputs[0].text == "5\n"
    assert stored(path_of("02-two", chapters)).execution_count == 1


def test_preview_leaves_the_chapters_alone(capsys, chapters, tmp_path):
    code, *_ = call(capsys, f"record --backend cpu --only 01 --preview {tmp_path / 'there'}")
    assert code == 0
    assert stored(path_of("01-one", chapters)).outputs == []
    assert stored(tmp_path / "there" / "01-one.ipynb").outputs[0].text == "5\n"


def test_a_failing_chapter_changes_none(capsys, chapters):
    cell = nbformat.v4.new_code_cell("1 / 0", id="broken")
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path_of("02-two", chapters))
    code, _, error = call(capsys, "record --backend cpu")
    assert code == 2
    assert error == "error: 02-two, cell broken: ZeroDivisionError: division by zero\n"
    assert stored(path_of("01-one", chapters)).outputs == []


def test_an_interrupted_recording_changes_nothing(capsys, chapters, monkeypatch):
    execute = notebooks.execute

    def interrupted(path, **rest):
        if path.stem == "02-two":
            raise KeyboardInterrupt
        return execute(path, **rest)

    monkeypatch.setattr(notebooks, "execute", interrupted)
    code, _, error = call(capsys, "record --backend cpu")
    assert code == 130
    # Click ends the terminal's own ^C with a new line.
    assert error.strip().startswith("error: interrupted: no chapter and no record was changed")
    assert stored(path_of("01-one", chapters)).outputs == []


@pytest.fixture
def a_gpu_to_record(chapters, monkeypatch, tmp_path):
    """A stand-in for a GPU: it returns what was measured, and the chapters that were executed."""
    measured, executed = [], []

    def measure(folder):
        measured.append(folder)
        run.KEPT.write_text("{}")
        path = folder / "test-1.json"
        path.write_text("{}")
        return path

    def execute(path, *, environment, execute=notebooks.execute, **rest):
        executed.append(path.stem)
        on_cpu = environment | {"KERNELS_BACKEND": "cpu"}
        return execute(path, **rest | {"cpu": True}, environment=on_cpu)

    monkeypatch.setattr(run, "KEPT", tmp_path / "bench.json")
    monkeypatch.setattr(record, "on_gpu", True)
    monkeypatch.setattr(record, "measured", measure)
    monkeypatch.setattr(record, "write_front_pages", lambda record: None)
    monkeypatch.setattr(records, "folder", lambda: tmp_path / "records")
    monkeypatch.setattr(records, "load", lambda *_: None)
    monkeypatch.setattr(notebooks, "execute", execute)
    return measured, executed


def test_what_was_recorded_survives_a_failing_chapter(capsys, chapters, a_gpu_to_record, tmp_path):
    measured, executed = a_gpu_to_record
    text = (path_of("02-two", chapters)).read_text()
    cell = nbformat.v4.new_code_cell("1 / 0", id="broken")
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), path_of("02-two", chapters))
    assert call(capsys, "record")[0] == 2
    assert executed == ["01-one", "02-two"]
    assert run.KEPT.exists() and not (tmp_path / "records" / "test-1.json").exists()
    assert stored(path_of("01-one", chapters)).outputs == []
    (path_of("02-two", chapters)).write_text(text)
    code, _, error = call(capsys, "record")
    assert code == 0, error
    assert (tmp_path / "records" / "test-1.json").exists() and not run.KEPT.exists()
    assert len(measured) == 2, "asked again, it reads what was kept"
    assert executed[2:] == ["02-two"], "the first chapter was kept"
    assert stored(path_of("01-one", chapters)).outputs != []
    assert not list(record.STAGING.iterdir()), "nothing is left behind"


def test_a_chapter_that_changed_since_is_executed_again(capsys, chapters, a_gpu_to_record):
    _, executed = a_gpu_to_record
    one, two = path_of("01-one", chapters), path_of("02-two", chapters)
    good = two.read_text()
    two.write_text(good.replace("print('two')", "1 / 0"))
    assert call(capsys, "record")[0] == 2
    two.write_text(good)
    one.write_text(one.read_text().replace("2 + 3", "3 + 3"))
    assert call(capsys, "record")[0] == 0
    assert executed == ["01-one", "02-two", "01-one", "02-two"]
    assert stored(one).outputs[0].text == "6\n"

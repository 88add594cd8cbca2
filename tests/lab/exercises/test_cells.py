"""The cells of the chapters hold what the exercises hold, and solving fills the marked place."""

import ast
import re
import sys
from functools import cache

import nbformat
import pytest

import chapters
from kernels.lab.exercises import EXERCISES, catalogue
from kernels.lab.exercises.exercise import FROM, TO, KernelExercise, NumberExercise
from kernels.lab.pages import EXERCISE, chapter_of, paths

KERNELS = [name for name, e in EXERCISES.items() if isinstance(e, KernelExercise)]
NUMBERS = [name for name, e in EXERCISES.items() if isinstance(e, NumberExercise)]
PARTS = ("start", "solution")


PAGES = {path.stem: path for path in paths()}


@cache
def notebook(page):
    return nbformat.read(PAGES[page], as_version=4)


def every_mark(page):
    return [cell.metadata.get("exercise") for cell in notebook(page).cells]


def marks(page):
    return [mark for mark in every_mark(page) if mark]


@cache
def page_of(name):
    """The page that sets an exercise: its chapter's core page, or a deeper one."""
    chapter = EXERCISES[name].chapter
    ours = [page for page in PAGES if chapter_of(page) == chapter]
    found = [page for page in ours if f"{name}.start" in marks(page)]
    assert len(found) == 1, (
        f'give the cell of {chapter}.ipynb that sets {name} the metadata "exercise": '
        f'"{name}.start"; the pages that have such a cell: {", ".join(found) or "none"}'
    )
    return found[0]


def place(name, part):
    """The number of the cell that sets an exercise ("start") or solves it ("solution")."""
    page = page_of(name)
    found = [i for i, mark in enumerate(every_mark(page)) if mark == f"{name}.{part}"]
    assert len(found) == 1, (
        f'{page}.ipynb needs one cell with the metadata "exercise": "{name}.{part}", '
        f"and has {len(found)}"
    )
    return found[0]


def cell(name, part):
    return notebook(page_of(name)).cells[place(name, part)]


def words(text):
    """A text without Markdown's marks and line ends, for comparison."""
    return " ".join(re.sub(r"[`*]", "", text).split())


@pytest.fixture
def exercises_of(tmp_path, monkeypatch):
    """Finds the exercises of chapters whose only chapter has these files of exercises."""

    def find(**files):
        folder = tmp_path / "ch99_trial" / "exercises"
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / f"{name}.py").write_text(text)
        monkeypatch.setattr(chapters, "__path__", [str(tmp_path)])
        return catalogue.find(tmp_path)

    yield find
    for module in [name for name in sys.modules if name.startswith("chapters.ch99_trial")]:
        del sys.modules[module]


ONE = """from kernels.lab.exercises.exercise import NumberExercise

EXERCISE = NumberExercise("sum", "a sum", ("a", "b", "c"), "Add.", answers={"n": 2})
"""


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"first": ONE, "second": ONE}, "first.py and .*second.py both define 'sum': rename one"),
        ({"empty": "ANSWER = 42"}, "empty.py defines no exercise: give it an EXERCISE"),
    ],
)
def test_files_without_an_exercise_and_two_of_one_name_are_refused(files, message, exercises_of):
    with pytest.raises(ValueError, match=message):
        exercises_of(**files)


def test_a_file_in_the_folder_of_a_chapter_is_all_that_an_exercise_needs(exercises_of):
    assert {name: e.chapter for name, e in exercises_of(one=ONE).items()} == {"sum": "99-trial"}


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_has_a_start_and_after_it_a_folded_solution(name):
    assert place(name, "start") < place(name, "solution")
    metadata = cell(name, "solution").metadata
    folded = "hide-cell" in metadata.get("tags", ()) and metadata.get("jupyter", {})
    assert folded and folded.get("source_hidden"), (
        f"fold the cell {name}.solution: its metadata needs the tag hide-cell "
        'and "jupyter": {"source_hidden": true}'
    )


def test_every_marked_cell_belongs_to_an_exercise_of_its_chapter():
    marked = {(chapter_of(page), mark) for page in PAGES for mark in marks(page)}
    wanted = {(e.chapter, f"{name}.{part}") for name, e in EXERCISES.items() for part in PARTS}
    assert marked <= wanted, f"marked cells of no exercise of their chapter: {marked - wanted}"
    assert wanted <= marked, f"exercises without a marked cell: {wanted - marked}"


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_has_a_heading_that_is_counted(name):
    """The list of exercises and the reader's minutes count such headings, and no others."""
    above = notebook(page_of(name)).cells[: place(name, "start")]
    text = "\n".join(c.source for c in above if c.cell_type == "markdown")
    heading = re.findall(r"^##.*", text, re.MULTILINE)[-1]
    assert heading.startswith("### ") and EXERCISE.match(heading.removeprefix("### ")), (
        f'put a heading such as "### 7. {EXERCISES[name].title}" above {name}.start, '
        f"where {heading!r} is the last"
    )


@pytest.mark.parametrize("name", EXERCISES)
def test_the_three_hints_are_folded_on_the_page(name):
    exercise = EXERCISES[name]
    first, last = place(name, "start"), place(name, "solution")
    between = notebook(page_of(name)).cells[first : last + 1]
    page = words("\n".join(c.source for c in between if c.cell_type == "markdown"))
    assert len(set(exercise.hints)) == 3
    for number, hint in enumerate(exercise.hints, 1):
        assert f":::{{dropdown}} Hint {number} {words(hint)} :::" in page, (
            f"between {name}.start and {name}.solution, the page needs a Markdown cell with\n"
            f":::{{dropdown}} Hint {number}\n{hint}\n:::"
        )


@pytest.mark.parametrize("name", KERNELS)
def test_solving_fills_the_marked_place_and_nothing_else(name):
    exercise = EXERCISES[name]
    around = []
    for text in (exercise.start_text, exercise.solution_text):
        assert text.count(FROM) == text.count(TO) == 1, f"{name} needs one {FROM!r} and one {TO!r}"
        before, rest = text.split(FROM)
        around.append((before, rest.split(TO)[1]))
    assert around[0] == around[1]
    start, solution = cell(name, "start").source, cell(name, "solution").source
    for part, source, text in (
        ("start", start, exercise.start_text),
        ("solution", solution, exercise.solution_text),
    ):
        assert text in source, f"the cell {name}.{part} should hold\n{text}"
    asked = f'lab.exercises.check("{name}"'
    assert start.rstrip().split("\n")[-1].startswith(asked), f"{name}.start should end in {asked}"
    told = f'lab.exercises.judge("{name}"'
    assert told in solution, f"the cell {name}.solution should say {told}"


def call(text, verb, name):
    """The call of `check` or `judge` in a cell."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == verb:
            if node.args and getattr(node.args[0], "value", "") == name:
                return node
    raise AssertionError(f'the cell should call lab.exercises.{verb}("{name}", …)')


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_dots_at_first(name):
    source = cell(name, "start").source
    call(source, "check", name)
    dots = re.findall(r"(\w+)=\.\.\.", source)
    wanted = list(EXERCISES[name].answers)
    assert dots == wanted, f"the cell {name}.start should ask for {'=..., '.join(wanted)}=..."
    call(cell(name, "solution").source, "judge", name)


def test_the_solutions_keep_no_progress():
    for name in EXERCISES:
        source = cell(name, "solution").source
        assert "exercises.check(" not in source, f"{name}.solution should judge, not check"


@pytest.mark.parametrize("number", sorted({e.chapter[:2] for e in EXERCISES.values()}))
def test_a_chapter_has_at_least_four(number):
    """Both halves of a chapter count together; the climb asks for one kernel."""
    found = sum(e.chapter.startswith(number) for e in EXERCISES.values())
    assert found >= (1 if number == "00" else 4)


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_says_what_to_take_away(name):
    exercise = EXERCISES[name]
    assert exercise.title and exercise.after[-1] in ".?"
    assert all(hint.rstrip()[-1] in ".?" for hint in exercise.hints)

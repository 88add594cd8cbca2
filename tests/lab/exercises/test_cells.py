"""The cells of the chapters hold what the exercises hold, and solving fills the marked place."""

import ast
import re
from functools import cache

import nbformat
import pytest

from kernels.lab.exercises import EXERCISES
from kernels.lab.exercises.exercise import FROM, TO, KernelExercise, NumberExercise
from kernels.lab.pages import chapter_of, paths

KERNELS = [name for name, e in EXERCISES.items() if isinstance(e, KernelExercise)]
NUMBERS = [name for name, e in EXERCISES.items() if isinstance(e, NumberExercise)]


PAGES = {path.stem: path for path in paths()}


@cache
def notebook(page):
    return nbformat.read(PAGES[page], as_version=4)


def marks(page):
    return [cell.metadata.exercise for cell in notebook(page).cells if "exercise" in cell.metadata]


@cache
def page_of(name):
    """The page that sets an exercise: its chapter's core page, or a deeper one."""
    ours = [page for page in PAGES if chapter_of(page) == EXERCISES[name].chapter]
    (found,) = (page for page in ours if f"{name}.start" in marks(page))
    return found


def cells(name, part):
    """The cells that set an exercise or solve it, with their places."""
    every = notebook(page_of(name)).cells
    wanted = f"{name}.{part}"
    return [(i, cell) for i, cell in enumerate(every) if cell.metadata.get("exercise") == wanted]


def cell(name, part):
    ((_, found),) = cells(name, part)
    return found


def words(text):
    """A text without Markdown's marks and line ends, for comparison."""
    return " ".join(re.sub(r"[`*]", "", text).split())


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_has_a_start_and_after_it_a_folded_solution(name):
    ((start, _),), ((solution, folded),) = cells(name, "start"), cells(name, "solution")
    assert start < solution
    assert "hide-cell" in folded.metadata.tags and folded.metadata.jupyter.source_hidden


def test_every_marked_cell_belongs_to_an_exercise_of_its_chapter():
    marked = {(chapter_of(page), mark) for page in PAGES for mark in marks(page)}
    assert marked == {
        (exercise.chapter, f"{name}.{part}")
        for name, exercise in EXERCISES.items()
        for part in ("start", "solution")
    }


@pytest.mark.parametrize("name", EXERCISES)
def test_the_three_hints_are_folded_on_the_page(name):
    exercise = EXERCISES[name]
    first, last = cells(name, "start")[0][0], cells(name, "solution")[0][0]
    between = notebook(page_of(name)).cells[first : last + 1]
    page = words("\n".join(c.source for c in between if c.cell_type == "markdown"))
    assert len(set(exercise.hints)) == 3
    for number, hint in enumerate(exercise.hints, 1):
        assert f":::{{dropdown}} Hint {number} {words(hint)} :::" in page


@pytest.mark.parametrize("name", KERNELS)
def test_solving_fills_the_marked_place_and_nothing_else(name):
    exercise = EXERCISES[name]
    start, solution = cell(name, "start").source, cell(name, "solution").source
    assert exercise.start_text in start and exercise.solution_text in solution
    around = []
    for text in (exercise.start_text, exercise.solution_text):
        before, rest = text.split(FROM)
        around.append((before, rest.split(TO)[1]))
        assert text.count(FROM) == text.count(TO) == 1
    assert around[0] == around[1]
    assert start.rstrip().split("\n")[-1].startswith(f'lab.exercises.check("{name}"')
    assert f'lab.exercises.judge("{name}"' in solution and ".check(" not in solution


def call(text, verb, name):
    """The call of `check` or `judge` in a cell."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == verb:
            if node.args and getattr(node.args[0], "value", "") == name:
                return node
    raise AssertionError(f"the cell does not call {verb} for {name}")


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_dots_at_first(name):
    source = cell(name, "start").source
    call(source, "check", name)
    dots = re.findall(r"(\w+)=\.\.\.", source)
    assert dots == list(EXERCISES[name].answers)
    call(cell(name, "solution").source, "judge", name)


def test_the_solutions_keep_no_progress():
    for name in EXERCISES:
        assert "exercises.check(" not in cell(name, "solution").source


@pytest.mark.parametrize("chapter", sorted({e.chapter for e in EXERCISES.values()}))
def test_a_chapter_has_at_least_four(chapter):
    assert sum(e.chapter == chapter for e in EXERCISES.values()) >= 4


@pytest.mark.parametrize("name", EXERCISES)
def test_every_exercise_says_what_to_take_away(name):
    exercise = EXERCISES[name]
    assert exercise.title and exercise.after[-1] in ".?"
    assert all(hint.rstrip()[-1] in ".?" for hint in exercise.hints)

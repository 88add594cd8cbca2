"""Every wrong kernel is rejected with the right name, every right one accepted."""

from collections import Counter

import pytest

from kernels.basics.files import ROOT
from kernels.lab.exercises import check, judge
from kernels.lab.exercises.flaws import Flaw
from tests.lab.exercises.answers import KERNELS, file, options, right, wrong

WRONG = [answer for name in KERNELS for answer in wrong(name)]
RIGHT = [answer for name in KERNELS for answer in right(name)]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("answer", WRONG, ids=lambda a: a.id)
def test_wrong_kernels_are_rejected_by_name(answer):
    result = judge(answer.exercise, answer.text, **options(answer.exercise))
    assert not result.right, "the grader accepts it"
    assert result.kind in answer.kinds, f"wanted {' or '.join(answer.kinds)}: {result}"
    if result.kind not in (Flaw.NOTHING_WRITTEN, Flaw.BUDGET, Flaw.NOT_COMPILED):
        assert result.line, "the line is not named"


@pytest.mark.sampled(2)
@pytest.mark.parametrize("answer", RIGHT, ids=lambda a: a.id)
def test_right_kernels_are_accepted(answer):
    result = judge(answer.exercise, answer.text, **options(answer.exercise))
    assert result.right, str(result)


@pytest.mark.parametrize("name", KERNELS)
def test_there_are_enough_of_both(name):
    bad, good = len({a.text for a in wrong(name)}), len({a.text for a in right(name)}) - 1
    needs = f"{file(name).relative_to(ROOT)} needs at least"
    assert bad >= 12, f"{needs} 12 different rows in WRONG, and has {bad}"
    assert good >= 2, f"{needs} 2 rows in RIGHT beside the solution, and has {good}"


@pytest.mark.parametrize("name", KERNELS)
def test_the_beginning_is_not_yet_right(name):
    exercise = KERNELS[name]
    result = check(name, exercise.start_text)
    assert not result.right and not result.hint, "to look is no try"
    assert (result.kind is Flaw.UNTOUCHED) is not exercise.mends
    touched = exercise.start_text.replace("def ", "def other_", 1) + "\n    return\n"
    result = judge(name, touched, **options(name))
    assert not result.right and result.kind is not Flaw.UNTOUCHED


def test_many_kinds_are_told_apart():
    told = Counter(kind for answer in WRONG for kind in answer.kinds)
    assert len(told) >= 18, told

"""On a GPU: every solution is right there too, and the climb reaches its target."""

import pytest

from kernels import lab
from kernels.lab.exercises.exercise import KernelExercise
from tests.lab.exercises.answers import options

pytestmark = pytest.mark.gpu
KERNELS = {n: e for n, e in lab.exercises.EXERCISES.items() if isinstance(e, KernelExercise)}


@pytest.mark.parametrize("name", KERNELS)
def test_solutions_are_right(name):
    result = lab.exercises.judge(name, KERNELS[name].solution_text, **options(name))
    assert result.right, str(result)


def test_the_climb_reaches_its_target():
    climb = KERNELS["capstone"].solution_text
    reached = lab.exercises.speed("capstone", climb, **options("capstone"))
    assert reached, repr(reached)

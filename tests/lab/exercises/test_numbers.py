"""Exercises that ask for numbers or a function: right answers, and mistakes that have a reason."""

import numpy as np
import pytest

from kernels.lab.exercises import EXERCISES, judge
from kernels.lab.exercises.exercise import NumberExercise
from kernels.lab.exercises.flaws import Flaw

NUMBERS = {name: e for name, e in EXERCISES.items() if isinstance(e, NumberExercise)}


@pytest.mark.parametrize("name", NUMBERS)
def test_the_answers_are_right_and_near_ones_are_not(name):
    task = NUMBERS[name]
    assert judge(name, dict(task.answers)).right
    for asked, value in task.answers.items():
        off = value * (1 + 2 * task.allowance) + (0 if task.allowance else 1)
        assert judge(name, task.answers | {asked: off}).kind is Flaw.WRONG


@pytest.mark.parametrize("name", NUMBERS)
def test_common_mistakes_are_told_their_reason(name):
    task = NUMBERS[name]
    assert len(task.mistakes) >= 2, (
        f"{name} needs two mistakes or more, and has {len(task.mistakes)}"
    )
    for (asked, value), reason in task.mistakes.items():
        result = judge(name, task.answers | {asked: value})
        assert asked in task.answers and not result.right
        assert reason in result.findings[0].message


def good(product, M=37, N=45, K=70):
    rng = np.random.default_rng(2)
    A, B = (rng.standard_normal(s).astype(np.float32) for s in ((M, K), (K, N)))
    mine, bound = product(A, B), K * 2.0**-23 * (abs(A) @ abs(B))
    return mine.shape == (M, N) and bool((abs(mine - A @ B) <= bound).all())


def exact(product):
    rng = np.random.default_rng(3)
    A, B = (rng.integers(-9, 10, s).astype(np.float32) for s in ((19, 23), (23, 31)))
    A[0, 0] = 2049  # half precision cannot hold it
    return np.array_equal(product(A, B), A @ B)


def by_float64(product):
    rng = np.random.default_rng(4)
    A, B = (rng.standard_normal(s).astype(np.float32) for s in ((17, 41), (41, 13)))
    C, want = product(A, B), A.astype(float) @ B.astype(float)
    return C.shape == want.shape and bool(np.allclose(C, want, rtol=0, atol=1e-4))


@pytest.mark.parametrize("test", [good, exact, by_float64])
def test_good_tests_are_accepted(test):
    result = judge("better-test", test)
    assert result.right, str(result)


def weak(A, B, passes):
    return lambda product: passes(product(A, B), A @ B)


RNG = np.random.default_rng(5)
SQUARE = RNG.standard_normal((64, 64), dtype=np.float32)
ONES = np.ones((37, 37), np.float32)
A, B = (RNG.standard_normal(s, dtype=np.float32) for s in ((37, 70), (70, 45)))
MULTIPLES = RNG.standard_normal((32, 64), dtype=np.float32)


def near(bound):
    return lambda C, want: C.shape == want.shape and bool((abs(C - want) <= bound).all())


WEAK = {
    "NaN passes": weak(A, B, lambda C, want: not (abs(C - want) > 1e-3).any()),
    "ones": weak(ONES, ONES, near(1e-3)),
    "a factor and its transpose": weak(SQUARE, SQUARE.T.copy(), near(1e-3)),
    "multiples of 16": weak(MULTIPLES, MULTIPLES.T.copy(), near(1e-3)),
    "too wide": weak(A, B, near(10)),
    "too narrow": weak(A, B, near(0)),
    "equal bits": weak(A, B, lambda C, want: np.array_equal(C, want)),
    "the first element only": weak(A, B, lambda C, want: bool(abs(C[0, 0] - want[0, 0]) < 1e-3)),
    "the sum only": weak(A, B, lambda C, want: bool(abs(C.sum() - want.sum()) < 1e-2)),
    "the mean error": weak(A, B, lambda C, want: bool(np.mean(abs(C - want)) < 1e-3)),
    "no shape": weak(A, B, lambda C, want: bool(np.allclose(C, want, atol=1e-3))),
    "always True": lambda product: True,
    "always False": lambda product: False,
    "no answer": lambda product: None,
    "raises": lambda product: 1 / 0,
    "an array": weak(A, B, lambda C, want: abs(C - want) < 1e-3),
}


@pytest.mark.parametrize("what", WEAK)
def test_weak_tests_are_rejected(what):
    result = judge("better-test", WEAK[what])
    assert not result.right and result.kind is Flaw.WRONG

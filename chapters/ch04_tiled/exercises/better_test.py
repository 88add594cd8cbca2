"""A test that can fail: the learner writes the test, wrong products try to pass it."""

import random
from collections.abc import Callable, Iterator

import numpy as np

from kernels.lab.exercises.exercise import FunctionExercise
from kernels.lab.exercises.flaws import Flaw

#: Products that a test must let through.
RIGHT = (
    ("the right product", lambda A, B: A @ B),
    ("the sums in the other order", lambda A, B: A[:, ::-1].copy() @ B[::-1].copy()),
    ("float64, rounded at the end",
     lambda A, B: (A.astype(np.float64) @ B.astype(np.float64)).astype(np.float32)),
    ("the sum of two halves", lambda A, B: _halves(A, B)),
)  # fmt: skip

#: Products that it must not.
WRONG = (
    ("NaN everywhere", lambda A, B: (A @ B) * np.float32("nan")),
    ("zeros", lambda A, B: 0 * (A @ B)),
    ("a transposed result", lambda A, B: (A @ B).T.copy()),
    ("a transposed result in the right shape", lambda A, B: (A @ B).T.reshape((A @ B).shape)),
    ("a dropped remainder", lambda A, B: _first(A, B, 16)),
    ("a dropped last product", lambda A, B: A[:, :-1] @ B[:-1]),
    ("a last row that nobody wrote", lambda A, B: _last(A @ B, 0)),
    ("a last column that nobody wrote", lambda A, B: _last(A @ B, 1)),
    ("the columns of A in the wrong order", lambda A, B: A[:, ::-1] @ B),
    ("the columns of B in the wrong order", lambda A, B: A @ B[:, ::-1]),
    ("the rows of A in the wrong order", lambda A, B: A[::-1] @ B),
    ("one wrong element", lambda A, B: _one(A @ B)),
    ("half precision", lambda A, B: _half(A, B)),
    ("twice the product", lambda A, B: 2 * (A @ B)),
    ("a row too few", lambda A, B: (A @ B)[:-1]),
)  # fmt: skip


def _halves(A, B):
    k = A.shape[1] // 2
    return A[:, :k] @ B[:k] + A[:, k:] @ B[k:]


def _first(A, B, depth):
    k = A.shape[1] // depth * depth
    return A[:, :k] @ B[:k]


def _half(A, B):
    return (A.astype(np.float16) @ B.astype(np.float16)).astype(np.float32)


def _last(C, axis):
    C = C.copy()
    C[(slice(None),) * axis + (-1,)] = np.nan
    return C


def _one(C):
    C = C.copy()
    C[-1, 0] += 1
    return C


def judge(test: Callable) -> Iterator[tuple[Flaw, str]]:
    """Try a learner's test on right and wrong products; yields what is wrong with it."""
    cases = [(True, *right) for right in RIGHT] + [(False, *wrong) for wrong in WRONG]
    complaint = next(filter(None, (_complaint(test, *case) for case in cases)), None)
    if complaint:
        yield Flaw.WRONG, complaint
        return
    random.shuffle(cases)
    if any(_complaint(test, *case) for case in cases):
        yield Flaw.REMEMBERED, "called in another order, the test answers otherwise"


def _complaint(test: Callable, expected: bool, name: str, product: Callable) -> str:
    """What a test does wrong with one product."""
    called = []

    def watched(A, B):
        called.append(True)
        return product(A, B)

    try:
        passed = test(watched)
    except Exception as error:
        return (
            f"for {name} the test raises {type(error).__name__} ({error}): it must return"
            f" {expected}"
        )
    if not isinstance(passed, bool | np.bool_):
        text = f"an array of {passed.shape}" if hasattr(passed, "shape") else repr(passed)
        return f"for {name} the test returns {text}: return True or False"
    if not called:
        return "the test never calls the product"
    if bool(passed) is not expected:
        return f"the test {'rejects' if expected else 'lets through'} {name}"
    return ""


EXERCISE = FunctionExercise(
    name="better-test",
    title="a test that can fail",
    hints=(
        "What are all elements of A, and so of the result? Which wrong index could show up in it?",
        "Is NaN greater than 0.001? Is it smaller? Test for what must be true instead of what"
        " mustn't be. Test the shape, too.",
        "Three different sizes, none a multiple of 16; random inputs; a comparison that NaN fails;"
        " a tolerance that grows with K and is no wider than rounding needs.",
    ),
    after="A test is worth only what it would catch.",
    judge=judge,
    parameters=("product",),
    start="return weak_test(product)",
)

"""Hand out a fragment of A, as the lanes of a warp hold it for a tensor core."""

from collections.abc import Callable, Iterator

import numpy as np

from kernels.lab.exercises.exercise import FunctionExercise
from kernels.lab.exercises.flaws import Flaw


def shares_of(A: np.ndarray) -> np.ndarray:
    """A (16×16) as 32 lanes hold it for mma.m16n8k16: 8 elements each, shape (32, 8)."""
    lane, element = np.arange(32)[:, None], np.arange(8)
    row = lane // 4 + element // 2 % 2 * 8
    col = lane % 4 * 2 + element % 2 + element // 4 * 8
    return A[row, col]


def judge(shares: Callable) -> Iterator[tuple[Flaw, str]]:
    """Try a learner's function on two matrices; yields what is wrong with it."""
    A = np.arange(256, dtype=np.float32).reshape(16, 16)
    complaint = next(_complaints(shares, A), None)
    if complaint:
        yield complaint
    elif any(_complaints(shares, np.random.default_rng().permutation(A.ravel()).reshape(16, 16))):
        yield Flaw.REMEMBERED, "it is wrong for the same numbers in another order: index A itself"


def _complaints(shares: Callable, A: np.ndarray) -> Iterator[tuple[Flaw, str]]:
    want = shares_of(A)
    try:
        said = np.asarray(shares(A.copy()))
    except Exception as error:
        yield Flaw.WRONG, f"it raises {type(error).__name__} ({error})"
        return
    if said.shape != (32, 8):
        yield Flaw.WRONG, f"it returns shape {said.shape}, not (32, 8): 8 elements for each lane"
        return
    if np.array_equal(said, want):
        return
    known = {
        "these are the shares of the transpose: row and col are swapped": shares_of(A.T),
        "the upper right and the lower left block are swapped: elements 2 and 3 are 8 rows"
        " further down, 4 and 5 are 8 columns to the right": want[:, [0, 1, 4, 5, 2, 3, 6, 7]],
        "these are whole pieces of a row, 8 neighbours per lane": A.reshape(32, 8),
    }
    for reason, wrong in known.items():
        if np.array_equal(said, wrong):
            yield Flaw.WRONG, reason
            return
    lane, element = (int(i) for i in np.argwhere(~(said == want))[0])
    row, col = divmod(int(want[lane, element]), 16)
    yield Flaw.WRONG, f"element {element} of lane {lane} should be A[{row}, {col}]"


EXERCISE = FunctionExercise(
    name="shares",
    title="hand out a fragment",
    hints=(
        "Make two arrays of shape (32, 8) for the row and the col of each lane's elements, and"
        " return `A[row, col]`.",
        "`lane = np.arange(32)[:, None]` and `e = np.arange(8)` together give that shape. Within a"
        " block: row lane // 4, col 2 · (lane % 4) + e % 2.",
        "The elements come in pairs: 0 and 1 upper left, 2 and 3 lower left, 4 and 5 upper right,"
        " 6 and 7 lower right. So add 8 · (e // 2 % 2) to the row and 8 · (e // 4) to the col.",
    ),
    after="`ldmatrix` does exactly this, from shared memory, in one instruction.",
    judge=judge,
    parameters=("A",),
    start="return np.zeros((32, 8), A.dtype)",
)

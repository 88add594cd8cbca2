"""Reach a target: the same loads and stores in fewer sectors."""

from kernels.lab.exercises.arrays import Numbers, cdiv, poisoned
from kernels.lab.exercises.counts import global_count
from kernels.lab.exercises.exercise import (
    FINE,
    MULTIPLE,
    ODD,
    SQUARE,
    KernelExercise,
    Quota,
    Suspect,
    Trial,
)
from kernels.lab.exercises.flaws import Flaw

BLOCK = 128
SHAPES = ((37, 50, ODD), (9, 70, FINE), (64, 64, SQUARE), (16, 128, MULTIPLE))


def trials(seed=0):
    return [_trial(*shape, seed) for shape in SHAPES]


def _trial(M, N, role, seed):
    numbers = Numbers(role, seed, M, N)
    A, f = numbers(M, N), numbers(M)
    want = f[:, None] * A

    def suspects():
        yield Suspect(Flaw.WRONG, "this is A: the factor is not used", A)
        if M == N:
            yield Suspect(Flaw.SWAPPED, "the factor goes with the row, not with the column", f * A)
            yield Suspect(Flaw.TRANSPOSED, "this is the transpose", want.T)

    arguments = {"A": A, "f": f, "B": poisoned(M, N)}
    grid = (cdiv(M * N, BLOCK),)
    return Trial(f"{M} × {N}", grid, (BLOCK,), arguments, {"B": want}, {}, suspects, role)


EXERCISE = KernelExercise(
    name="few-sectors",
    title="reach a target number of sectors",
    text="""
    @cuda.jit
    def scale_rows(A, f, B):
        i = cuda.grid(1)
        M, N = A.shape
        if i < M * N:
            # --- yours, from here
            row, col = i // N, i % N
            # --- to here
            B[row, col] = f[row] * A[row, col]
    """,
    start="row, col = i % M, i // M",
    trials=trials,
    hints=(
"It's right already. Which elements do threads 0, 1 and 2 have, and how far apart"
" are they in memory?",
"Neighbouring lanes should have neighbouring elements of a row. Which should change from one"
" thread to the next, row or col?",
"`row, col = i // N, i % N`: now col changes fastest.",
),
    after="The work hasn't changed, only who does what. How elements are assigned to "
"threads is a choice.",
    budgets=(
        Quota(
            "sectors", 700, global_count("sectors"),
            "let the column change from thread to thread",
        ),
    ),
)  # fmt: skip

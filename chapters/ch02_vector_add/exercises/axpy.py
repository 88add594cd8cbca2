"""Scale and add: y becomes alpha·x + y, in place."""

from kernels.lab.exercises.arrays import Numbers, cdiv, wide
from kernels.lab.exercises.counts import global_count
from kernels.lab.exercises.exercise import (
    FINE,
    MULTIPLE,
    ODD,
    KernelExercise,
    Quota,
    Suspect,
    Trial,
)
from kernels.lab.exercises.flaws import Flaw

BLOCK = 128


def trials(seed=0):
    return [_trial(n, role, seed) for n, role in ((1003, ODD), (37, FINE), (1024, MULTIPLE))]


def _trial(n, role, seed):
    numbers = Numbers(role, seed, n)
    alpha, x, y = numbers.scalar(), numbers(n), numbers(n)
    want = wide(alpha) * x + y

    def suspects():
        return (
            Suspect(Flaw.WRONG, "this is x + y: alpha is not used", x + y),
            Suspect(Flaw.WRONG, "this is alpha·x: the old y is lost", alpha * x),
            Suspect(Flaw.SWAPPED, "this is x + alpha·y: x and y are swapped", x + alpha * y),
            Suspect(Flaw.WRONG, "this is alpha·(x + y): y is scaled too", alpha * (x + y)),
        )

    grid = (cdiv(n, BLOCK),)
    arguments = {"alpha": alpha, "x": x, "y": y}
    bounds = numbers.bounds("y", 2, abs(alpha * x) + abs(y))
    return Trial(f"n = {n}", grid, (BLOCK,), arguments, {"y": want}, bounds, suspects, role)


EXERCISE = KernelExercise(
    name="axpy",
    title="scale and add two vectors",
    text="""
    @cuda.jit
    def axpy(alpha, x, y):
        # --- yours, from here
        i = cuda.grid(1)
        if i < y.size:
            y[i] = alpha * x[i] + y[i]
        # --- to here
    """,
    trials=trials,
    hints=(
        "Start from `vector_add`: the same index, the same guard. There's no third vector; y is"
        " read and written.",
        "The guard asks whether y has an element i: `if i < y.size`. One line below it does the"
        " work.",
        "`y[i] = alpha * x[i] + y[i]`, under the guard, with `i = cuda.grid(1)`.",
    ),
    after="It moves 12 bytes per element, as vector_add does, and does two operations instead of"
    " one. Memory sets the time, so twice the arithmetic takes no longer.",
    budgets=(
        Quota("requests", 3 * 32, global_count("requests"), "load x and y once, store y once"),
    ),
)

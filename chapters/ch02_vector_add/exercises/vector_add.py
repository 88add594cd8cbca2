"""Vector add from memory: the index formula and the guard."""

from kernels.lab.exercises.arrays import Numbers, cdiv, poisoned
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
    a, b = numbers(n), numbers(n)

    def suspects():
        return (
            Suspect(Flaw.WRONG, "this is a - b", a - b),
            Suspect(Flaw.WRONG, "this is a · b", a * b),
            Suspect(Flaw.WRONG, "this is a + a: b is not read", a + a),
            Suspect(Flaw.WRONG, "this is b + b: a is not read", b + b),
            Suspect(Flaw.WRONG, "this is a: b is not added", a),
        )

    arguments = {"a": a, "b": b, "c": poisoned(n)}
    grid = (cdiv(n, BLOCK),)
    return Trial(f"n = {n}", grid, (BLOCK,), arguments, {"c": a + b}, {}, suspects, role)


EXERCISE = KernelExercise(
    name="vector-add",
    title="write vector add with its guard",
    text="""
    @cuda.jit
    def vector_add_again(a, b, c):
        # --- yours, from here
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        if i < c.size:
            c[i] = a[i] + b[i]
        # --- to here
    """,
    trials=trials,
    hints=(
        "A thread needs two things: its number among all threads of all blocks, and a test that an"
        " element has that number.",
        "The number is blocks before mine, times threads per block, plus my place in my block. The"
        " guard compares it with `c.size`.",
        "`i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x`; then, under `if i < c.size`,"
        " the sum.",
    ),
    after="Every kernel of this course asks first: which element is mine, and does it exist?",
    budgets=(
        Quota("requests", 3 * 32, global_count("requests"), "load a and b once, store c once"),
    ),
)

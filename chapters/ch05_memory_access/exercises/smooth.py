"""The sum of each element and its two neighbours: three loads that overlap."""

import numpy as np

from kernels.lab.exercises.arrays import Numbers, cdiv, poisoned, wide
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
N = 1003


def trials(seed=0):
    return [_trial(n, role, seed) for n, role in ((N, ODD), (37, FINE), (1024, MULTIPLE))]


def _trial(n, role, seed):
    numbers = Numbers(role, seed, n)
    a = numbers(n, low=-99, high=99)
    left, right = np.concatenate([a[:1], a[:-1]]), np.concatenate([a[1:], a[-1:]])

    def suspects():
        around = np.roll(a, 1) + a + np.roll(a, -1)
        yield Suspect(Flaw.WRONG, "the ends take their neighbours from the other end", around)
        short = left + a + right
        short[0] -= a[0]
        short[-1] -= a[-1]
        yield Suspect(Flaw.WRONG, "at the ends, one of the three terms is missing", short)
        yield Suspect(Flaw.WRONG, "this is a itself: no neighbour is added", a)

    arguments = {"a": a, "b": poisoned(n)}
    bounds = numbers.bounds("b", 2, abs(left) + abs(a) + abs(right))
    want = wide(left) + a + right
    return Trial(
        f"n = {n}", (cdiv(n, BLOCK),), (BLOCK,), arguments, {"b": want}, bounds, suspects, role
    )


EXERCISE = KernelExercise(
    name="smooth",
    title="a neighbour on each side",
    text="""
    @cuda.jit
    def smooth(a, b):
        i = cuda.grid(1)
        # --- yours, from here
        if i < b.size:
            left, right = max(i - 1, 0), min(i + 1, a.size - 1)
            b[i] = a[left] + a[i] + a[right]
        # --- to here
    """,
    trials=trials,
    hints=(
        "The first and the last element have a neighbour on one side only. `max(i - 1, 0)` and"
        " `min(i + 1, a.size - 1)` are always inside the array.",
        "Each of the three loads is a copy with an offset: -1, 0 and 1. How many sectors does each"
        " of them need?",
        "`if i < b.size:`, then `b[i] = a[max(i - 1, 0)] + a[i] + a[min(i + 1, a.size - 1)]`.",
    ),
    after="A warp touches 5, 4 and 5 sectors, and DRAM sends each element once: L1 holds what the"
    " neighbours loaded.",
    budgets=(
        Quota("loads", 3 * N, global_count("lanes", "load"), "three loads per thread are enough"),
    ),
)

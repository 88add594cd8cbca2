"""Back to front: the same 32 elements per warp, requested in the other order."""

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
    v = Numbers(role, seed, n)(n, low=-99, high=99)

    def suspects():
        block = v[: n // BLOCK * BLOCK].reshape(-1, BLOCK)[:, ::-1].ravel()
        return (
            Suspect(Flaw.WRONG, "this is v as it was", v),
            Suspect(Flaw.WRONG, "each block is reversed on its own: use the number among all"
                    " threads", block),
        )  # fmt: skip

    arguments = {"v": v, "out": poisoned(n)}
    grid = (cdiv(n, BLOCK),)
    return Trial(f"n = {n}", grid, (BLOCK,), arguments, {"out": v[::-1]}, {}, suspects, role)


EXERCISE = KernelExercise(
    name="reverse",
    title="store a vector back to front",
    text="""
    @cuda.jit
    def reverse(v, out):
        # --- yours, from here
        i = cuda.grid(1)
        if i < out.size:
            out[i] = v[v.size - 1 - i]
        # --- to here
    """,
    trials=trials,
    hints=(
        "Thread i owns `out[i]`. Which element of v belongs there? For i = 0 it is the last one.",
        "The last element has index `v.size` - 1; each step forward in out is a step back in v.",
        "`out[i] = v[v.size - 1 - i]`, under the guard `if i < out.size`.",
    ),
    after="The order inside a warp costs nothing: 32 neighbours are four sectors forwards or"
    " backwards, and five if they begin inside a sector.",
    budgets=(
        Quota("requests", 2 * 32, global_count("requests"), "one load and one store per thread"),
    ),
)

"""Four elements per thread, one block of threads apart: neighbours for the warp."""

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

BLOCK, EACH = 64, 4
N = 1003


def trials(seed=0):
    return [_trial(n, role, seed) for n, role in ((N, ODD), (37, FINE), (1024, MULTIPLE))]


def _trial(n, role, seed):
    a = Numbers(role, seed, n)(n, low=-99, high=99)

    def suspects():
        yield Suspect(Flaw.WRONG, "this is a, backward", a[::-1])

    grid = (cdiv(n, EACH * BLOCK),)
    arguments = {"a": a, "b": poisoned(n)}
    return Trial(f"n = {n}", grid, (BLOCK,), arguments, {"b": a}, {}, suspects, role)


EXERCISE = KernelExercise(
    name="apart",
    title="four elements per thread, and which four",
    text="""
    @cuda.jit
    def apart(a, b):
        tx, width = cuda.threadIdx.x, cuda.blockDim.x
        # --- yours, from here
        first = cuda.blockIdx.x * 4 * width
        for k in range(4):
            place = first + k * width + tx
            if place < b.size:
                b[place] = a[place]
        # --- to here
    """,
    trials=trials,
    hints=(
        "A loop over k from 0 to 3 with a guard inside. A block of `width` threads owns"
        " `4 * width` elements, from `cuda.blockIdx.x * 4 * width` on.",
        "In each iteration of the loop, the lanes of a warp should copy 32 neighbours. How far"
        " apart are each thread's four elements then?",
        "Thread tx copies the elements `first + tx`, `first + width + tx`,"
        " `first + 2 * width + tx` and `first + 3 * width + tx`.",
    ),
    after="Neighbours for a thread are a stride of 4 for its warp. Neighbours for the warp are what"
    " memory likes.",
    budgets=(
        Quota(
            "sectors", 2 * cdiv(N, 8), global_count("sectors"),
            "neighbouring lanes must copy neighbouring elements in each iteration",
        ),
    ),
)  # fmt: skip

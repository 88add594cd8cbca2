"""A circular buffer of two stages between two warps, with one mistake each: find and mend it."""

from __future__ import annotations

import numpy as np

from kernels import ptx
from kernels.backend import uint64
from kernels.lab.exercises.arrays import Numbers, poisoned, wide
from kernels.lab.exercises.exercise import FINE, ODD, KernelExercise, Suspect, Trial
from kernels.lab.exercises.flaws import Flaw

STAGES = 2
PRODUCER = """
for step in range(A.shape[0]):
    slot, parity = step % 2, step // 2 % 2
    ptx.mbarrier_wait_parity(empty + 8 * slot, parity ^ 1)
    ring[slot, lane] = A[step, lane]
    ptx.mbarrier_arrive(full + 8 * slot)
"""
CONSUMER = """
for step in range(A.shape[0]):
    slot, parity = step % 2, step // 2 % 2
    ptx.mbarrier_wait_parity(full + 8 * slot, parity)
    acc += ring[slot, 31 - lane]
    ptx.mbarrier_arrive(empty + 8 * slot)
"""


def _text(name: str, before: str, yours: str, after: str) -> str:
    """The kernel, with the marks around one of its two loops."""

    def indented(text: str, spaces: int = 12) -> str:
        return "\n".join(" " * spaces + line for line in text.strip().split("\n"))

    marks = f"{' ' * 12}# --- yours, from here\n{indented(yours)}\n{' ' * 12}# --- to here"
    loops = [marks if loop == yours else indented(loop) for loop in (before, after)]
    return f"""    @cuda.jit
    def {name}(A, out):
        ring = cuda.shared.array((2, 32), float32)
        barriers = cuda.shared.array(4, uint64)
        full = ptx.shared_address(barriers)
        empty = full + 16
        lane = cuda.threadIdx.x % 32
        if cuda.threadIdx.x == 0:
            for slot in range(2):
                ptx.mbarrier_init(full + 8 * slot, 32)
                ptx.mbarrier_init(empty + 8 * slot, 32)
        cuda.syncthreads()
        if cuda.threadIdx.x < 32:
{loops[0]}
        else:
            acc = float32(0)
{loops[1]}
            out[lane] = acc
"""


def trials(seed=0):
    return [_trial(steps, role, seed) for steps, role in ((7, ODD), (3, FINE))]


def _trial(steps, role, seed):
    numbers = Numbers(role, seed, steps)
    A = numbers(steps, 32)
    want = wide(A).sum(axis=0)[::-1].copy()
    bounds = numbers.bounds("out", steps, abs(A).sum(axis=0)[::-1])

    def suspects():
        for row, name in ((-1, "last"), (0, "first")):
            less = np.append(A[row, ::-1], np.zeros(steps))
            yield Suspect(Flaw.WRONG, f"this is the sum without the {name} row", want - less)

    # A longer `out` has elements that nobody stores: they stay as they are.
    rest = np.full(steps, 0.5, np.float32)
    want = np.append(want, rest)
    bounds = {name: np.append(bound, np.zeros(steps)) for name, bound in bounds.items()}
    arguments = {"A": A, "out": np.append(poisoned(32), rest)}
    return Trial(f"{steps} rows", (1,), (64,), arguments, {"out": want}, bounds, suspects, role)


DEADLOCK = KernelExercise(
    name="ring-deadlock",
    title="find the deadlock",
    text=_text("stuck", PRODUCER, PRODUCER, CONSUMER),
    start=PRODUCER.replace("parity ^ 1)", "parity)"),
    trials=trials,
    names={"ptx": ptx, "uint64": uint64},
    hints=(
        "The message says who waits, at which line, and for which phase. Who should end that"
        " phase, and has it been there yet?",
        "On the first round no stage is full, so nobody can release one: the producer must not wait"
        " at all. Which parity lets it through a barrier in phase 0?",
        "The phase before phase 0 counts as over, and its parity is 1: wait for `parity ^ 1`.",
    ),
    after="Producer and consumer run half a round apart, so they wait for opposite parities. With"
    " that one `^ 1`, the first round needs no special case.",
    needs=(9, 0),
)

RELEASE = KernelExercise(
    name="ring-release",
    title="release the stage at the right moment",
    text=_text("hasty_release", PRODUCER, CONSUMER, CONSUMER),
    start=CONSUMER.replace(
        "    acc += ring[slot, 31 - lane]\n    ptx.mbarrier_arrive(empty + 8 * slot)\n",
        "    ptx.mbarrier_arrive(empty + 8 * slot)\n    acc += ring[slot, 31 - lane]\n",
    ),
    trials=trials,
    names={"ptx": ptx, "uint64": uint64},
    hints=(
        "The report names two lines: a store, and a load that may come after it. What should keep"
        " the store from coming first?",
        "An arrival at `empty` says: I no longer need this stage. Is that true where it stands?",
        "Arrive behind the load. Then the next store into that stage waits for all 32 lanes.",
    ),
    after="`specialized` reads by wgmma, which goes on after it was issued. So it can release a"
    " stage only behind a wait for that product: one step later.",
    needs=(9, 0),
)

"""A layer of a neural network: C = max(0, A·B + bias), in one kernel."""

from dataclasses import replace

import numpy as np

from kernels.lab.exercises.arrays import Numbers, wide
from kernels.lab.exercises.counts import global_count
from kernels.lab.exercises.exercise import KernelExercise, Quota, Suspect, Trial
from kernels.lab.exercises.flaws import Flaw
from kernels.lab.exercises.products import product_trials

M, N, K = 37, 29, 23


def layer_trials(depth: int, seed: int) -> list[Trial]:
    """Launches with a bias for each column, and what is wrong where the fusing goes wrong."""
    return [_with_bias(trial, seed) for trial in product_trials(depth=depth, seed=seed)]


def _with_bias(trial: Trial, seed: int) -> Trial:
    A, B, C = trial.arguments.values()
    M, N = C.shape
    numbers = Numbers(trial.role, seed, *A.shape, N, 1)
    bias = numbers(N, low=-30, high=30)
    want = np.maximum(wide(A) @ wide(B) + bias, 0)

    def suspects():
        yield Suspect(Flaw.WRONG, "this is A·B + bias: negative sums are kept", A @ B + bias)
        yield Suspect(
            Flaw.WRONG, "this is max(0, A·B): the bias is not added", np.maximum(A @ B, 0)
        )
        yield Suspect(
            Flaw.WRONG,
            "this is max(0, A·B) + bias: the maximum comes last",
            np.maximum(A @ B, 0) + bias,
        )
        yield Suspect(Flaw.WRONG, "this is the bias alone", np.maximum(bias, 0) + 0 * (A @ B))
        if M == N:
            rows = np.maximum(A @ B + bias[:, None], np.float32(0))
            yield Suspect(Flaw.SWAPPED, "the bias goes with the column, not with the row", rows)
            turned = "this is the transpose of the right result: row and col are swapped"
            yield Suspect(Flaw.TRANSPOSED, turned, want.T)
        for one in trial.suspects():
            if one.kind is Flaw.LOST_SUM:
                yield Suspect(one.kind, one.sentence, np.maximum(one.result, np.float32(0)))
            yield Suspect(one.kind, one.sentence, np.maximum(one.result + bias, np.float32(0)))

    arguments = {"A": A, "B": B, "bias": bias, "C": C}
    bounds = numbers.bounds("C", A.shape[1] + 1, abs(A) @ abs(B) + abs(bias))
    return replace(
        trial, arguments=arguments, expected={"C": want}, bounds=bounds, suspects=suspects
    )


EXERCISE = KernelExercise(
    name="layer",
    title="a product, a bias and a maximum in one kernel",
    text="""
    @cuda.jit
    def layer(A, B, bias, C):
        col, row = cuda.grid(2)
        # --- yours, from here
        if row < C.shape[0] and col < C.shape[1]:
            acc = bias[col]
            for k in range(A.shape[1]):
                acc += A[row, k] * B[k, col]
            C[row, col] = max(acc, float32(0))
        # --- to here
    """,
    trials=lambda seed=0: layer_trials(1, seed),
    hints=(
        "It is the naive kernel with two changes: the sum starts with the bias of its column, and"
        " something happens to it before the store.",
        "`max(acc, float32(0))` works inside a kernel. There is one bias for each column:"
        " `bias[col]`.",
        "`acc = bias[col]` under the guard, then the loop over k as in the naive kernel, then"
        " `C[row, col] = max(acc, float32(0))`.",
    ),
    after="The bias costs one load per thread on top of 2·K others. A second kernel would load and"
    " store every element of C once more: 8 bytes that this one never moves.",
    budgets=(
        Quota(
            "loads", M * N * (2 * K + 1), global_count("lanes", "load"),
            "load the bias once per thread, outside the loop",
        ),
        Quota(
            "load requests", 6 * 8 * (2 * K + 1), global_count("requests", "load"),
            "one thread per element of C: the lanes of a warp load together",
        ),
    ),
)  # fmt: skip

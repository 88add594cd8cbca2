"""Many small products in one launch: the batch goes along z."""

import numpy as np

from kernels.lab.exercises.arrays import Numbers, cdiv, poisoned, wide
from kernels.lab.exercises.counts import barriers, global_count
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
from kernels.lab.exercises.products import wrong_products

T = 16
SHAPES = (
    (3, 37, 29, 23, ODD),
    (2, 5, 18, 33, FINE),
    (2, 32, 32, 32, SQUARE),
    (2, 16, 32, 48, MULTIPLE),
)


def trials(seed=0):
    return [_trial(*shape, seed) for shape in SHAPES]


def _trial(batch, M, N, K, role, seed):
    numbers = Numbers(role, seed, batch, M, N, K)
    A, B = numbers(batch, M, K), numbers(batch, K, N)
    want = wide(A) @ wide(B)

    def suspects():
        yield Suspect(Flaw.WRONG, "every product uses the A of batch 0", A[:1] @ B)
        yield Suspect(Flaw.WRONG, "every product uses the B of batch 0", A @ B[:1])
        yield Suspect(Flaw.WRONG, "every product is that of batch 0", np.repeat(want[:1], batch, 0))
        each = [wrong_products(a, b, T) for a, b in zip(A, B, strict=True)]
        for rows in zip(*each, strict=True):
            kind, sentence, product = rows[0]
            if product.shape == (M, N):
                yield Suspect(kind, sentence, np.stack([row[2] for row in rows]))

    return Trial(
        f"{batch} products, M, N, K = {M}, {N}, {K}",
        (cdiv(N, T), cdiv(M, T), batch),
        (T, T),
        {"A": A, "B": B, "C": poisoned(batch, M, N)},
        {"C": want},
        numbers.bounds("C", K, abs(A) @ abs(B)),
        suspects,
        role,
    )


EXERCISE = KernelExercise(
    name="batched",
    title="a batch of products in one launch",
    text="""
    @cuda.jit
    def batched(A, B, C):
        sA = cuda.shared.array((T, T), float32)
        sB = cuda.shared.array((T, T), float32)
        tx, ty, b = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.z
        col, row = cuda.blockIdx.x * T + tx, cuda.blockIdx.y * T + ty
        M, N, K = C.shape[1], C.shape[2], A.shape[2]
        acc = float32(0)
        # --- yours, from here
        for t in range((K + T - 1) // T):
            ka, kb = t * T + tx, t * T + ty
            sA[ty, tx] = A[b, row, ka] if row < M and ka < K else float32(0)
            sB[ty, tx] = B[b, kb, col] if kb < K and col < N else float32(0)
            cuda.syncthreads()
            for k in range(T):
                acc += sA[ty, k] * sB[k, tx]
            cuda.syncthreads()
        if row < M and col < N:
            C[b, row, col] = acc
        # --- to here
    """,
    trials=trials,
    names={"T": T},
    hints=(
"The grid has one layer of blocks per product: `b = cuda.blockIdx.z` says which. "
"Which parts of the tiled kernel need b?",
"Only the three accesses to global memory need it: `A[b, row, ka]`, `B[b, kb, col]` and `C[b, row,"
" col]`. Shared memory belongs to one block, and each block to one product.",
"Take the loop of the tiled kernel with those three changes. The guards stay as "
"they are.",
),
    after="One small product can't fill a GPU. A hundred of them in one launch can, at the "
"cost of one launch.",
    budgets=(
        Quota(
            "loads", 3 * (37 * 23 * 2 + 23 * 29 * 3), global_count("lanes", "load"),
            "each thread loads one element of A and one of B per step",
        ),
        Quota("barriers", 3 * 2 * 2 * 2 * 3, barriers, "two per step are enough"),
    ),
)  # fmt: skip

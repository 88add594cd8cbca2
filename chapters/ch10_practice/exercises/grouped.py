"""The second capstone: products of groups of rows with a matrix each, in one launch."""

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

T = 16
#: Rows of each group, N, K: groups that end within a tile, and one without rows.
SHAPES = (
    ((37, 0, 5), 29, 23, ODD),
    ((17, 3), 18, 33, FINE),
    ((32,), 32, 32, SQUARE),
    ((16, 48), 32, 48, MULTIPLE),
)


def trials(seed=0):
    return [_trial(*shape, seed) for shape in SHAPES]


def _trial(sizes, N, K, role, seed):
    M, groups = sum(sizes), len(sizes)
    numbers = Numbers(role, seed, M, N, K)
    A, B = numbers(M, K), numbers(groups, K, N)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    of = np.repeat(np.arange(groups), sizes)
    want = _product(A, B, of)

    def suspects():
        if groups > 1:
            yield Suspect(Flaw.WRONG, "every group uses the B of group 0", A @ B[0])
            yield Suspect(Flaw.WRONG, "groups use each other's B", _product(A, B[::-1], of))

    return Trial(
        f"groups of {', '.join(map(str, sizes))} rows, N, K = {N}, {K}",
        (cdiv(N, T), cdiv(max(sizes), T), groups),
        (T, T),
        {"A": A, "B": B, "starts": starts, "C": poisoned(M, N)},
        {"C": want},
        numbers.bounds("C", K, _product(abs(A), abs(B), of)),
        suspects,
        role,
    )


def _product(A, B, of):
    return np.einsum("mk,mkn->mn", wide(A), wide(B)[of])


def _tiles() -> int:
    """Tiles of rows that hold any, times tiles of columns, in the launch that is counted."""
    sizes, N, _, _ = SHAPES[0]
    return sum(cdiv(size, T) for size in sizes) * cdiv(N, T)


EXERCISE = KernelExercise(
    name="grouped",
    title="a grouped product: each group of rows with a matrix of its own",
    text="""
    @cuda.jit
    def grouped(A, B, starts, C):
        sA = cuda.shared.array((T, T), float32)
        sB = cuda.shared.array((T, T), float32)
        tx, ty, g = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.z
        N, K = C.shape[1], A.shape[1]
        # --- yours, from here
        top, end = starts[g] + cuda.blockIdx.y * T, starts[g + 1]
        if top >= end:
            return
        row, col = top + ty, cuda.blockIdx.x * T + tx
        acc = float32(0)
        for k0 in range(0, K, T):
            ka, kb = k0 + tx, k0 + ty
            sA[ty, tx] = A[row, ka] if row < end and ka < K else float32(0)
            sB[ty, tx] = B[g, kb, col] if kb < K and col < N else float32(0)
            cuda.syncthreads()
            for k in range(T):
                acc += sA[ty, k] * sB[k, tx]
            cuda.syncthreads()
        if row < end and col < N:
            C[row, col] = acc
        # --- to here
    """,
    trials=trials,
    names={"T": T},
    hints=(
        "Block (x, y, g) has columns from x · T, and rows from `starts[g] + y * T`. Its rows end "
        "at `starts[g + 1]`, where the next group begins.",
        "It's the tiled kernel with three changes: `row` begins at the group's start, the guard "
        "of rows is the group's end, and B has the index g in front.",
        "The grid is as high as the longest group needs. A block whose first row is not below the "
        "end has nothing to do: all its threads may return before any barrier.",
    ),
    after="This is a mixture of experts on one GPU: tokens sorted by expert, one launch for all. "
    "A library assigns the tiles to blocks from a list, so that no block is launched for nothing.",
    budgets=(
        Quota(
            "loads of A and B",
            23 * (sum(SHAPES[0][0]) * cdiv(29, T) + 29 * (_tiles() // cdiv(29, T))),
            lambda trace: sum(
                global_count("lanes", "load", array)(trace) for array in ("A", "B")
            ),
            "a block without rows needs nothing, and rows of the next group aren't yours",
        ),
        Quota("barriers", _tiles() * 2 * cdiv(23, T), barriers, "blocks without rows need none"),
    ),
)  # fmt: skip

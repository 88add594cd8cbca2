"""Transpose a matrix: rows in, rows out, and no bank conflict."""

from kernels.lab.exercises.arrays import Numbers, cdiv, poisoned
from kernels.lab.exercises.counts import conflicts, global_count, shared_bytes
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

W = 32
SHAPES = ((37, 70, ODD), (50, 33, FINE), (64, 64, SQUARE), (32, 64, MULTIPLE))


def trials(seed=0):
    return [_trial(*shape, seed) for shape in SHAPES]


def _trial(M, N, role, seed):
    A = Numbers(role, seed, M, N)(M, N, low=-99, high=99)

    def suspects():
        if M == N:
            yield Suspect(Flaw.TRANSPOSED, "this is A itself: it was never turned", A)
            yield Suspect(Flaw.SWAPPED, "the rows run backward", A.T[::-1])
            blocks = A.reshape(M // W, W, N // W, W)
            inside = blocks.transpose(0, 3, 2, 1).reshape(M, N)
            yield Suspect(Flaw.SWAPPED, "each tile is turned but stays where it was", inside)

    return Trial(
        f"{M} × {N}",
        (cdiv(N, W), cdiv(M, W)),
        (W, W),
        {"A": A, "At": poisoned(N, M)},
        {"At": A.T},
        {},
        suspects,
        role,
    )


SECTORS = Quota(
    "sectors", 920, global_count("sectors"),
    "in the load and in the store, x must drive the last index: neighbours in a warp are"
    " neighbours in memory",
)  # fmt: skip

TRANSPOSE = KernelExercise(
    name="transpose",
    title="transpose with rows in and rows out",
    text="""
    @cuda.jit
    def transpose(A, At):
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        M, N = A.shape
        # --- yours, from here
        tile = cuda.shared.array((W, W), float32)
        col, row = cuda.blockIdx.x * W + tx, cuda.blockIdx.y * W + ty
        if row < M and col < N:
            tile[ty, tx] = A[row, col]
        cuda.syncthreads()
        col, row = cuda.blockIdx.y * W + tx, cuda.blockIdx.x * W + ty
        if row < N and col < M:
            At[row, col] = tile[tx, ty]
        # --- to here
    """,
    trials=trials,
    names={"W": W},
    hints=(
        "Without shared memory, one side must go down a column: if the load goes along a row, the"
        " store doesn't. Store a tile in shared memory, row by row, and read it back so that the"
        " store goes along rows, too.",
        "A block that loads tile (bx, by) must store tile (by, bx): exchange "
        "`cuda.blockIdx.x` and `cuda.blockIdx.y`, not `tx` and `ty`.",
        "`tile[ty, tx] = A[row, col]`, a barrier, then `col = cuda.blockIdx.y * W + tx`, "
        "`row = cuda.blockIdx.x * W + ty` and `At[row, col] = tile[tx, ty]`, each guarded"
        " by the sizes of its own matrix.",
    ),
    after="Both sides now use whole sectors. The transposing happens in shared memory, "
    "where a column needs no sectors; what it costs there is the next exercise.",
    budgets=(SECTORS,),
)

NO_CONFLICTS = KernelExercise(
    name="no-conflicts",
    title="transpose without bank conflicts",
    text="""
    @cuda.jit
    def smooth(A, At):
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        M, N = A.shape
        # --- yours, from here
        tile = cuda.shared.array((W, 33), float32)
        # --- to here
        col, row = cuda.blockIdx.x * W + tx, cuda.blockIdx.y * W + ty
        if row < M and col < N:
            tile[ty, tx] = A[row, col]
        cuda.syncthreads()
        col, row = cuda.blockIdx.y * W + tx, cuda.blockIdx.x * W + ty
        if row < N and col < M:
            At[row, col] = tile[tx, ty]
    """,
    start="tile = cuda.shared.array((W, W), float32)",
    trials=trials,
    names={"W": W},
    hints=(
        "A warp reads `tile[tx, ty]`: 32 elements, one row apart. In which banks are they?",
        "With rows of 32 floats, a whole column is in one bank. What if a row were a "
        "little longer?",
        "Rows of 33: `cuda.shared.array((W, 33), float32)`. Then a column visits all 32 "
        "banks, and the last element of each row is never used.",
    ),
    after="One unused column, 128 bytes, and no conflict. In shared memory the bank counts,"
    " not the byte.",
    budgets=(
        SECTORS,
        Quota("bank conflicts", 0, conflicts, "32 elements of a column must lie in 32 banks"),
        Quota("bytes of shared memory a block", W * (W + 8) * 4, shared_bytes, "pad a little"),
    ),
)

"""The capstone: from the naive kernel to a sixteenth of its loads and half of its reads."""

from kernels.lab.exercises.arrays import cdiv
from kernels.lab.exercises.counts import global_count
from kernels.lab.exercises.exercise import FINE, MULTIPLE, ODD, SQUARE, KernelExercise, Quota
from kernels.lab.exercises.products import product_trials

#: The launch that is counted: tiles of 16, 32, 64 and 128 divide it.
M, N, K = 128, 128, 32
SHAPES = ((70, 90, 40, ODD), (5, 18, 33, FINE), (64, 64, 64, SQUARE), (M, N, K, MULTIPLE))
LARGEST = 128


def trials(seed=0, block=(16, 16), tile=None):
    """The launches, in the learner's blocks of threads and tiles of C, both (x, y)."""
    block, tile = _chosen(block, tile)
    depth = (8, 16, 32, 4)
    return product_trials(block=block, tile=tile, depth=depth, shapes=SHAPES, seed=seed)


def timed(size: int, block=(16, 16), tile=None):
    """Grid and block for a product of square matrices."""
    block, tile = _chosen(block, tile)
    return (cdiv(size, tile[0]), cdiv(size, tile[1])), block


def _chosen(block, tile):
    block = _pair(block, "block", "threads")
    return block, block if tile is None else _pair(tile, "tile", "elements of C")


def _pair(value, name, what):
    try:
        x, y = (int(v) for v in value)
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} must be two whole numbers, (x, y) of {what}, got {value!r}"
        ) from None
    if not (1 <= x <= LARGEST and 1 <= y <= LARGEST):
        raise ValueError(
            f"{name} {value!r} is out of range: use 1 to {LARGEST} {what} along each side"
        )
    return x, y


def shared_reads(trace) -> int:
    """Elements read from shared memory, thread by thread."""
    return trace.count(space="shared", op="load")["lanes"]


def reads(trace) -> int:
    """Elements read by the threads, from global and from shared memory."""
    return trace.count(space="global", op="load")["lanes"] + shared_reads(trace)


EXERCISE = KernelExercise(
    name="capstone",
    title="the climb: from naive to thread tiles",
    text="""
    @cuda.jit
    def climb(A, B, C):
        # --- yours, from here
        sA = cuda.shared.array((STEP, ROW), float32)
        sB = cuda.shared.array((STEP, SIDE), float32)
        acc = cuda.local.array((TM, TM), float32)
        a = cuda.local.array(TM, float32)
        b = cuda.local.array(TM, float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        left, top = cuda.blockIdx.x * SIDE, cuda.blockIdx.y * SIDE
        M, N, K = C.shape[0], C.shape[1], A.shape[1]
        threads = SIDE // TM
        number = ty * threads + tx
        for i in range(TM):
            for j in range(TM):
                acc[i, j] = 0
        for k0 in range(0, K, STEP):
            for e in range(number, SIDE * STEP, threads * threads):
                row, k = top + e // STEP, k0 + e % STEP
                sA[e % STEP, e // STEP] = A[row, k] if row < M and k < K else float32(0)
                col, k = left + e % SIDE, k0 + e // SIDE
                sB[e // SIDE, e % SIDE] = B[k, col] if k < K and col < N else float32(0)
            cuda.syncthreads()
            for k in range(STEP):
                for i in range(TM):
                    a[i] = sA[k, ty + i * threads]
                    b[i] = sB[k, tx + i * threads]
                for i in range(TM):
                    for j in range(TM):
                        acc[i, j] += a[i] * b[j]
            cuda.syncthreads()
        for i in range(TM):
            for j in range(TM):
                row, col = top + ty + i * threads, left + tx + j * threads
                if row < M and col < N:
                    C[row, col] = acc[i, j]
        # --- to here
    """,
    start="""
    col, row = cuda.grid(2)
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
    """,
    trials=trials,
    options=("block", "tile"),
    counted=3,
    timed=timed,
    faster=3.0,
    names={"SIDE": 32, "STEP": 8, "TM": 4, "ROW": 33},
    hints=(
        "Start with the tiled kernel of chapter 4: it meets the target for the loads. "
        "What's left are the shared-memory reads, two per multiply-add.",
        "Give a thread 4 × 4 elements: a tile of C of 32 × 32 in blocks of 8 × 8 threads."
        " In each iteration of k it reads 4 numbers of A and 4 of B into registers and "
        "uses each four times.",
        "Each step has three parts: all threads load both tiles together, counting their "
        "elements with a single index; then, for each k, read `a[i]` and `b[j]` into "
        "registers; then `acc[i, j] += a[i] * b[j]`. Pass `block=(8, 8), tile=(32, 32)` "
        "to the check.",
    ),
    after="You've climbed from one load per operand to a thread tile in registers. What's "
    "left up to the library is width, order and patience, and chapter 7 has it.",
    budgets=(
        Quota(
            "loads from global memory", 2 * M * N * K // 16, global_count("lanes", "load"),
            "stage tiles of 16 × 16 or more: each element then serves 16 threads",
        ),
        Quota(
            "sectors loaded", 2 * M * N * K // 16 // 8, global_count("sectors", "load"),
            "neighbouring threads must load neighbouring elements, in rows of eight or more",
        ),
        Quota(
            "reads from both memories", M * N * K, reads,
            "let each thread own several elements of C and keep what it reads in registers",
        ),
    ),
)  # fmt: skip

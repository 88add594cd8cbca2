"""What a product's sums become elsewhere: a place, prefix sums, a product with a vector."""

import numpy as np

from kernels.lab.exercises.arrays import Numbers, cdiv, poisoned, wide
from kernels.lab.exercises.counts import barriers, global_count
from kernels.lab.exercises.exercise import (
    FINE,
    MULTIPLE,
    ODD,
    SQUARE,
    KernelExercise,
    NumberExercise,
    Quota,
    Suspect,
    Trial,
)
from kernels.lab.exercises.flaws import Flaw

WARP, BLOCK, ROWS = 32, 64, 8
#: The columns of the largest number, row by row: at the ends of a warp's turns, alone; then several
#: times in one lane, in neighbouring ones, and with the first place in a later lane.
STANDS = ((31,), (32,), (64,), (149,), (3, 35), (5, 6, 80), (70, 20), (0,))


# ------------------------------------------------------------------------- the largest, and where


def places(seed=0):
    shapes = ((8, 150, ODD), (3, 137, FINE), (64, 64, SQUARE), (4, 96, MULTIPLE), (2, 7, ODD))
    return [_place(*shape, seed) for shape in shapes]


def _place(M, N, role, seed):
    numbers = Numbers(role, seed, M, N)
    A = numbers(M, N)
    A -= np.float32(8)  # all below zero: whoever begins with 0 finds nothing
    for row, stands in enumerate(STANDS[:M] if role != FINE else ()):
        A[row, [min(column, N - 1) for column in stands]] = -1
    for line in A if role == FINE else ():  # only float32 tells the two largest apart
        second, first = WARP + line[WARP : 2 * WARP].argmax(), 2 * WARP + line[2 * WARP :].argmax()
        line[first] = line.max() / 2
        line[second] = np.nextafter(line[first], line.min())
    want = A.argmax(axis=1)

    def suspects():
        last = N - 1 - A[:, ::-1].argmax(axis=1)
        yield Suspect(Flaw.WRONG, "of equal numbers, the first counts", last.astype(np.float32))
        yield Suspect(Flaw.WRONG, "these are the largest numbers, not their columns",
                      A.max(axis=1))  # fmt: skip
        alone = A[:, ::WARP].argmax(axis=1) * WARP
        yield Suspect(Flaw.WRONG, "this is what lane 0 finds in its own columns",
                      alone.astype(np.float32))  # fmt: skip
        yield Suspect(Flaw.DROPPED_TILE, f"only the first {WARP} columns are looked at",
                      A[:, :WARP].argmax(axis=1).astype(np.float32))  # fmt: skip
        halves = A.astype(np.float16).argmax(axis=1)
        yield Suspect(Flaw.ROUNDED, "compare in float32: in fewer digits the two largest numbers "
                      "are equal", halves.astype(np.float32))  # fmt: skip

    arguments = {"A": A, "columns": poisoned(M)}
    expected = {"columns": want.astype(np.float32)}
    return Trial(f"{M} × {N}", (M,), (WARP,), arguments, expected, {}, suspects, role)


LARGEST = KernelExercise(
    name="largest",
    title="where the largest number of each row stands",
    text="""
    @cuda.jit
    def largest(A, columns):
        lane, row = cuda.threadIdx.x, cuda.blockIdx.x
        N = A.shape[1]
        # --- yours, from here
        col = min(lane, N - 1)
        best = A[row, col]
        for k in range(lane + 32, N, 32):
            value = A[row, k]
            if value > best:
                best, col = value, k
        step = 16
        while step > 0:
            other = cuda.shfl_down_sync(ALL, best, step)
            place = cuda.shfl_down_sync(ALL, col, step)
            if other > best or (other == best and place < col):
                best, col = other, place
            step //= 2
        # --- to here
        if lane == 0:
            columns[row] = col
    """,
    trials=places,
    names={"ALL": 0xFFFFFFFF},
    hints=(
"There are two parts, as in a sum. Each lane finds the largest of its own columns: lane, lane + "
"32, and so on. Then lanes 16 apart compare what they found, then 8, 4, 2 and 1 apart.",
"A lane hands over two numbers, the largest and its column, so each step needs two shuffles. A "
"lane beyond the row's end can begin with the last column.",
"`if other > best or (other == best and place < col): best, col = other, place`. Both shuffles "
"stand before the if, so that all 32 lanes take part.",
),
    after="Any operation whose order and grouping don't matter can replace the addition: the "
"largest with its place, a minimum, a softmax's pair of maximum and sum.",
    budgets=(
        Quota("loads", 8 * 150, global_count("lanes", "load"), "every element is loaded once"),
        Quota("sectors loaded", 240, global_count("sectors", "load"),
               "neighbouring lanes must load neighbouring columns"),
        Quota("barriers", 0, barriers, "one warp needs no shared memory: its lanes can shuffle"),
    ),
)  # fmt: skip


# --------------------------------------------------------------------------------- prefix sums


def scans(seed=0):
    shapes = ((5, 150, ODD), (3, 137, FINE), (192, 192, SQUARE), (4, 192, MULTIPLE), (2, 65, ODD))
    return [_scan(*shape, seed) for shape in shapes]


def _scan(M, N, role, seed):
    numbers = Numbers(role, seed, M, N)
    A = numbers(M, N, low=-9, high=9)
    want = wide(A).cumsum(axis=1)

    def suspects():
        yield Suspect(Flaw.WRONG, "each sum lacks its own element: this scan is exclusive",
                      want - A)  # fmt: skip
        if N > BLOCK:
            chunks = [wide(A[:, i : i + BLOCK]).cumsum(axis=1) for i in range(0, N, BLOCK)]
            yield Suspect(Flaw.LOST_SUM, f"every {BLOCK} columns, the sum begins anew",
                          np.hstack(chunks))  # fmt: skip
        if M == N:
            yield Suspect(Flaw.SWAPPED, "these are prefix sums of the columns",
                          wide(A).cumsum(axis=0))  # fmt: skip

    bounds = numbers.bounds("S", N, abs(wide(A)).cumsum(axis=1))
    arguments = {"A": A, "S": poisoned(M, N)}
    return Trial(f"{M} × {N}", (M,), (BLOCK,), arguments, {"S": want}, bounds, suspects, role)


ROW_SCAN = KernelExercise(
    name="row-scan",
    title="the prefix sums of each row",
    text="""
    @cuda.jit
    def row_scan(A, S):
        s = cuda.shared.array(THREADS, float32)
        t, row = cuda.threadIdx.x, cuda.blockIdx.x
        N = A.shape[1]
        # --- yours, from here
        before = float32(0)
        for start in range(0, N, THREADS):
            col = start + t
            s[t] = A[row, col] if col < N else float32(0)
            cuda.syncthreads()
            step = 1
            while step < THREADS:
                left = s[t - step] if t >= step else float32(0)
                cuda.syncthreads()
                s[t] += left
                cuda.syncthreads()
                step *= 2
            if col < N:
                S[row, col] = before + s[t]
            before += s[THREADS - 1]
            cuda.syncthreads()
        # --- to here
    """,
    trials=scans,
    names={"THREADS": BLOCK},
    hints=(
"The block takes 64 columns at a time. In shared memory, each thread adds what stands 1, 2, 4, …, "
"32 places to its left. Then it adds the sum of all earlier columns.",
"Put a barrier between reading a neighbour's number and overwriting your own, and another before "
"the next step.",
"`left = s[t - step] if t >= step else float32(0)`, a barrier, `s[t] += left`, a barrier, `step "
"*= 2`. After the steps, `before += s[THREADS - 1]`, and a barrier before `s` is used again.",
),
    after="Six steps give 64 sums at once, but in each step at least half of the threads add: 321 "
"additions where a loop needs 63. The scan trades work for time.",
    budgets=(
        Quota("loads", 5 * 150, global_count("lanes", "load"), "every element is loaded once"),
        Quota("sectors loaded", 120, global_count("sectors", "load"),
               "neighbouring threads must load neighbouring columns"),
        Quota("barriers", 5 * 3 * 14, barriers, "log₂(64) = 6 steps per 64 columns are enough"),
    ),
)  # fmt: skip


# ------------------------------------------------------------------- the transposed matrix's turn


def columns(seed=0):
    shapes = ((37, 70, ODD), (29, 43, FINE), (64, 64, SQUARE), (16, 96, MULTIPLE), (3, 5, ODD))
    return [_columns(*shape, seed) for shape in shapes]


def _columns(N, K, role, seed):
    numbers = Numbers(role, seed, N, K)
    W, g = numbers(N, K), numbers(N)
    want = wide(g) @ wide(W)

    def suspects():
        one = wide(g)[::ROWS] @ wide(W)[::ROWS]
        yield Suspect(Flaw.WRONG, "only the sums of the threads with y = 0 are there", one)
        yield Suspect(Flaw.DROPPED_TILE, f"only the first {ROWS} rows are added",
                      wide(g)[:ROWS] @ wide(W)[:ROWS])  # fmt: skip
        if N == K:
            yield Suspect(Flaw.TRANSPOSED, "this is W · g, not Wᵀ · g", wide(W) @ wide(g))

    bounds = numbers.bounds("d", N, abs(wide(g)) @ abs(wide(W)))
    arguments = {"W": W, "g": g, "d": poisoned(K)}
    grid, block = (cdiv(K, WARP),), (WARP, ROWS)
    return Trial(f"N, K = {N}, {K}", grid, block, arguments, {"d": want}, bounds, suspects, role)


TURNED = KernelExercise(
    name="turned-matvec",
    title="the gradient of a layer's input, Wᵀ · g",
    text="""
    @cuda.jit
    def turned(W, g, d):
        s = cuda.shared.array((ROWS, 32), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        col = cuda.blockIdx.x * 32 + tx
        N, K = W.shape
        # --- yours, from here
        acc = float32(0)
        if col < K:
            for row in range(ty, N, ROWS):
                acc += W[row, col] * g[row]
        s[ty, tx] = acc
        cuda.syncthreads()
        half = ROWS // 2
        while half > 0:
            if ty < half:
                s[ty, tx] += s[ty + half, tx]
            cuda.syncthreads()
            half //= 2
        # --- to here
        if ty == 0 and col < K:
            d[col] = s[0, tx]
    """,
    trials=columns,
    names={"ROWS": ROWS},
    hints=(
"Now each sum runs down a column. A warp takes 32 columns side by side, so its loads are "
"coalesced, and no sum needs a shuffle. Each of the eight warps takes every eighth row.",
"Each thread adds up its own rows, ty, ty + 8, and so on. The eight sums of a column are then in "
"eight different warps, so they meet in shared memory.",
"`s[ty, tx] = acc`, a barrier, then with half = 4, 2, 1: `if ty < half: s[ty, tx] += s[ty + half, "
"tx]`, and a barrier outside the if.",
),
    after="W · x needs a warp per row, Wᵀ · g a lane per column: in both, the lanes of a warp load "
"neighbours. The layout of W decides which threads share a sum.",
    budgets=(
        Quota("loads of W", 37 * 70, global_count("lanes", "load", "W"),
               "every element is loaded once"),
        Quota("sectors of W", 420, global_count("sectors", "load", "W"),
               "neighbouring lanes must load neighbouring columns"),
        Quota("loads", 2 * 37 * 70, global_count("lanes", "load"),
               "g is loaded once per element of W"),
    ),
)  # fmt: skip


# ------------------------------------------------------------------------------------ the numbers

BANDWIDTH, WEIGHTS = 4.8e12, 7e9  # bytes per second; weights of a model

TOKENS = NumberExercise(
    name="tokens",
    title="how many tokens per second",
    hints=(
        "With one user, every weight is loaded once per token and used for one multiply-add.",
        "7 · 10⁹ weights of 2 bytes are 14 GB. How often do 4.8 TB per second load them?",
        "Eight users share each sweep over the weights, so each sweep makes eight tokens. Half a "
        "byte per weight is a quarter of the bytes.",
    ),
    after="Where memory alone limits the speed, fewer bytes per weight and more users per sweep "
    "help by the same law. Faster arithmetic units don't help at all.",
    answers={
        "one_user": BANDWIDTH / (2 * WEIGHTS),
        "eight_users": 8 * BANDWIDTH / (2 * WEIGHTS),
        "four_bits": BANDWIDTH / (WEIGHTS / 2),
    },
    mistakes={
        ("one_user", BANDWIDTH / WEIGHTS): "a weight of 16 bits has 2 bytes",
        ("one_user", BANDWIDTH / (4 * WEIGHTS)): "a weight of 16 bits has 2 bytes, not 4",
        ("eight_users", BANDWIDTH / (2 * WEIGHTS)): "each sweep makes a token for every user",
        ("eight_users", BANDWIDTH / (16 * WEIGHTS)): "the users share the sweep",
        ("four_bits", 2 * BANDWIDTH / (2 * WEIGHTS)): "4 bits are a quarter of 16",
        ("four_bits", BANDWIDTH / (4 * WEIGHTS)): "four bits, not four bytes",
    },
    allowance=0.01,
)

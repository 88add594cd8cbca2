"""Two dimensions: add two matrices, with a guard in each direction and a grid to match."""

from kernels.lab.exercises.arrays import Numbers, cdiv, poisoned
from kernels.lab.exercises.counts import global_count
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

BLOCK = (16, 8)
SHAPES = ((37, 50, ODD), (9, 70, FINE), (32, 32, SQUARE), (24, 48, MULTIPLE))


def trials(seed=0, grid=None):
    """The launches; a learner's grid is for the first of them, 37 × 50."""
    grids = (grid, *(None for _ in SHAPES[1:]))
    return [_trial(*shape, seed, grid) for shape, grid in zip(SHAPES, grids, strict=True)]


def _trial(M, N, role, seed, grid):
    numbers = Numbers(role, seed, M, N)
    A, B = numbers(M, N), numbers(M, N)

    def suspects():
        return (
            Suspect(Flaw.TRANSPOSED, "this is the transpose: row and col are swapped", (A + B).T),
            Suspect(Flaw.SWAPPED, "this is A + Bᵀ: an index into B is swapped", A + B.T)
            if M == N
            else Suspect(Flaw.WRONG, "this is A - B", A - B),
            Suspect(Flaw.SWAPPED, "this is Aᵀ + B: an index into A is swapped", A.T + B)
            if M == N
            else Suspect(Flaw.WRONG, "this is A · B, element by element", A * B),
            Suspect(Flaw.WRONG, "this is A + A: B is not read", A + A),
        )

    name = f"{M} × {N}" + (f" in your grid, {grid}" if grid else "")
    grid = grid or (cdiv(N, BLOCK[0]), cdiv(M, BLOCK[1]))
    arguments = {"A": A, "B": B, "C": poisoned(M, N)}
    return Trial(name, grid, BLOCK, arguments, {"C": A + B}, {}, suspects, role)


EXERCISE = KernelExercise(
    name="matrix-add",
    title="add two matrices on a two-dimensional grid",
    text="""
    @cuda.jit
    def matrix_add(A, B, C):
        # --- yours, from here
        col, row = cuda.grid(2)
        if row < C.shape[0] and col < C.shape[1]:
            C[row, col] = A[row, col] + B[row, col]
        # --- to here
    """,
    trials=trials,
    options=("grid",),
    hints=(
        "row comes from the .y values, col from the .x values; `cuda.grid(2)` gives (col, row) in"
        " this order. `C.shape` is (rows, columns).",
        "Both directions need a guard: `row < C.shape[0] and col < C.shape[1]`. Index with the row"
        " first, `C[row, col]`.",
        "The grid is `(cdiv(columns, 16), cdiv(rows, 8))`: x covers the columns, y the rows.",
    ),
    after="x is the column and y is the row, in the kernel, in the block and in the grid.",
    budgets=(
        Quota("requests", 3 * 76, global_count("requests"), "load A and B once, store C once"),
    ),
)

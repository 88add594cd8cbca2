"""Numbers to predict about several GPUs: chapter 9."""

from kernels.distributed.algorithms import schedule

from ..exercise import NumberExercise

CHAPTER = "09-many-gpus"
SIZE, GPUS = 8192, 16


def _received(name: str, gpus: str, itemsize: int) -> int:
    """Bytes that the first GPU receives."""
    return schedule(name, SIZE, SIZE, SIZE, gpus).received(0, itemsize)


TRAFFIC = NumberExercise(
    name="into-one-gpu",
    chapter=CHAPTER,
    title="what sixteen GPUs receive",
    hints=(
        "A matrix of 8192 × 8192 has 2²⁶ elements. With rows, a GPU holds a sixteenth of B and"
        " needs all of it.",
        "On a grid of 4 × 4, it needs the quarter of A that's in its row of the grid, and the"
        " quarter of B that's in its column. It holds a quarter of each.",
        "If K is split, shares of C move, and they are sums in float32, whatever A and B are."
        " A GPU receives 15 shares of a sixteenth of C.",
    ),
    after="Twice three quarters of a quarter is three eighths of a matrix, where rows need fifteen"
    " sixteenths. Half the bytes per element halve what moves of A and B, and not what moves of C.",
    answers={
        "rows_fp32": _received("rows", f"{GPUS}", 4),
        "rows_bf16": _received("rows", f"{GPUS}", 2),
        "summa_fp32": _received("summa", "4x4", 4),
        "split_k_bf16": _received("split_k", f"{GPUS}", 2),
    },
    mistakes={
        ("rows_fp32", 4 * SIZE**2): "it already holds a sixteenth of B",
        ("rows_bf16", 2 * SIZE**2): "it already holds a sixteenth of B",
        ("summa_fp32", 2 * SIZE**2): "of these two quarters, it already holds a quarter",
        ("summa_fp32", 3 * SIZE**2 // 4): "it receives parts of both A and B",
        ("split_k_bf16", 2 * 15 * SIZE**2 // 16): "sums of C are moved in float32, 4 bytes each",
    },
)

HIDDEN = NumberExercise(
    name="hidden-from",
    chapter=CHAPTER,
    title="from which size the traffic hides",
    hints=(
        "While a GPU multiplies its n/2 rows of A by its own n/2 columns of B, the other half of B"
        " arrives. Compare these two times.",
        "That product takes 2 · n · n/2 · n/2 operations, and half of B has n · n/2 elements.",
        "n³/2 operations over F, against n²/2 · b bytes over L: they're equal at n = b · F / L.",
    ),
    after="Arithmetic grows with n³ and traffic with n², so every link is fast enough for some"
    " matrix. Sixteen times the arithmetic with half the bytes needs eight times the size.",
    answers={"fp32": 500, "bf16": 4000, "pcie": 8000},
    mistakes={
        ("fp32", 125): "each number has 4 bytes",
        ("fp32", 1000): "a multiplication and an addition are two operations",
        ("bf16", 8000): "numbers of bf16 have 2 bytes",
        ("pcie", 2000): "each number has 4 bytes",
    },
)

EXERCISES = (TRAFFIC, HIDDEN)

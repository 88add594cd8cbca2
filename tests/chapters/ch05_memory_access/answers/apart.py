"""Four elements a thread, a block of threads apart."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.flaws import Flaw

PLACE = "first + k * width + tx"
WRONG = [
    ("no guard", "if place < b.size:", "if True:", Flaw.MISSING_GUARD),
    ("guard too early", "place < b.size", "place < b.size - 1", Flaw.UNWRITTEN),
    ("neighbours for the thread", PLACE, "first + 4 * tx + k", Flaw.BUDGET),
    ("three elements", "range(4)", "range(3)", (Flaw.UNWRITTEN, Flaw.DROPPED_TILE)),
    ("five elements", "range(4)", "range(5)", (Flaw.RACE, Flaw.MISSING_GUARD, Flaw.BUDGET)),
    (
        "the first block of each",
        "cuda.blockIdx.x * 4 * width",
        "cuda.blockIdx.x * width",
        (Flaw.RACE, Flaw.UNWRITTEN, Flaw.BUDGET),
    ),
    ("every block the same", "cuda.blockIdx.x * 4 * width", "0", (Flaw.RACE, Flaw.UNWRITTEN)),
    ("one element four times", "k * width + tx", "tx", (Flaw.UNWRITTEN, Flaw.RACE)),
    (
        "loads from the wrong place",
        "= a[place]",
        "= a[first + tx]",
        (Flaw.WRONG, Flaw.MISSING_GUARD),
    ),
    ("backwards", "= a[place]", "= a[a.size - 1 - place]", Flaw.WRONG),
    (
        "stores into a",
        "b[place] = a[place]",
        "a[place] = a[place]",
        (Flaw.INPUT_CHANGED, Flaw.NOTHING_WRITTEN),
    ),
    ("float64", "= a[place]", "= 1.0 * a[place]", Flaw.FLOAT64),
    ("whole numbers stored", "b[place] = a[place]", "b[place] = int(a[place])", Flaw.ROUNDED),
]
RIGHT = [
    (
        "a loop over places",
        "for k in range(4):\n        place = first + k * width + tx\n",
        "for place in range(first + tx, first + 4 * width, width):\n",
    ),
    ("from the last to the first", "range(4)", "range(3, -1, -1)"),
]

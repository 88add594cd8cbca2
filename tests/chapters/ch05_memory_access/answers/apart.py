"""Four elements a thread, a block of threads apart."""
# ruff: noqa: E501 - a row of a table is one line

from kernels.lab.exercises.kinds import Kind

PLACE = "first + k * width + tx"
WRONG = [
    ("no guard", "if place < b.size:", "if True:", Kind.MISSING_GUARD),
    ("guard too early", "place < b.size", "place < b.size - 1", Kind.UNWRITTEN),
    ("neighbours for the thread", PLACE, "first + 4 * tx + k", Kind.BUDGET),
    ("three elements", "range(4)", "range(3)", (Kind.UNWRITTEN, Kind.DROPPED_TILE)),
    ("five elements", "range(4)", "range(5)", (Kind.RACE, Kind.MISSING_GUARD, Kind.BUDGET)),
    (
        "the first block of each",
        "cuda.blockIdx.x * 4 * width",
        "cuda.blockIdx.x * width",
        (Kind.RACE, Kind.UNWRITTEN, Kind.BUDGET),
    ),
    ("every block the same", "cuda.blockIdx.x * 4 * width", "0", (Kind.RACE, Kind.UNWRITTEN)),
    ("one element four times", "k * width + tx", "tx", (Kind.UNWRITTEN, Kind.RACE)),
    (
        "loads from the wrong place",
        "= a[place]",
        "= a[first + tx]",
        (Kind.WRONG, Kind.MISSING_GUARD),
    ),
    ("backwards", "= a[place]", "= a[a.size - 1 - place]", Kind.WRONG),
    (
        "stores into a",
        "b[place] = a[place]",
        "a[place] = a[place]",
        (Kind.INPUT_CHANGED, Kind.NOTHING_WRITTEN),
    ),
    ("float64", "= a[place]", "= 1.0 * a[place]", Kind.FLOAT64),
    ("whole numbers stored", "b[place] = a[place]", "b[place] = int(a[place])", Kind.ROUNDED),
]
RIGHT = [
    (
        "a loop over places",
        "for k in range(4):\n        place = first + k * width + tx\n",
        "for place in range(first + tx, first + 4 * width, width):\n",
    ),
    ("from the last to the first", "range(4)", "range(3, -1, -1)"),
]

"""The descriptor of a tile in shared memory, to fill in by hand."""

from kernels.lab.exercises.exercise import NumberExercise

#: Where a warpgroup's B begins at k = 16: bytes of shared memory, and of a panel of 64 columns.
START, PANEL = 16384 + 16 * 128, 64 * 128

DESCRIPTOR = NumberExercise(
    name="descriptor-bits",
    title="fill the descriptor",
    hints=(
        "All distances in a descriptor are in units of 16 bytes.",
        "B's first row of 16 is k · 128 bytes behind the start of its tile. A panel has 64 rows of"
        " 128 bytes.",
        "18432 / 16, 8192 / 16, and for eight rows of 128 bytes 1024 / 16.",
    ),
    after="Fourteen bits of 16-byte units reach 256 KiB, more than the shared memory of a block."
    " Tiles lie on 1024-byte boundaries for another reason: the swizzle repeats every 8 rows of 128"
    " bytes.",
    answers={"start": START // 16, "leading": PANEL // 16, "stride": 1024 // 16},
    mistakes={
        ("start", START): "that's in bytes: the descriptor counts units of 16",
        ("start", 16384 // 16): "that's k = 0: sixteen rows further down",
        ("start", (16384 + 16 * 2) // 16): "k counts rows of B here, not columns: 128 bytes each",
        ("leading", PANEL): "that's in bytes: the descriptor counts units of 16",
        ("leading", 128 // 16): "that's a row; a panel has 64 of them",
        ("stride", 1024): "that's in bytes: the descriptor counts units of 16",
        ("stride", 128 // 16): "that's one row; the swizzle repeats every eight",
    },
)

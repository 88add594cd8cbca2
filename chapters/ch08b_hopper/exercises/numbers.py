"""Numbers to predict about a kernel for Hopper: tiles, descriptors, stages."""

from kernels.lab.exercises.exercise import NumberExercise

#: What the tensor cores of one SM of an H100 or H200 multiply and add per cycle.
FLOP_PER_CYCLE = 4096


def _clocks(BM: int, BN: int, BK: int) -> int:
    """Cycles in which the tensor cores of an SM multiply a pair of tiles."""
    return 2 * BM * BN * BK // FLOP_PER_CYCLE


def _slots(clocks: int, away: int = 1500) -> int:
    """Stages of a buffer that never runs dry: each is in flight, and then in use."""
    return -(-(away + clocks) // clocks)


INTENSITY = NumberExercise(
    name="tile-intensity",
    title="which tile reaches the ridge",
    hints=(
        "For each k, a block tile needs BM + BN numbers of 2 bytes and does 2 · BM · BN operations"
        " with them.",
        "So the intensity is BM · BN / (BM + BN). For a square tile, that's half its side.",
        "989 TFLOP/s over 4.8 TB/s is a little more than 206 FLOP per byte. Half of which power of"
        " two is above that?",
    ),
    after="A tile of 512 × 512 has a quarter of a million sums, more than an SM has registers. So"
    " no block reaches the ridge by itself: L2 and clusters have to serve some of the bytes.",
    answers={"square_128": 64, "wide_256": 256 * 128 / 384, "square_256": 128, "side": 512},
    mistakes={
        ("square_128", 32): "that's for numbers of 4 bytes: these have 2",
        ("square_128", 128): "each number has 2 bytes",
        ("wide_256", 128 * 256 / 192): "count both A and B: 128 + 256 numbers for each k",
        ("side", 256): "half of 256 is 128, and the ridge is beyond 200",
    },
    allowance=0.01,
)

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

SLOTS = NumberExercise(
    name="stages-that-fit",
    title="how many stages are enough",
    hints=(
        "Each pair of tiles needs 2 · BM · BN · BK operations, and the SM does 4096 per cycle.",
        "Each pair of tiles occupies a stage for 1500 cycles while it's in flight, and then for as"
        " long as the multiplication takes.",
        "(1500 + cycles) / cycles, rounded up.",
    ),
    after="Small steps need more stages but fewer bytes: 4 · 24 KB against 3 · 48 KB. The price is"
          " a wait at a barrier for every 512 cycles of work, and rows of 64 bytes.",
    answers={
        "cycles_64": _clocks(128, 256, 64), "stages_64": _slots(_clocks(128, 256, 64)),
        "cycles_32": _clocks(128, 256, 32), "stages_32": _slots(_clocks(128, 256, 32)),
    },
    mistakes={
        ("cycles_64", 512): "a multiplication and an addition are two operations",
        ("stages_64", 2): "with two stages, the first has 1024 cycles to load while the second is"
                         " multiplied, and its tiles take 1500",
        ("stages_32", 3): "1500 cycles are nearly three times 512, and one more stage is being"
                         " multiplied",
    },
)  # fmt: skip

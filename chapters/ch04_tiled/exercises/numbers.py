"""Numbers to predict about the tiled product: chapter 4."""

from kernels.lab.exercises.exercise import NumberExercise


def _moved(tile: int, size: int = 4096) -> int:
    """Bytes in the load sectors: 2·size³/tile loads, 32 per request, four sectors of 32 bytes."""
    return 2 * size**3 // tile // 32 * 4 * 32


BANDWIDTH = NumberExercise(
    name="bytes-in-sectors",
    title="how many bytes the tiled kernel loads",
    hints=(
        "The 4096³ product has 4096³ / T loads of A and as many of B, 32 of them per request.",
        "For T = 16 and 32 each request takes 4 sectors of 32 bytes. For T = 8 one warp covers four"
        " rows of eight threads: how many sectors is that?",
        "Four, too: one full sector in each row. So it is 2 · 4096³ / T / 32 requests, times 4"
        " sectors, times 32 bytes.",
    ),
    after="Half as many bytes for each doubling of T. The time doesn't halve with them, so the rate"
    " falls as the tile grows: this kernel doesn't wait for DRAM.",
    answers={"T_8": _moved(8), "T_16": _moved(16), "T_32": _moved(32)},
    mistakes={
        ("T_8", 2 * 4096**3 // 8): "those are loads; each is 4 bytes",
        ("T_16", _moved(16) // 2): "that is A alone: B is loaded as often",
        ("T_32", _moved(32) // 2): "that is A alone: B is loaded as often",
    },
    allowance=0.01,
)

THREE_GUARDS = NumberExercise(
    name="three-guards",
    title="which guard fails at which size",
    hints=(
        "row sticks out if T doesn't divide M; col, if it doesn't divide N; ka and kb, if it"
        " doesn't divide K.",
        "Look at which of row, col, ka and kb each guard tests: A has row and ka, B has kb and col,"
        " C has row and col.",
        "Each guard fails at the two sizes that it tests, and only at these.",
    ),
    after="None of the three guards can replace another.",
    answers={
        "A_M": 1, "A_N": 0, "A_K": 1,
        "B_M": 0, "B_N": 1, "B_K": 1,
        "C_M": 1, "C_N": 1, "C_K": 0,
    },
    mistakes={
        ("A_N", 1): "A has no side of length N: its guard tests row and ka",
        ("B_M", 1): "B has no side of length M: its guard tests kb and col",
        ("C_K", 1): "C has no side of length K: its guard tests row and col",
        ("C_M", 0): "a row beyond M would be stored",
    },
)  # fmt: skip

ON_ITS_SIDE = NumberExercise(
    name="on-its-side",
    title="the price of a transposed tile",
    hints=(
        "Which 32 elements of sA does one warp write at once, and how many bytes lie between two"
        " neighbours?",
        "Shared memory has 32 banks of 4 bytes. Elements 128 bytes apart are in the same bank, and"
        " a bank gives one of them per wavefront.",
        "The store writes a column of a 32 × 32 tile: all in one bank. The load `sA[k, ty]` is the"
        " same element for all lanes: a broadcast.",
    ),
    after="The result is right and the global loads are still coalesced; the stores to shared"
    " memory take longer. Chapter 5b stores a tile transposed without that price.",
    answers={"store": 32, "load": 1},
    mistakes={
        ("store", 1): "the lanes differ in tx, the first index: neighbours lie a row apart",
        ("store", 31): "those are the conflicts; the first wavefront is no conflict",
        ("load", 32): "all lanes of a warp read the same element: one wavefront serves them all",
    },
)

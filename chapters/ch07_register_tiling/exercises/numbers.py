"""Numbers to predict about thread tiles, registers and block tiles: chapter 7."""

from math import ceil

from kernels.lab.exercises.exercise import NumberExercise

SMALLEST_TILE = NumberExercise(
    name="smallest-tile",
    title="the smallest thread tile that shared memory can feed",
    hints=(
        "A thread tile of p × p needs 2p wavefronts for p² FMAs.",
        "At two FMAs per cycle the arithmetic takes p² / 2 cycles, in which shared memory serves"
        " p² / 2 wavefronts.",
        "2p ≤ p² / 2, so p ≥ 4; at four per cycle it's 2p ≤ p² / 4.",
    ),
    after="The faster the arithmetic beside its shared memory, the larger the thread tile that"
    " keeps it fed, and the more registers that takes.",
    answers={"two_per_cycle": 4, "four_per_cycle": 8},
    mistakes={
        ("two_per_cycle", 2): "2 × 2 needs four wavefronts, and its arithmetic takes two cycles",
        ("two_per_cycle", 1): "one FMA needs two wavefronts",
        ("four_per_cycle", 4): "4 × 4 needs eight wavefronts, and its arithmetic takes four cycles",
        ("four_per_cycle", 16): "that's safe, and more than it takes",
    },
)


def _resident(registers: int, threads: int, file: int = 65536) -> int:
    """Threads that the registers of an SM hold, in whole blocks."""
    a_warp = ceil(32 * registers / 256) * 256
    return file // a_warp // 4 * 4 // (threads // 32) * threads


_VALUES = 16 * 8 + 2 * (16 + 8) + 2 * 128 * 16 // 128

REGISTER_BUDGET = NumberExercise(
    name="register-budget",
    title="the registers of a thread with 128 sums",
    hints=(
        "16 · 8 sums, twice 16 + 8 for a and b, and 2 · 128 · 16 elements in flight, shared among"
        " 128 threads.",
        "128 + 48 + 32 values, and 24 more for addresses. A warp takes 32 times as many registers.",
        "232 registers are 7424 per warp. How many whole groups of four warps fit into 65,536?",
    ),
    after="A thread with many sums of its own hides its own latency: it needs few neighbours.",
    answers={"values": _VALUES, "threads": _resident(_VALUES + 24, 128)},
    mistakes={
        ("values", 176): "the elements of the next tiles wait in registers too",
        ("values", 184): "a and b are there twice: one set is multiplied, the other is filled",
        ("values", 152): "a and b are there twice, and the next tiles are in flight",
        ("threads", 282): "registers are handed out to warps, and an SM holds whole blocks",
        ("threads", 128): "a second block of four warps fits as well",
    },
)

ONE_PIECE = NumberExercise(
    name="one-piece",
    title="the price of a contiguous thread tile",
    hints=(
        "Lane tx reads word 8 · tx + j. In which banks do 16 lanes with a stride of eight words"
        " meet?",
        "Word w is in bank w mod 32: a stride of eight hits four banks, and four lanes meet in"
        " each. The warp's second row of lanes reads the same words again.",
        "The store: lanes that lie 32 bytes apart touch a sector each. Spread, each of the two rows"
        " of lanes writes 64 bytes side by side.",
    ),
    after="What's contiguous for a thread is a stride for its warp: spread a thread's tile, and its"
    " warp reads and writes side by side.",
    answers={"reads_in_one": 4, "reads_apart": 1, "sectors_in_one": 32, "sectors_apart": 4},
    mistakes={
        ("reads_in_one", 8): "the second row of lanes reads the same words as the first",
        ("reads_in_one", 1): "16 lanes with a stride of eight words are in four banks only",
        ("reads_apart", 2): "both rows of lanes read the same words: one wavefront serves both",
        ("sectors_in_one", 16): "the two rows of lanes write two rows of C",
        ("sectors_apart", 2): "the two rows of lanes write two rows of C",
    },
)

TILE_BYTES = NumberExercise(
    name="tile-bytes",
    title="the bytes that block tiles load",
    hints=(
        "There are 4096² / T² blocks, and each loads 2T numbers of four bytes per k.",
        "Together that's 4 · 4096³ · 2 / T bytes.",
        "T = 32: 4 · 4096³ / 16. Each doubling of T halves it.",
    ),
    after="A larger block tile does for L2 what a larger thread tile does for shared memory.",
    answers={f"T_{T}": 4 * 4096**3 * 2 // T for T in (32, 64, 128)},
    mistakes={
        ("T_32", 4096**3 * 2 // 32): "those are numbers; each has 4 bytes",
        ("T_64", 4 * 4096**3 // 64): "that's A alone: B is loaded as often",
        ("T_128", 4 * 4096**3 // 128): "that's A alone: B is loaded as often",
    },
    allowance=0.01,
)

LAST_WAVE = NumberExercise(
    name="last-wave",
    title="waves of blocks at 4097³",
    hints=(
        "4097 / 128, rounded up, in both directions.",
        "264 blocks run at the same time. 1089 / 264 is a little more than four.",
        "A nearly empty last wave takes between half and all of a full one's time: its blocks don't"
        " share their SM. It's a wave all the same. With quarters there are 4 · 1089 blocks.",
    ),
    after="Many small portions keep the GPU full to the end; few large ones leave a wave nearly"
    " empty.",
    answers={"blocks": 1089, "waves": 5, "waves_of_quarters": 17},
    mistakes={
        ("blocks", 1024): "the last row and the last column of C need blocks of their own",
        ("waves", 4): "33 blocks are left over, and they take a wave as well",
        ("waves", 9): "two blocks run on each of the 132 SMs",
        ("waves_of_quarters", 20): "the blocks of all quarters start one after the other: round up"
        " only at the end",
        ("waves_of_quarters", 16): "132 blocks are left over, and they take a wave as well",
    },
)

"""Numbers to predict for the mixed problems."""

from kernels.basics.data_sheets import gpu
from kernels.lab.exercises.exercise import NumberExercise


def _resident(name: str, tile: int) -> int:
    """Threads of an SM that blocks of tile × tile threads fill."""
    sheet = gpu(name)
    threads = tile * tile
    return min(sheet.threads_per_sm // threads, sheet.blocks_per_sm) * threads


def _best(name: str) -> int:
    """The largest tile among those that fill an SM best."""
    most = max(_resident(name, tile) for tile in (8, 16, 32))
    return max(tile for tile in (8, 16, 32) if _resident(name, tile) == most)


CHOOSE_TILE = NumberExercise(
    name="choose-tile",
    title="choose a tile for a given GPU",
    hints=(
        "A block of T × T threads is resident as a whole or not at all. How many blocks "
        "of 64, 256 and 1024 threads fit into an SM's limit of threads, and into its "
        "limit of blocks?",
        "RTX 3090: 1536 threads and 16 blocks per SM. T4: 1024 and 16. H200: 2048 and 32.",
        "On the RTX 3090 only T = 16 fills all 1536 slots, with six blocks of 256. On the other"
        " two, several tiles fill the SM, and the largest of them loads least.",
    ),
    after="The best tile is a property of the GPU, not of the algorithm. That's why the "
    "rungs take it as an argument.",
    answers={"rtx3090": _best("rtx-3090"), "t4": _best("t4"), "h200": _best("h200")},
    mistakes={
        ("rtx3090", 32): "one block of 1024 threads leaves 512 of 1536 slots empty",
        ("rtx3090", 8): "16 blocks of 64 fill 1024 of 1536 slots",
        ("t4", 16): "it fills the SM, and so does a tile that loads half as much",
        ("h200", 64): "4096 threads are more than a block may have",
        ("t4", 64): "4096 threads are more than a block may have",
        ("rtx3090", 64): "4096 threads are more than a block may have",
    },
)

TILE_READS = NumberExercise(
    name="tile-reads",
    title="shared-memory reads for a thread tile",
    hints=(
        "A thread tile of p × q elements needs p numbers from sA and q from sB per "
        "iteration, and does p · q multiply-adds.",
        "Reads per multiply-add: (p + q) / (p · q). Every element of the thread tile "
        "needs an accumulator of its own.",
        "2 × 1: 3 / 2. 8 × 8: 16 / 64. And 16 × 16 accumulators are more than the 255 "
        "registers that a thread can have.",
    ),
    after="At 8 × 8, shared memory can feed all the cores, with 64 sums in registers. "
    "That's chapter 7 in one table.",
    answers={"one": 2, "two_by_one": 1.5, "two_by_two": 1, "eight_by_eight": 0.25},
    mistakes={
        ("one", 1): "a multiply-add reads one number from sA and one from sB",
        (
            "eight_by_eight",
            16,
        ): "those are the reads of one iteration: divide by the 64 multiply-adds",
        ("two_by_two", 4): "those are the reads of one iteration: divide by the 4 multiply-adds",
    },
)

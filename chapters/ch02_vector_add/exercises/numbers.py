"""Numbers to predict about vector kernels: chapter 2."""

from kernels.lab.exercises.exercise import NumberExercise

HOW_MANY_BLOCKS = NumberExercise(
    name="how-many-blocks",
    title="blocks, idle threads and idle warps",
    hints=(
        "Blocks come whole: divide and round up.",
        "Count backwards from the end: how many threads do all the blocks have, and how many"
        " elements are left for the last block?",
        "`cdiv(1_000_000, 192)` blocks; the last one has 64 elements for its 192 threads, and a"
        " warp is 32 of them.",
    ),
    after="An idle warp is cheap: it computes an index, fails the test, and is done.",
    answers={"blocks": 5209, "without_element": 128, "idle_warps": 4},
    mistakes={
        ("blocks", 5208): "rounded down: the last 64 elements have no thread",
        ("without_element", 64): "those are the threads of the last block that do have one",
        ("idle_warps", 2): "those are the warps of the last block that are busy",
        ("idle_warps", 6): "those are all the warps of the last block",
    },
)

ALMOST_GUARDED = NumberExercise(
    name="almost-guarded",
    title="what slips through a guard with <=",
    hints=(
        "Which index does the test let through that the array does not have?",
        "Does a thread with that index exist? For n = 64, two blocks of 32 have threads 0 to 63.",
        "For n = 50, thread 50 exists, and it touches a, b and c once each.",
    ),
    after="For n = 64 the bug is there, but no test with that size can find it.",
    answers={"n_64": 0, "n_50": 3},
    mistakes={
        ("n_64", 1): "there is no thread 64: two blocks of 32 have threads 0 to 63",
        ("n_64", 3): "there is no thread 64: two blocks of 32 have threads 0 to 63",
        ("n_50", 1): "one thread, but how many accesses does it make?",
        ("n_50", 42): "that would be without any guard: only one index too many passes this one",
        ("n_50", 14): "that would be without any guard: only one index too many passes this one",
    },
)

REVERSE_SECTORS = NumberExercise(
    name="reverse-sectors",
    title="sectors of a load that runs backward",
    hints=(
        "Does the order of the 32 lanes change which sectors they touch?",
        "32 floats are 128 bytes, a sector is 32 bytes, and sectors begin at multiples of 8"
        " floats.",
        "For n = 1020 the first warp reads elements 988 to 1019. Does 988 begin a sector?",
    ),
    after="The order inside a warp costs nothing; 32 neighbours that begin inside a sector touch"
    " one more.",
    answers={"n_1024": 4, "n_1020": 5},
    mistakes={
        ("n_1024", 32): "that would be one sector per lane; neighbours share them in either order",
        ("n_1024", 1): "32 floats are 128 bytes, and a sector is 32 bytes",
        ("n_1020", 4): "1020 - 32 = 988 isn't a multiple of 8: the load begins inside a sector",
        ("n_1020", 8): "neighbours share a sector in either order",
    },
)

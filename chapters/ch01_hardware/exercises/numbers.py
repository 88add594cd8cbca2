"""Numbers to predict about the hardware: chapter 1."""

from kernels.basics.data_sheets import gpu
from kernels.lab.exercises.arrays import cdiv
from kernels.lab.exercises.exercise import NumberExercise

T4 = gpu("t4")
BLOCKS = cdiv(10_000_000, 256)
RESIDENT = T4.sms * (T4.threads_per_sm // 256)
WAVES = cdiv(BLOCKS, RESIDENT)

EXERCISES = (
    NumberExercise(
        name="sixty-three-years",
        title="how long a product takes, by hand and on a GPU",
        hints=(
            "A product of M × K and K × N takes 2·M·N·K operations: half of them multiplications,"
            " half additions.",
            "A year has about 31.5 million seconds. 4096³ is about 69 × 10⁹.",
            "Divide: 2 × 1000³ operations by 31.5 × 10⁶ a year, and 2 × 4096³ by 50 × 10¹² a"
            " second.",
        ),
        after="Count the operations first, and you know what to expect of a measurement.",
        answers={"years": 2e9 / 31.55e6, "milliseconds": 2 * 4096**3 / 50e12 * 1e3},
        mistakes={
            ("years", 1e9 / 31.55e6): "those are the multiplications; the additions take as long",
            ("milliseconds", 4096**3 / 50e12 * 1e3): "a multiplication and an addition are two",
            ("milliseconds", 2 * 4096**3 / 50e12): "that is in seconds",
        },
        allowance=0.02,
    ),
    NumberExercise(
        name="lane",
        title="find the warp and the lane of a thread",
        hints=(
            "Number the block's threads with x running fastest. Every 32 of them are a warp.",
            "The thread's number is ty · width + tx, where width is the block's size along x.",
            "The numbers are 3 · 16 + 5 = 53 and 3 · 32 + 5 = 101. Divide each by 32: the quotient"
            " is the warp, the remainder is the lane.",
        ),
        after="With a width of 32 the warp is the row and the lane is the column.",
        answers={"warp": 1, "lane": 21, "warp_32": 3, "lane_32": 5},
        mistakes={
            ("warp", 2): "that counts y fastest; neighbours in x are neighbours in a warp",
            ("lane", 19): "that counts y fastest; neighbours in x are neighbours in a warp",
            ("lane", 53): "that is the number of the thread: a lane is its place in its warp",
            ("lane_32", 101): "that is the number of the thread: a lane is its place in its warp",
            ("lane_32", 11): "that counts y fastest; neighbours in x are neighbours in a warp",
        },
    ),
    NumberExercise(
        name="branches",
        title="the store requests of a split warp",
        hints=(
            "A block of 64 threads is two warps. A warp executes every branch that at least one of"
            " its lanes takes.",
            "With i % 4 every warp has lanes in all four branches, and each branch has a store.",
            "Two warps times four branches; if the branch depends on the warp, two warps times"
            " one.",
        ),
        after="What counts isn't how many branches there are, but how many of them one warp takes.",
        answers={"by_lane": 8, "by_warp": 2},
        mistakes={
            ("by_lane", 64): "those are the threads; a request is issued per warp",
            ("by_lane", 4): "that is one warp; a block of 64 threads has two",
            ("by_lane", 2): "that would be if all lanes of a warp took the same branch",
            ("by_warp", 8): "that would be if every warp took all four branches",
            ("by_warp", 1): "that is one warp; a block of 64 threads has two",
        },
    ),
    NumberExercise(
        name="waves",
        title="waves on a smaller GPU",
        hints=(
            "Blocks: n divided by 256, rounded up. The data sheet gives the T4's SMs and the"
            " threads that each of them holds.",
            "1024 threads per SM are four blocks of 256, and there are 40 SMs.",
            "Waves are blocks divided by resident blocks, rounded up. The last wave has what the"
            " full ones leave.",
        ),
        after="The last wave is mostly empty; with so many waves before it that does not matter.",
        answers={
            "blocks": BLOCKS,
            "resident": RESIDENT,
            "waves": WAVES,
            "in_the_last": BLOCKS - (WAVES - 1) * RESIDENT,
        },
        mistakes={
            ("blocks", BLOCKS - 1): "rounded down: the last elements have no thread",
            ("resident", T4.sms): "that is one block per SM; it holds 1024 threads",
            ("resident", T4.sms * 16): "16 is the limit of blocks; the threads run out first",
            ("waves", WAVES - 1): "rounded down: the last blocks get no wave",
        },
    ),
    NumberExercise(
        name="bytes-in-flight",
        title="enough bytes in flight",
        hints=(
            "Bytes in flight are latency × bandwidth, and 1 ns × 1 GB/s is one byte.",
            "The T4's data sheet says 320 GB/s, and 40 SMs with 1024 threads each.",
            "400 × 320 bytes are needed; 4 bytes for each of 40,960 threads are in flight when"
            " every slot is taken.",
        ),
        after="Full is enough, with little to spare; half full is not, unless each thread loads"
        " more than 4 bytes.",
        answers={
            "needed": 400 * T4.bandwidth_gbs,
            "full": 4 * T4.threads,
            "half_full": 2 * T4.threads,
        },
        mistakes={
            (
                "needed",
                400 * T4.bandwidth_gbs / 4,
            ): "those are threads; the question is about bytes",
            ("full", T4.threads): "those are threads; each waits for 4 bytes",
        },
    ),
)

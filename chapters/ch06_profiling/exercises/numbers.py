"""Budgets to work out: what a kernel waits for, and which change helps it. Chapter 6."""

from kernels.lab.exercises.exercise import NumberExercise

SMS, CLOCK = 132, 1.98e9  #: of an H200
#: Cycles of one SM per FMA that the stranger's counts take: its wavefronts, and its instructions.
WAVEFRONTS, ISSUE = 5.0, 5.9 / 4


def _tflops(cycles: float) -> float:
    """Speed of a product whose FMAs of warps, 64 FLOP each, take so many cycles of an SM."""
    return SMS * CLOCK * 64 / cycles / 1e12


STRANGER = NumberExercise(
    name="stranger",
    title="the budget of a kernel nobody showed",
    hints=(
        "Divide each count per FMA by what an SM delivers per cycle: 4 instructions, 1 wavefront,"
        " 4 FMAs, 64 bytes from L2.",
        "The largest of the quotients is what it waits for, and how many cycles an FMA takes at"
        " least.",
        "An FMA of a warp is 64 FLOP. 132 SMs do one every so many cycles, 1.98 · 10⁹ cycles per"
        " second.",
    ),
    after="The highest ceiling names the unit and the speed at once, without a profiler's percent.",
    answers={"waits_for": 2, "cycles": WAVEFRONTS, "tflops": _tflops(WAVEFRONTS)},
    mistakes={
        ("waits_for", 1): "its instructions take 5.9 / 4 cycles; another count takes more",
        ("waits_for", 3): "one FMA takes a quarter of a cycle of the FP32 lanes",
        ("cycles", ISSUE): "that's the ceiling of its instructions; the highest one counts",
        ("cycles", 0.25): "that's what the FP32 lanes need, and they're idle most of the time",
        ("tflops", _tflops(ISSUE)): "that's what its instructions would allow",
        ("tflops", _tflops(0.25)): "that's the peak of the FP32 lanes",
        ("tflops", _tflops(WAVEFRONTS) / 2): "an FMA of a warp is 32 multiply-adds: 64 FLOP",
        ("tflops", _tflops(WAVEFRONTS) / SMS): "that's one SM's; there are 132",
    },
    allowance=0.2,
)


def _cycles(instructions: float, wavefronts: float, l2_bytes: float) -> float:
    """The highest ceiling of a kernel, in cycles of one SM per FMA."""
    return max(instructions / 4, wavefronts, l2_bytes / 64, 1 / 4)


BEFORE = _cycles(1.15, 0.24, 6)

ONE_CHANGE = NumberExercise(
    name="one-change",
    title="the change that helps most",
    hints=(
        "Work out all four ceilings first. A change helps only if it lowers the highest.",
        "Issue slots: 1.15 / 4 cycles. Wavefronts: 0.24. L2: 6 / 64. FP32 lanes: 1 / 4.",
        "With the highest ceiling lowered, another one may be the highest. With no instruction left"
        " beside the FMA, issue slots take 1 / 4.",
    ),
    after="A change is worth what it takes off the highest ceiling, and no more than the next one"
    " leaves.",
    answers={
        "change": 3,
        "factor": BEFORE / _cycles(1.075, 0.24, 6),
        "factor_of_all": BEFORE / _cycles(1, 0.24, 6),
    },
    mistakes={
        ("change", 1): "0.24 wavefronts take 0.24 cycles, its instructions 0.2875: it isn't waiting"
        " for wavefronts",
        ("change", 2): "6 bytes take 6 / 64 of a cycle: it isn't waiting for L2",
        ("factor", 2): "what's halved isn't the highest ceiling",
        ("factor", 1): "the highest ceiling falls from 0.2875 to 0.26875 cycles",
        ("factor_of_all", 1.15 / 0.96): "the FP32 lanes still take a quarter of a cycle, more than"
        " the wavefronts",
        ("factor_of_all", 1.0): "without them, issue slots take 1 / 4 instead of 1.15 / 4",
    },
    allowance=0.01,
)


BLOCKS_THAT_FIT = NumberExercise(
    name="blocks-that-fit",
    title="the blocks that an SM holds",
    hints=(
        "192 threads are six warps. How many groups of six fit into 64 warps (H200), and into 32"
        " (T4)?",
        "With 72 registers per thread, a warp takes 32 × 72 of the 65,536, rounded up to a multiple"
        " of 256. How many warps is that, rounded *down* to a multiple of four?",
        "Shared memory: the H200 has 228 KiB per SM, adds 1024 bytes to each block and rounds up to"
        " 128. The T4 has 64 KiB, adds nothing and rounds up to 256.",
    ),
    after="The tightest of four limits decides, and another GPU has another tightest one.",
    answers={"h200_blocks": 4, "h200_warps": 24, "t4_blocks": 3, "t4_warps": 18},
    mistakes={
        ("h200_blocks", 10): "that's what the warps allow; the registers allow fewer",
        ("h200_blocks", 11): "that's what shared memory allows; the registers allow fewer",
        ("h200_warps", 28): "28 warps fit by registers, and blocks of six are whole",
        ("t4_blocks", 5): "that's what the warps allow; shared memory allows fewer",
        ("t4_blocks", 4): "that's what the registers allow; shared memory allows fewer",
        ("t4_warps", 32): "three blocks of six warps fit",
    },
)

STALLS = NumberExercise(
    name="stalls",
    title="what stalls say of more warps",
    hints=(
        "A scheduler of this GPU holds 16 warps at most.",
        "For the cycles between two instructions of one warp, divide the scheduler's warps by the"
        " share of cycles in which it issues.",
        "Latency stays the same. A full queue doesn't drain faster when more warps join it.",
    ),
    after="More warps hide latency. They don't make a busy unit faster.",
    answers={"between": 32, "for_data": 16, "at_best": 0.5, "throttled": 0.25},
    mistakes={
        ("between", 64): "half the occupancy is eight warps per scheduler, not sixteen",
        ("between", 4): "that's between two instructions of the scheduler, not of one warp",
        ("for_data", 32): "half of its waiting is for data",
        ("at_best", 1.0): "16 warps, each once in 32 cycles, issue in half of the cycles",
        ("at_best", 0.25): "twice the warps hide twice as much latency",
        ("throttled", 0.5): "the queue is full already: more warps only wait longer in it",
    },
    allowance=0.01,
)

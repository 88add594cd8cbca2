"""Numbers to predict about several GPUs: chapter 9."""

from kernels.distributed.algorithms import schedule
from kernels.lab.exercises.exercise import NumberExercise

SIZE, GPUS = 8192, 16


def _received(name: str, gpus: str, itemsize: int) -> int:
    """Bytes that the first GPU receives."""
    return schedule(name, SIZE, SIZE, SIZE, gpus).received(0, itemsize)


RING = NumberExercise(
    name="cost-of-a-ring",
    title="what an all-reduce takes on eight GPUs",
    hints=(
        "There are p - 1 steps to add up and p - 1 to pass on: 14 on 8 GPUs.",
        "In each step, a GPU waits α and then sends an eighth of the array.",
        "It takes 14 · (α + size / 8 / B), and 14 eighths of the array are sent.",
    ),
    after="Short arrays cost latency, which grows with the GPUs; long ones cost bandwidth, and at"
    " most twice what they cost on two GPUs.",
    answers={"short_us": 140.28, "long_us": 2940, "sent": 1_120_000_000},
    mistakes={
        ("short_us", 20.28): "the latency is in every one of the 14 steps",
        ("short_us", 70.14): "that's a reduce-scatter; the totals go round once more",
        ("long_us", 22540): "each step sends an eighth of the array, not all of it",
        ("long_us", 1470): "that's a reduce-scatter; the totals go round once more",
        ("long_us", 2810): "each of the 14 steps begins with a latency",
        ("sent", 560_000_000): "that's a reduce-scatter; the totals go round once more",
        ("sent", 1_280_000_000): "a GPU never sends its own eighth back to itself",
        ("sent", 640_000_000): "seven eighths are sent twice",
    },
    allowance=0.001,
)

TOKENS = NumberExercise(
    name="tokens-that-hide",
    title="how many tokens hide the gradients",
    hints=(
        "A weight takes two products in the backward pass: 4 FLOP per token.",
        "Its gradient is one number. A ring sends it 2 (p - 1) / p times: once on 2 GPUs, twice on"
        " very many.",
        "tokens · 4 / FLOP/s = times sent · bytes per number / bytes per second.",
    ),
    after="The width of the layer cancels. Only FLOP/s over bytes per second counts, so GPUs that"
    " multiply faster over the same link need a larger batch.",
    answers={"two": 1000, "many": 2000, "many_fp32": 4000},
    mistakes={
        ("two", 2000): "on two GPUs, a ring sends each gradient once",
        ("two", 500): "a gradient in bf16 has two bytes",
        ("many", 1000): "on very many GPUs, a ring sends each gradient twice",
        ("many", 4000): "the backward pass multiplies twice: 4 FLOP per weight and token",
        ("many_fp32", 2000): "a gradient in fp32 has four bytes",
    },
    allowance=0.01,
)

TRAFFIC = NumberExercise(
    name="into-one-gpu",
    title="what sixteen GPUs receive",
    hints=(
        "A matrix of 8192 × 8192 has 2²⁶ elements. With rows, a GPU holds a sixteenth of B and"
        " needs all of it.",
        "On a 4 × 4 grid, a GPU needs the quarter of A that's in its row of the grid, and the "
        "quarter of B that's in its column. It holds a quarter of each quarter.",
        "If K is split, shares of C move, and they're float32 sums, whatever the type of A and B. "
        "A GPU receives 15 shares, each of a sixteenth of C.",
    ),
    after="Twice three quarters of a quarter is three eighths of a matrix, where rows need fifteen"
    " sixteenths. Half the bytes per element halve what moves of A and B, and not what moves of C.",
    answers={
        "rows_fp32": _received("rows", f"{GPUS}", 4),
        "rows_bf16": _received("rows", f"{GPUS}", 2),
        "summa_fp32": _received("summa", "4x4", 4),
        "split_k_bf16": _received("split_k", f"{GPUS}", 2),
    },
    mistakes={
        ("rows_fp32", 4 * SIZE**2): "it already holds a sixteenth of B",
        ("rows_bf16", 2 * SIZE**2): "it already holds a sixteenth of B",
        ("summa_fp32", 2 * SIZE**2): "of these two quarters, it already holds a quarter",
        ("summa_fp32", 3 * SIZE**2 // 4): "it receives parts of both A and B",
        ("split_k_bf16", 2 * 15 * SIZE**2 // 16): "sums of C are moved in float32, 4 bytes each",
    },
)

HIDDEN = NumberExercise(
    name="hidden-from",
    title="from which size the traffic hides",
    hints=(
        "While a GPU multiplies its n/2 rows of A by its own n/2 columns of B, the other half of B"
        " arrives. Compare these two times.",
        "That product takes 2 · n · n/2 · n/2 operations, and half of B has n · n/2 elements.",
        "n³/2 operations at F per second take as long as n²/2 · b bytes at L per second, at n = b "
        "· F / L.",
    ),
    after="Arithmetic grows with n³ and traffic with n², so every link is fast enough for some"
    " matrix. Sixteen times the arithmetic with half the bytes needs eight times the size.",
    answers={"fp32": 500, "bf16": 4000, "pcie": 8000},
    mistakes={
        ("fp32", 125): "each number has 4 bytes",
        ("fp32", 1000): "a multiplication and an addition are two operations",
        ("bf16", 8000): "numbers of bf16 have 2 bytes",
        ("pcie", 2000): "each number has 4 bytes",
    },
)

SCALING = NumberExercise(
    name="how-it-scales",
    title="strong and weak scaling",
    hints=(
        "The speed-up is the time on one GPU over the time on all of them; the efficiency is the "
        "speed-up over the number of GPUs.",
        "On four GPUs, the arithmetic takes 20 ms, and 5 ms of traffic is exposed.",
        "With four times the rows, each GPU has as much arithmetic as one had before, and the "
        "same B to receive.",
    ),
    after="The same traffic costs a fifth of the time of the small product, and a seventeenth of"
    " the large one's. Before you add GPUs, ask whether the problem will grow with them.",
    answers={"speed_up": 3.2, "efficiency": 80, "weak_efficiency": 80 / 85 * 100},
    mistakes={
        ("speed_up", 4): "5 ms of traffic aren't hidden",
        ("speed_up", 80 / 21.25): "the traffic isn't divided by four: each GPU has 5 ms of it",
        ("efficiency", 320): "divide the speed-up by the number of GPUs",
        ("weak_efficiency", 80): "now each GPU has 80 ms of arithmetic",
    },
    allowance=0.01,
)

MEMORY = NumberExercise(
    name="memory-of-ranks",
    title="what each GPU must hold",
    hints=(
        "A matrix of 65536 × 65536 in fp32 has 2³² elements, and so takes 16 GiB.",
        "With B replicated: a quarter of A, all of B, a quarter of C.",
        "With rows: a quarter of each matrix, and two buffers, each for a quarter of B.",
    ),
    after="The two buffers are the price of the overlap: half of B's memory on four GPUs, and less"
    " on more. Cut what moves into pieces, and they shrink again.",
    answers={"replicated": 24, "rows": 20, "rows_in_4_pieces": 14},
    mistakes={
        ("replicated", 12): "all of B is on every GPU",
        ("rows", 12): "the next part of B needs room while this one is multiplied",
        ("rows", 16): "there are two buffers: one is multiplied from while the other is filled",
        ("rows_in_4_pieces", 20): "each buffer only holds a piece, a sixteenth of B",
    },
)

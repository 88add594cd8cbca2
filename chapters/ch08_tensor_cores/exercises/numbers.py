"""Numbers to predict about tensor cores: chapter 8."""

from kernels.lab.exercises.exercise import NumberExercise

#: Shared memory of a block of an H100 or H200, in bytes.
SHARED = 227 * 1024


def _stage(BM: int, BN: int, BK: int) -> int:
    """Bytes of a tile of A and one of B, 2 bytes per element."""
    return 2 * BK * (BM + BN)


HOLDERS = NumberExercise(
    name="who-holds",
    title="which lane holds an element",
    hints=(
        "Split the matrix into blocks of 8 × 8. A block of A or C has row lane // 4, and two"
        " neighbours from column 2 · (lane % 4) on.",
        "For C, `lane = 4 * (row % 8) + col // 2`, and elements 2 and 3 are 8 rows further down."
        " For B, exchange rows and columns.",
        "A[12, 9] is in the last of the four blocks (down, then right), so it's element 6 or 7."
        " Within that block it's at row 4, column 1.",
    ),
    after="The four lanes of a row hold neighbours, so a warp's store of C writes whole sectors.",
    answers={
        "C_lane": 21, "C_element": 1, "A_lane": 16, "A_element": 7, "B_lane": 20, "B_element": 3,
    },
    mistakes={
        ("C_lane", 11): "row 5 belongs to lanes 20 to 23",
        ("C_element", 0): "column 3 is the second of a pair",
        ("A_lane", 48): "there are only 32 lanes: row 12 is row 4 of the lower blocks",
        ("A_element", 5): "element 5 is 8 columns to the right and not 8 rows down",
        ("B_lane", 36): "there are only 32 lanes: in B, four of them share each column",
        ("B_element", 1): "row 9 is in the second block",
    },
)  # fmt: skip

ROUNDING = NumberExercise(
    name="first-lost",
    title="the first numbers that don't fit",
    hints=(
        "With p significant bits, a format holds every whole number up to 2 to the power of p.",
        "fp16 has 11 significant bits, bf16 has 8, TF32 has 11.",
        "The largest fp16 number is 65,504, and anything that would round to 65,536 becomes"
        " infinite. 255 times 255 is 65,025.",
    ),
    after="fp16 and TF32 have the same digits, bf16 and TF32 the same range. Even a product of two"
    " modest numbers can exceed fp16's range, so sums need float32.",
    answers={"fp16": 2049, "bf16": 257, "tf32": 2049, "square": 256},
    mistakes={
        ("fp16", 1025): "10 bits are stored, plus an implied leading 1: 11 in all",
        ("fp16", 65505): "that's beyond the largest fp16 number, and many smaller ones don't fit"
        " either",
        ("bf16", 129): "7 bits are stored, plus an implied leading 1: 8 in all",
        ("tf32", 16777217): "that's for float32: TF32 keeps 10 of its 23 bits",
        ("square", 255): "255 times 255 is 65,025, which rounds to a number that fp16 can hold",
    },
)

STAGE = NumberExercise(
    name="stage-bytes",
    title="the bytes of a pipeline",
    hints=(
        "A stage is a tile of A, BM × BK, and one of B, BK × BN, with 2 bytes per element.",
        "227 KB are 227 · 1024 bytes. Only whole stages count.",
        "2 · 64 · (128 + 256) bytes, and 2 · 64 · (128 + 128) bytes.",
    ),
    after="The rung `specialized` uses 4 stages and 6. In the second case that's one fewer than"
          " would fit, which leaves room for other data.",
    answers={
        "bytes_256": _stage(128, 256, 64), "stages_256": SHARED // _stage(128, 256, 64),
        "bytes_128": _stage(128, 128, 64), "stages_128": SHARED // _stage(128, 128, 64),
    },
    mistakes={
        ("bytes_256", 2 * _stage(128, 256, 64)): "16 bits are 2 bytes",
        ("bytes_256", 2 * 128 * 256): "that's a tile of C: a stage holds tiles of A and B",
        ("bytes_128", 2 * _stage(128, 128, 64)): "16 bits are 2 bytes",
        ("stages_256", 5): "five of them need 240 KB",
        ("stages_128", 8): "eight of them need 256 KB",
    },
)  # fmt: skip

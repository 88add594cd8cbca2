"""Numbers to predict about requests: chapter 5."""

from kernels.lab.exercises.exercise import NumberExercise

SECTORS_BY_HAND = NumberExercise(
    name="sectors-by-hand",
    title="the sectors of six requests",
    hints=(
        "Write down the bytes from the first to the last address, and ask which of the sectors"
        " between them are touched.",
        "Neither order nor repetition matters: a sector that eleven lanes touch is one sector.",
        "In the fourth request, a step of 20 bytes is less than a sector, so none is skipped"
        " between the first and the last. The last float begins at byte 620.",
    ),
    after="The second is half a broadcast. The third is a copy run backwards, and costs as much as"
    " a copy. The last touches only four different floats, each in its own sector.",
    answers={"odd": 8, "halves": 2, "backward": 4, "fives": 20, "doubles": 8, "eights": 4},
    mistakes={
        ("odd", 16): "every 16 bytes still hold two of these floats: four per sector",
        ("odd", 9): "the first float begins at byte 4 and the last at byte 252: which sectors do"
        " they lie in?",
        ("halves", 4): "16 different floats, not 32",
        ("backward", 32): "the order of the lanes doesn't matter",
        ("fives", 32): "a step of 20 bytes is less than a sector, so some lanes share one",
        ("doubles", 4): "a float64 takes 8 bytes",
        ("eights", 32): "the remainder wraps round: only four different floats are touched",
    },
)

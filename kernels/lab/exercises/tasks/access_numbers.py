"""Numbers to predict about requests: chapter 5."""

from ..exercise import NumberExercise

CHAPTER = "05-memory-access"

SECTORS_BY_HAND = NumberExercise(
    name="sectors-by-hand",
    chapter=CHAPTER,
    title="the sectors of six requests",
    hints=(
        "Write down the bytes from the first to the last address, and ask which of the sectors"
        " between them are touched.",
        "Neither order nor repetition matters: a sector that eleven lanes touch is one sector.",
        "For the fourth: a step of 20 bytes is less than a sector, so no sector between the first"
        " and the last is skipped. The last float begins at byte 620.",
    ),
    after="The second is half a broadcast, and the third, a copy run backward, costs what a copy"
    " costs. The last touches only four different floats, each in a sector of its own.",
    answers={"odd": 8, "halves": 2, "backward": 4, "fives": 20, "doubles": 8, "eights": 4},
    mistakes={
        ("odd", 16): "two neighbouring floats of these still lie in every 16 bytes: four in a"
        " sector",
        ("odd", 9): "the first float begins at byte 4 and the last at byte 252: which sectors is"
        " that?",
        ("halves", 4): "16 different floats, not 32",
        ("backward", 32): "the order of the lanes doesn't matter",
        ("fives", 32): "a step of 20 bytes is less than a sector, so some lanes share one",
        ("doubles", 4): "a float64 takes 8 bytes",
        ("eights", 32): "the remainder brings the lanes back: only four floats are touched",
    },
)

EXERCISES = (SECTORS_BY_HAND,)

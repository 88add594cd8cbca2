"""Count the wavefronts of a request, from the words that its lanes read."""

import random
from collections.abc import Callable, Iterator

from kernels.lab.exercises.exercise import FunctionExercise
from kernels.lab.exercises.flaws import Flaw

BANKS = 32


def wavefronts(words) -> int:
    """Different words in the fullest bank."""
    banks = [word % BANKS for word in set(words)]
    return max(banks.count(bank) for bank in set(banks))


def requests() -> Iterator[tuple[str, list[int]]]:
    """Requests to try, each with its name."""
    yield "32 words in a row", list(range(32))
    yield "one word for all lanes", [7] * 32
    yield "a row that starts in the middle", list(range(50, 82))
    for stride in (2, 3, 12, 32, 33):
        yield f"a stride of {stride} words", [stride * lane for lane in range(32)]
    yield "two words of one bank, 16 lanes each", [0] * 16 + [32] * 16
    yield "half a row, twice", [lane // 2 for lane in range(32)]
    order = random.Random(5)
    yield "words in no order", [order.randrange(2048) for _ in range(32)]


def judge(passes: Callable) -> Iterator[tuple[Flaw, str]]:
    """Try a learner's function on known requests and a new one; yields what is wrong with it."""
    new = [random.randrange(2048) for _ in range(32)]
    for name, words in (*requests(), ("words never asked for before", new)):
        want = wavefronts(words)
        try:
            said = passes(list(words))
        except Exception as error:
            yield Flaw.WRONG, f"for {name} it raises {type(error).__name__} ({error})"
            return
        if isinstance(said, bool) or said != want:
            reason = ""
            if said and said == want - 1:
                reason = ": those are the conflicts, and the first wavefront is none"
            elif said == max([w % BANKS for w in words].count(w % BANKS) for w in words):
                reason = ": lanes that read the same word are served together"
            elif said == len({word % BANKS for word in words}):
                reason = ": those are the banks in use"
            yield Flaw.WRONG, f"for {name} it says {said!r}, not {want}{reason}"
            return


EXERCISE = FunctionExercise(
    name="passes",
    title="count the wavefronts of a request",
    hints=(
        "Equal words count once, so begin with a set. Then sort what's left into 32 banks.",
        "The answer is the number of words in the fullest bank.",
        "`hit = [word % 32 for word in set(words)]`, then the largest `hit.count(bank)`.",
    ),
    after="With it you can search: for a tile of 16 columns and a warp of two rows, no odd padding"
    " is free, and two words are.",
    judge=judge,
    parameters=("words",),
    start="return 0",
)

"""The proof in a table: `python -m tests.lab.exercises.score` prints what each grader rejects."""

import os

os.environ["KERNELS_EXERCISES"] = "off"

from kernels.lab.exercises import judge  # noqa: E402 - the progress is nobody's
from tests.lab.exercises.answers import KERNELS, options, right, wrong  # noqa: E402


def row(name: str) -> tuple:
    """An exercise: wrong kernels, rejected, named rightly, their kinds; right ones, accepted."""
    bad = [(answer, judge(name, answer.text, **options(name))) for answer in wrong(name)]
    good = [judge(name, answer.text, **options(name)) for answer in right(name)]
    return (
        name,
        len(bad),
        sum(not result.right for _, result in bad),
        sum(result.kind in answer.kinds for answer, result in bad),
        len({result.kind for _, result in bad}),
        len(good),
        sum(result.right for result in good),
    )


def main() -> None:
    """Print a row for each kernel exercise, and the sums."""
    heads = ("exercise", "wrong", "rejected", "by name", "kinds", "right", "accepted")
    rows = [row(name) for name in KERNELS]
    total = ("all", *(sum(r[i] for r in rows) for i in range(1, len(heads))))
    for line in (heads, *rows, total):
        print(f"{line[0]:<16}" + "".join(f"{value:>10}" for value in line[1:]))


if __name__ == "__main__":
    main()

"""All exercises, in the order of the pages."""

from .exercise import Exercise
from .tasks import (
    axpy,
    layer,
    matrix_add,
    naive_bt,
    pair,
    reverse,
    square_minded,
    tiled,
    two_benches,
    vector_add,
    wide,
)

MODULES = (
    vector_add, axpy, reverse, matrix_add,
    naive_bt, layer, square_minded, pair,
    tiled, two_benches, wide,
)  # fmt: skip

EXERCISES: dict[str, Exercise] = {
    exercise.name: exercise
    for module in MODULES
    for exercise in (getattr(module, "EXERCISES", None) or (module.EXERCISE,))
}

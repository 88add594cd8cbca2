"""The exercises of chapter 5 that ask for numbers or a function: right ones pass, others do not."""

import numpy as np
import pytest

from kernels import cuda, lab
from kernels.lab.exercises import EXERCISES, judge

WAYS = {
    "odd": lambda i: 2 * i + 1,
    "halves": lambda i: i // 2,
    "backward": lambda i: 31 - i,
    "fives": lambda i: 5 * i,
    "doubles": lambda i: i,
    "eights": lambda i: i * 8 % 32,
}


def test_the_sectors_by_hand_are_the_microscopes():
    counted = {}
    for name, way in WAYS.items():
        places = np.array([way(i) for i in range(32)])
        dtype = np.float64 if name == "doubles" else np.float32

        @cuda.jit
        def load(a, places, out):
            i = cuda.threadIdx.x
            out[i] = a[places[i]]

        seen = lab.trace(load, 1, 32, np.zeros(160, dtype), places, np.zeros(32, dtype))
        counted[name] = next(site.sectors for site in seen.sites if site.array == "a")
    assert counted == EXERCISES["sectors-by-hand"].answers
    assert judge("sectors-by-hand", counted).right


@pytest.mark.parametrize("asked", EXERCISES["sectors-by-hand"].mistakes, ids=str)
def test_a_likely_mistake_is_explained(asked):
    name, said = asked
    answer = {**EXERCISES["sectors-by-hand"].answers, name: said}
    result = judge("sectors-by-hand", answer)
    assert not result.right
    assert EXERCISES["sectors-by-hand"].mistakes[asked] in " ".join(str(result).split())

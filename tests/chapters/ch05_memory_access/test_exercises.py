"""The exercises of chapter 5 that ask for numbers or a function: right ones pass, others do not."""

import numpy as np
import pytest

from chapters.ch05_memory_access.exercises.passes import requests, wavefronts
from kernels import cuda, lab
from kernels.lab.exercises import EXERCISES, Kind, judge
from microscope import shared_cost

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


def test_wavefronts_are_the_microscopes():
    for name, words in requests():
        assert wavefronts(words) == shared_cost(4 * np.array([words]), None, 4).wavefronts, name


def by_counting(words):
    hit = {}
    for word in set(words):
        hit[word % 32] = hit.get(word % 32, 0) + 1
    return max(hit.values())


def test_a_right_count_passes():
    assert judge("passes", by_counting).right


@pytest.mark.parametrize(
    "wrong, told",
    [
        (lambda words: max(1, by_counting(words) - 1), "those are the conflicts"),
        (lambda words: max([w % 32 for w in words].count(w % 32) for w in words),
         "lanes that read the same word are served together"),
        (lambda words: len({w % 32 for w in words}), "those are the banks in use"),
        (lambda words: 1, "it says 1, not 2"),
        (lambda words: None, "it says None"),
        (lambda words: words[40], "raises IndexError"),
        (lambda words: max(words) // 32 + 1, ""),
    ],
)  # fmt: skip
def test_a_wrong_count_is_told_with_its_request(wrong, told):
    result = judge("passes", wrong)
    assert not result.right and result.kind is Kind.WRONG
    assert told in " ".join(str(result).split())

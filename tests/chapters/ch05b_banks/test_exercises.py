"""The exercise of chapter 5b that asks for a function: right ones pass, others do not."""

from importlib import import_module

import numpy as np
import pytest

from kernels.lab.exercises import Flaw, judge
from microscope import shared_cost

requests, wavefronts = (
    getattr(import_module("chapters.ch05b_banks.exercises.passes"), name)
    for name in ("requests", "wavefronts")
)


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
    assert not result.right and result.kind is Flaw.WRONG
    assert told in " ".join(str(result).split())

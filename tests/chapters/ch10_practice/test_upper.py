"""Right and wrong answers to the problems that ask for a function."""

import numpy as np
import pytest

from kernels.lab.exercises import judge
from kernels.lab.exercises.flaws import Flaw


def merged(m1, l1, o1, m2, l2, o2):
    m = np.maximum(m1, m2)
    a1, a2 = l1 * np.exp(m1 - m), l2 * np.exp(m2 - m)
    total = a1 + a2
    return m, total, (a1[:, None] * o1 + a2[:, None] * o2) / total[:, None]


def by_logarithms(m1, l1, o1, m2, l2, o2):
    both = np.logaddexp(m1 + np.log(l1), m2 + np.log(l2))
    m = np.where(m1 > m2, m1, m2)
    share = np.exp(m1 + np.log(l1) - both)[:, None]
    return m, np.exp(both - m), share * o1 + (1 - share) * o2


def mean(m1, l1, o1, m2, l2, o2):
    return np.maximum(m1, m2), l1 + l2, (o1 + o2) / 2


def without_maximum(m1, l1, o1, m2, l2, o2):
    a1, a2 = l1 * np.exp(m1), l2 * np.exp(m2)
    m = np.maximum(m1, m2)
    o = (a1[:, None] * o1 + a2[:, None] * o2) / (a1 + a2)[:, None]
    return m, (a1 + a2) / np.exp(m), o


def one_maximum(m1, l1, o1, m2, l2, o2):
    m = np.maximum(m1.max(), m2.max())
    return merged(m1, l1, o1, m2, l2, o2)[0] * 0 + m, l1 + l2, o1


def unnormalised(m1, l1, o1, m2, l2, o2):
    m, total, o = merged(m1, l1, o1, m2, l2, o2)
    return m, total, o * total[:, None]


def only_the_output(m1, l1, o1, m2, l2, o2):
    return merged(m1, l1, o1, m2, l2, o2)[2]


def flat(m1, l1, o1, m2, l2, o2):
    m, total, o = merged(m1, l1, o1, m2, l2, o2)
    return m[:, None], total, o


@pytest.mark.parametrize("answer", [merged, by_logarithms])
def test_a_merge_of_both_parts_is_right(answer):
    assert judge("merge-parts", answer).kind is None


@pytest.mark.parametrize(
    "answer, kind, told",
    [
        (mean, Flaw.WRONG, "l is wrong"),
        (without_maximum, Flaw.NOT_A_NUMBER, "isn't finite"),
        (one_maximum, Flaw.WRONG, "m is wrong"),
        (unnormalised, Flaw.WRONG, "o is wrong"),
        (only_the_output, Flaw.WRONG, "return m, l and o"),
        (flat, Flaw.WRONG, "m has the shape"),
    ],
)
def test_a_wrong_merge_is_told(answer, kind, told):
    result = judge("merge-parts", answer)
    assert result.kind is kind and told in " ".join(str(result).split())


async def behind(gpu, hidden, W2, bias):
    return await gpu.all_reduce(hidden @ W2) + bias


async def on_rank_0(gpu, hidden, W2, bias):
    return await gpu.all_reduce(hidden @ W2 + (bias if gpu.rank == 0 else 0))


async def a_share_each(gpu, hidden, W2, bias):
    return await gpu.all_reduce(hidden @ W2 + bias / gpu.ranks)


async def on_every_rank(gpu, hidden, W2, bias):
    return await gpu.all_reduce(hidden @ W2 + bias)


async def never(gpu, hidden, W2, bias):
    return await gpu.all_reduce(hidden @ W2)


async def alone(gpu, hidden, W2, bias):
    return hidden @ W2 + bias


async def gathered(gpu, hidden, W2, bias):
    return await gpu.all_gather(hidden @ W2) + bias


async def on_one_rank_alone(gpu, hidden, W2, bias):
    part = hidden @ W2
    return (await gpu.all_reduce(part) if gpu.rank == 0 else part) + bias


async def twice(gpu, hidden, W2, bias):
    total = await gpu.all_reduce(hidden @ W2)
    return total + await gpu.all_reduce(bias / gpu.ranks)


@pytest.mark.parametrize("answer", [behind, on_rank_0, a_share_each])
def test_a_bias_that_is_added_once_is_right(answer):
    assert judge("bias-once", answer).kind is None


@pytest.mark.parametrize(
    "answer, kind, told",
    [
        (on_every_rank, Flaw.WRONG, "has the bias 2 times"),
        (never, Flaw.WRONG, "has no bias"),
        (alone, Flaw.WRONG, "on 2 ranks, the result of rank 0 is wrong"),
        (gathered, Flaw.WRONG, "has the shape (12, 5), not (6, 5)"),
        (on_one_rank_alone, Flaw.DEADLOCK, "rank 1 has ended after 0"),
        (twice, Flaw.BUDGET, "2 collectives on 1 ranks: one is enough"),
    ],
)
def test_a_wrong_layer_is_told(answer, kind, told):
    result = judge("bias-once", answer)
    assert result.kind is kind and told in " ".join(str(result).split())

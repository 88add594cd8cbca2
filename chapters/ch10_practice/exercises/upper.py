"""Problems from tensor cores, attention and several GPUs."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from kernels.distributed.collectives import Mismatch, Simulated
from kernels.lab.exercises.exercise import FunctionExercise, NumberExercise
from kernels.lab.exercises.flaws import Flaw

# ------------------------------------------------------------------------------- tensor cores

BM, BN, BK = 128, 256, 64
STAGE = BK * (BM + BN) * 2

STAGES = NumberExercise(
    name="hopper-tile",
    title="stages, instructions and accumulators of a Hopper kernel",
    hints=(
        "A stage holds a tile of A of 128 × 64 and one of B of 64 × 256, two bytes per number.",
        "227 KB is 227 · 1024 bytes. One `wgmma` multiplies 64 rows, 256 columns and 16 of K.",
        "128 rows are two instructions, 64 of K are four. A warpgroup of 128 threads keeps 64 × "
        "256 accumulators.",
    ),
    after="Larger tiles need fewer bytes per multiply-add and leave room for fewer stages, and "
    "the accumulators alone take half of a thread's registers.",
    answers={
        "stage_bytes": STAGE,
        "stages": 227 * 1024 // STAGE,
        "wgmma_per_stage": BM // 64 * (BK // 16),
        "accumulators": 64 * BN // 128,
    },
    mistakes={
        ("stage_bytes", 2 * STAGE): "a number of bf16 has two bytes",
        ("stage_bytes", STAGE // 2): "a number of bf16 has two bytes",
        ("stages", 5): "five stages are 240 KB",
        ("wgmma_per_stage", 4): "one instruction has 64 of the 128 rows",
        ("wgmma_per_stage", 2): "one instruction goes 16 along K, not 64",
        ("accumulators", 256): "each of the two warpgroups has 64 of the 128 rows",
        ("accumulators", 512): "a warpgroup has 128 threads, not 32",
    },
)

# ----------------------------------------------------------------------------------- attention


def judge_merge(merge: Callable[..., Any]) -> Iterator[tuple[Flaw, str]]:
    """Try a learner's merge of two parts of attention; yields what is wrong with it."""
    rng = np.random.default_rng()
    for low, shift, what in (
        (0.0, 0.0, "two parts with scores alike"),
        (1000.0, 300.0, "scores about 1000, and a second part that is 300 above"),
        (-1000.0, -300.0, "scores about -1000, and a second part that is 300 below"),
    ):
        scores, values = rng.normal(low, size=(3, 50)), rng.normal(size=(50, 4))
        scores[0, -1] = scores[0].max() + 1  # so the first part's largest isn't the whole's
        scores[:, 20:] += shift
        first, second, right = (
            attended(scores[:, part], values[part])
            for part in (slice(20), slice(20, None), slice(None))
        )
        with np.errstate(all="ignore"):
            found = merge(*first, *second)
        if not isinstance(found, tuple) or len(found) != 3:
            yield Flaw.WRONG, f"it returns {type(found).__name__}: return m, l and o"
            return
        for name, mine, theirs in zip("mlo", found, right, strict=True):
            mine = np.asarray(mine, np.float64)
            if mine.shape != theirs.shape:
                yield Flaw.WRONG, f"{name} has the shape {mine.shape}, not {theirs.shape}"
                return
            if not np.isfinite(mine).all():
                yield Flaw.NOT_A_NUMBER, f"{name} isn't finite for {what}"
                return
            if not np.allclose(mine, theirs, rtol=1e-9, atol=1e-12):
                yield Flaw.WRONG, f"{name} is wrong for {what}"
                return


def attended(scores: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, ...]:
    """For each row of scores: its maximum, the sum of its weights, and the weighted mean."""
    m = scores.max(axis=1)
    weights = np.exp(scores - m[:, None])
    total = weights.sum(axis=1)
    return m, total, weights @ values / total[:, None]


MERGE = FunctionExercise(
    name="merge-parts",
    title="merge two parts of attention",
    hints=(
        "Both parts' weights are relative to their own maximum. Which maximum do all keys have?",
        "With m = max(m1, m2), the weights of part 1 shrink by exp(m1 - m), those of part 2 by "
        "exp(m2 - m). So do their sums.",
        "`a1, a2 = l1 * exp(m1 - m), l2 * exp(m2 - m)`, then l = a1 + a2, and o is the mean of o1 "
        "and o2 with the weights a1 and a2, one pair per row.",
    ),
    after="This is the step that lets blocks, or GPUs, each take some of the keys: split-key "
    "decoding and ring attention merge such parts.",
    judge=judge_merge,
    parameters=("m1", "l1", "o1", "m2", "l2", "o2"),
)

# ------------------------------------------------------------------------------- several GPUs


def judge_row_parallel(program: Callable[..., Any]) -> Iterator[tuple[Flaw, str]]:
    """Try a learner's row-parallel layer on 1 to 4 ranks; yields what is wrong with it."""
    rng = np.random.default_rng()
    for ranks in (1, 2, 4):
        hidden, W2 = rng.normal(size=(6, 8)), rng.normal(size=(8, 5))
        bias = rng.normal(size=5)
        parts = np.split(hidden, ranks, axis=1), np.split(W2, ranks), [bias] * ranks
        team, right = Simulated(ranks), hidden @ W2 + bias
        try:
            found = team.run(program, *parts)
        except Mismatch as error:
            yield Flaw.DEADLOCK, f"on {ranks} ranks: {error}"
            return
        for rank, each in enumerate(found):
            each = np.asarray(each, np.float64)
            if each.shape == right.shape and np.allclose(each, right):
                continue
            text = "is wrong"
            if each.shape != right.shape:
                text = f"has the shape {each.shape}, not {right.shape}"
            elif np.allclose(each, right + (ranks - 1) * bias):
                text = f"has the bias {ranks} times"
            elif np.allclose(each, right - bias):
                text = "has no bias"
            yield Flaw.WRONG, f"on {ranks} ranks, the result of rank {rank} {text}"
            return
        if len(team.met) > 1:
            yield Flaw.BUDGET, f"{len(team.met)} collectives on {ranks} ranks: one is enough"
            return


BIAS = FunctionExercise(
    name="bias-once",
    title="a row-parallel layer with a bias",
    hints=(
        "Every rank has the same bias, and the all-reduce adds up what all ranks bring.",
        "If each rank brings its partial sum plus the bias, how often is the bias in the total?",
        "Add it behind the `await`; or let only rank 0 add it before.",
    ),
    after="Whatever is done to a partial sum must be linear, and may be done once: the same holds "
    "for split-K on one GPU, for activations, and for a residual that is added.",
    judge=judge_row_parallel,
    parameters=("gpu", "hidden", "W2", "bias"),
)

"""Races in random kernels, against every pair of accesses compared with every other."""

import numpy as np
import pytest

from kernels.lab import trace
from microscope import Kind
from tests.microscope import oracle_engine
from tests.microscope.cases import from_source

CELLS = 80
STEPS = 6
STATEMENTS = {
    "store": "if on[{j}, i]:\n        s[at[{j}, i]] = i",
    "load": "if on[{j}, i]:\n        x += s[at[{j}, i]]",
    "move": "if on[{j}, i]:\n        s[at[{j}, i]] = s[at[{j} + 1, i]]",
    "atomic": "if on[{j}, i]:\n        cuda.atomic.add(s, at[{j}, i], 1)",
    "syncthreads": "cuda.syncthreads()",
    "syncwarp": "cuda.syncwarp()",
}
WEIGHTS = np.array([3, 4, 1, 2, 6, 2]) / 18


def kernel_text(rng, space: str) -> str:
    """A kernel of a few random statements; where each thread goes is in the arrays."""
    kinds = rng.choice(list(STATEMENTS), STEPS, p=WEIGHTS)
    body = "\n    ".join(STATEMENTS[k].format(j=j) for j, k in enumerate(kinds))
    declared = f"s = cuda.shared.array({CELLS}, int32)" if space == "shared" else "s = memory"
    return f"""from kernels.engine import cuda, int32

@cuda.jit
def pattern(at, on, memory, out):
    {declared}
    i = cuda.grid(1)
    x = 0
    {body}
    out[i] = x
"""


def patterns(rng, threads: int):
    """Cells and masks: often one thread a cell, sometimes neighbours, sometimes anything."""
    t = np.arange(threads)
    at = [
        [
            t % CELLS,
            (t + 1) % CELLS,
            np.zeros(threads, int),
            t // 4 % CELLS,
            rng.integers(0, CELLS, threads),
        ][rng.integers(5)]
        for _ in range(STEPS + 1)
    ]
    few = t == rng.integers(threads)
    on = [
        [
            t < CELLS,
            t < 8,
            t >= 32,
            (t >= 28) & (t < 36),
            rng.random(threads) < 0.1,
            few,
            few,
            few | (t == rng.integers(threads)),
        ][rng.integers(8)]
        for _ in range(STEPS + 1)
    ]
    return np.array(at, np.int32), np.array(on)


def kind_of(ops) -> str:
    """The name of a race between an earlier and a later access."""
    if ops[0] == "load":
        return Kind.WRITE_AFTER_READ
    return Kind.READ_AFTER_WRITE if ops[1] == "load" else Kind.WRITE_AFTER_WRITE


@pytest.mark.parametrize("space", ("shared", "global"))
def test_random_patterns(space):
    rng = np.random.default_rng(11)
    racing = 0
    for n in range(80):
        kernel = from_source(kernel_text(rng, space), f"pattern_{space}_{n}").pattern
        for _ in range(6):
            blocks, threads = (1, 64) if space == "shared" else (2, 40)
            at, on = patterns(rng, blocks * threads)
            arguments = (at, on, np.zeros(CELLS, np.int32), np.zeros(blocks * threads, np.int32))
            reference = oracle_engine.run(kernel, blocks, threads, *arguments)
            true = [r for r in reference.races() if r.array not in ("at", "on", "out")]
            seen = trace(kernel, blocks, threads, *arguments)
            found = [p for p in seen.problems if p.kind.startswith("race")]
            compare(true, found, threads)
            racing += bool(true)
    assert 120 < racing < 360  # of 480: the patterns hold both sound kernels and racing ones


def compare(true, found, threads):
    """Same pairs of lines, same kinds; each example is a real pair; far pairs preferred."""
    expected = {}
    for race in true:
        key = (race.lines, kind_of(race.ops) if race.lines[0] != race.lines[1] else "one line")
        expected.setdefault(key, []).append(race)
    got = {}
    for p in found:
        lines = tuple(sorted((p.line, p.other_line)))
        key = (lines, p.kind if lines[0] != lines[1] else "one line")
        got.setdefault(key, []).append(p)
    assert set(got) == set(expected)
    for key, problems in got.items():
        races = expected[key]
        for p in problems:
            element = p.element[0]
            pair = {(p.block, p.thread[0]), (p.other_block or p.block, p.other_thread[0])}
            real = [
                r
                for r in races
                if r.cell == element and set(zip(r.blocks, r.threads, strict=True)) == pair
            ]
            assert real, f"{p} is no race"
            assert p.same_warp == real[0].same_warp
        if all(p.same_warp for p in problems):
            assert all(r.same_warp for r in races), "a pair from different warps was there"

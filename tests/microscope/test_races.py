"""Races in random kernels, against every pair of accesses compared with every other."""

from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest

from kernels.lab import trace
from microscope import Kind
from tests.microscope.cases import from_source

CELLS = 80
STEPS = 6
#: What a thread does in a step; the first line is its condition.
STATEMENTS = {
    "store": "if on[{j}, i]:\n        s[at[{j}, i]] = i",
    "load": "if on[{j}, i]:\n        x += s[at[{j}, i]]",
    "move": "if on[{j}, i]:\n        s[at[{j}, i]] = s[at[{j} + 1, i]]",
    "atomic": "if on[{j}, i]:\n        cuda.atomic.add(s, at[{j}, i], 1)",
    "syncthreads": "cuda.syncthreads()",
    "syncwarp": "cuda.syncwarp()",
}
WEIGHTS = np.array([3, 4, 1, 2, 6, 2]) / 18


def kernel_text(kinds, space: str) -> str:
    """A kernel of these statements; where each thread goes is in the arrays."""
    body = "\n    ".join(STATEMENTS[k].format(j=j) for j, k in enumerate(kinds))
    declared = f"s = cuda.shared.array({CELLS}, int32)" if space == "shared" else "s = memory"
    return f"""from kernels.backend import cuda, int32

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


@dataclass(frozen=True)
class Access:
    """One thread touching one cell, after so many barriers of its block and of its warp."""

    line: int
    op: str
    block: int
    thread: int
    barriers: int
    warp_barriers: int

    def races(self, other: "Access") -> bool:
        """Whether nothing orders the two."""
        if {self.op, other.op} in ({"load"}, {"atomic"}):
            return False
        if self.block != other.block:
            return True
        if self.thread == other.thread or self.barriers != other.barriers:
            return False
        same_warp = self.thread // 32 == other.thread // 32
        return not same_warp or self.warp_barriers == other.warp_barriers


def races(text: str, kinds, at, on, threads: int) -> list[tuple[int, Access, Access]]:
    """Each racing pair of accesses, by line, behind its cell; a block after the other."""
    cells = defaultdict(list)
    ops = {"store": ["store"], "load": ["load"], "atomic": ["atomic"], "move": ["load", "store"]}
    line = next(k for k, row in enumerate(text.splitlines(), 1) if "x = 0" in row)
    barriers = warp_barriers = 0
    for j, kind in enumerate(kinds):
        line += len(STATEMENTS[kind].splitlines())
        barriers += kind == "syncthreads"
        warp_barriers += kind == "syncwarp"
        for i in np.flatnonzero(on[j]):
            for op in ops.get(kind, ()):
                cell = at[j + 1 if kind == "move" and op == "load" else j, i]
                block, thread = divmod(int(i), threads)
                cells[cell].append(Access(line, op, block, thread, barriers, warp_barriers))
    return [
        (cell, one, two)
        for cell, there in cells.items()
        for one, two in combinations(there, 2)
        if one.races(two)
    ]


@pytest.mark.parametrize("space", ("shared", "global"))
def test_random_patterns(space):
    rng = np.random.default_rng(11)
    racing = 0
    for n in range(80):
        kinds = rng.choice(list(STATEMENTS), STEPS, p=WEIGHTS)
        text = kernel_text(kinds, space)
        kernel = from_source(text, f"pattern_{space}_{n}").pattern
        for _ in range(6):
            blocks, threads = (1, 64) if space == "shared" else (2, 40)
            at, on = patterns(rng, blocks * threads)
            arguments = (at, on, np.zeros(CELLS, np.int32), np.zeros(blocks * threads, np.int32))
            true = races(text, kinds, at, on, threads)
            seen = trace(kernel, blocks, threads, *arguments)
            found = [p for p in seen.problems if p.kind.startswith("race")]
            compare(true, found)
            racing += bool(true)
    assert 120 < racing < 360  # of 480: the patterns hold both sound kernels and racing ones


def compare(true, found):
    """Same pairs of lines, same kinds; each example is a real pair; far pairs preferred."""
    expected = defaultdict(list)
    for cell, one, two in true:
        same_line = one.line == two.line
        key = (one.line, two.line), "one line" if same_line else kind_of((one.op, two.op))
        expected[key].append((cell, one, two))
    got = defaultdict(list)
    for p in found:
        lines = tuple(sorted((p.line, p.other_line)))
        got[lines, p.kind if lines[0] != lines[1] else "one line"].append(p)
    assert set(got) == set(expected)
    for key, problems in got.items():
        for p in problems:
            pair = {(p.block[0], p.thread[0]), ((p.other_block or p.block)[0], p.other_thread[0])}
            (real, *_) = [
                (one, two)
                for cell, one, two in expected[key]
                if cell == p.element[0] and {(a.block, a.thread) for a in (one, two)} == pair
            ]
            assert p.same_warp == same_warp(*real)
        if all(p.same_warp for p in problems):
            assert all(same_warp(one, two) for _, one, two in expected[key])


def same_warp(one: Access, two: Access) -> bool:
    """Whether two accesses are of one warp."""
    return one.block == two.block and one.thread // 32 == two.thread // 32

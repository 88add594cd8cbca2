"""Random programs: loops, branches and early exits that differ from thread to thread.

Each program runs in the microscope and in the second engine; outputs, and the counts of every
place of the source, must be the same.
"""

import numpy as np
import pytest

from kernels.lab import trace
from tests.microscope import oracle_engine
from tests.microscope.cases import from_source

HEAD = """from kernels.engine import cuda, float32, uint32


@cuda.jit(device=True)
def pick(a, i, x):
    if x % 3 == 0:
        return a[i, x % 4]
    k = 0
    while k < x % 4:
        k += 1
        if a[i, k - 1] > 2:
            break
    return k


@cuda.jit
def program(a, f, out, trail, floats):
    i = cuda.grid(1)
    x = i * 7 % 11
    y = x
    z = float32(0)
"""


class Writer:
    """Writes the body of one random kernel."""

    def __init__(self, rng):
        self.rng = rng
        self.lines: list[str] = []
        self.loops = 0

    def condition(self) -> str:
        p = int(self.rng.integers(2, 5))
        return str(
            self.rng.choice(
                [
                    f"x % {p} == {p - 1}",
                    f"a[i, x % 4] > {p}",
                    f"1 < x % 9 <= {p + 2}",
                    "not y % 2",
                    f"x % 2 == 0 and a[i, y % 4] < {p}",
                    f"i % {p} == 0 or a[i, 3] == x % 5",
                    f"cuda.threadIdx.x < {8 * p}",
                    f"x > {p} if y % 2 else x < 9",
                ]
            )
        )

    def simple(self) -> str:
        c = int(self.rng.integers(1, 7))
        return str(
            self.rng.choice(
                [
                    f"x = (x * 5 + a[i, {c % 4}]) % 101",
                    f"y = (y + x // {c} - {c}) % 50",
                    f"trail[i, x % 4] += {c}",
                    "trail[i, y % 4] = x",
                    "row = a[i]\n{}x += row[y % 4] % 5",
                    f"x += a[i, y % 4] if x % {c} == 0 else {c}",
                    "x = (x + pick(a, i, y)) % 101",
                    f"z += f[(i + x) % f.size] * float32({c})",
                    "z = z + f[y % 50] - f[i % 8]",
                    "x, y = y, x",
                    f"y = min(y, {c * 5}) + abs(x - {c})",
                    "part = trail[i, 1:3]\n{}part[x % 2] += 1",
                    f"x = int(uint32(x) >> uint32({c})) + y % 7",
                ]
            )
        )

    def block(self, depth: int, indent: str) -> None:
        for _ in range(int(self.rng.integers(1, 4))):
            self.statement(depth, indent)

    def statement(self, depth: int, indent: str) -> None:
        roll = self.rng.random()
        inner = indent + "    "
        if depth == 0 or roll < 0.45:
            self.lines.append(indent + self.simple().replace("{}", indent))
        elif roll < 0.65:
            self.lines.append(f"{indent}if {self.condition()}:")
            self.block(depth - 1, inner)
            if self.rng.random() < 0.5:
                self.lines.append(f"{indent}else:")
                self.block(depth - 1, inner)
        elif roll < 0.92:
            name = f"k{len(self.lines)}"
            bounds = self.rng.choice(["3", "x % 4", "i % 3, 5", "6, y % 6, -2", "0, 9, 1 + x % 3"])
            if self.rng.random() < 0.7:
                self.lines.append(f"{indent}for {name} in range({bounds}):")
            else:
                self.lines.append(f"{indent}{name} = x % 5")
                self.lines.append(f"{indent}while {name} > 0 and ({self.condition()}):")
                self.lines.append(f"{inner}{name} -= 1")
            self.loops += 1
            self.block(depth - 1, inner)
            if self.rng.random() < 0.5:
                self.lines.append(f"{inner}if {self.condition()}:")
                self.lines.append(f"{inner}    {self.rng.choice(['break', 'continue'])}")
                self.block(depth - 1, inner)
            self.loops -= 1
        elif roll < 0.95:
            self.lines.append(f"{indent}if {self.condition()}:")
            self.lines.append(f"{inner}out[i] = -x\n{inner}return")
        else:
            self.lines.append(f"{indent}x += cuda.threadIdx.x % 3")

    def text(self) -> str:
        """The whole module."""
        while len(self.lines) < 8:
            self.block(2, "    ")
        return HEAD + "\n".join(self.lines) + "\n    out[i] = x + 100 * y\n    floats[i] = z\n"


@pytest.mark.parametrize("part", range(4))
def test_random_programs(part):
    rng = np.random.default_rng(100 + part)
    for _ in range(25):
        text = Writer(rng).text()
        kernel = from_source(text, "program").program
        blocks, threads = 2, int(rng.choice([32, 40, 72]))
        n = blocks * threads
        arguments = (
            rng.integers(-5, 9, (n, 4)).astype(np.int32),
            rng.random(50, np.float32),
            np.zeros(n, np.int64),
            np.zeros((n, 4), np.int32),
            np.zeros(n, np.float32),
        )
        reference = oracle_engine.run(kernel, blocks, threads, *arguments)
        seen = trace(kernel, blocks, threads, *arguments)
        assert seen.problems == [], text
        for mine, theirs in zip(seen.outputs.values(), reference.arguments, strict=True):
            assert np.array_equal(mine, theirs), text
        expected = {
            site: (c.requests, c.lanes, c.sectors, c.lines, c.bytes_used)
            for site, c in reference.counts().items()
        }
        got = {
            (s.line, s.column, s.op): (s.requests, s.lanes, s.sectors, s.lines, s.bytes_used)
            for s in seen.sites
        }
        assert got == expected, text

"""``cuda.random``: the xoroshiro128+ generators of Numba, one for each thread.

The recurrence is Blackman and Vigna's, with the constants that Numba uses: the same seed gives the
same numbers as on a GPU.
"""

from __future__ import annotations

import ast

import numpy as np

from .errors import Unsupported
from .memory import Array

DTYPE = np.dtype([("s0", np.uint64), ("s1", np.uint64)], align=True)
JUMP = (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922)  # the polynomial of 2**64 steps
U = np.uint64
TWO_PI = 2 * np.pi
DRAWS = ("next", "uniform_float32", "uniform_float64", "normal_float32", "normal_float64")


# -- the recurrence, for vectors of states


def rotated(x, k: int):
    """`x` with its bits rotated left."""
    return (x << U(k)) | (x >> U(64 - k))


def step(s0, s1):
    """The next states."""
    s1 = s1 ^ s0
    return rotated(s0, 55) ^ s1 ^ (s1 << U(14)), rotated(s1, 36)


def jumped(s0: np.ndarray, s1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The states 2**64 steps later."""
    t0, t1 = np.zeros_like(s0), np.zeros_like(s1)
    for word in JUMP:
        for bit in range(64):
            if word >> bit & 1:
                t0, t1 = t0 ^ s0, t1 ^ s1
            s0, s1 = step(s0, s1)
    return t0, t1


def seeded(seed: int) -> tuple[int, int]:
    """The first state: SplitMix64 of the seed."""
    mask = 2**64 - 1
    z = (int(seed) + 0x9E3779B97F4A7C15) & mask
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & mask
    z ^= z >> 31
    return z, z


class BitMatrix:
    """Some jumps at once: a matrix of bits, since a jump is linear.

    Attributes
    ----------
    s0, s1 : ndarray
        What becomes of the 128 states that have one bit set.
    """

    def __init__(self):
        bits = U(1) << np.arange(64, dtype=np.uint64)
        none = np.zeros(64, np.uint64)
        self.s0, self.s1 = jumped(np.concatenate([bits, none]), np.concatenate([none, bits]))

    def apply(self, s0: np.ndarray, s1: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The states that some states become."""
        t0, t1 = np.zeros_like(s0), np.zeros_like(s1)
        for k in range(128):
            word, bit = (s0, k) if k < 64 else (s1, k - 64)
            chosen = (word >> U(bit)) & U(1)
            t0 ^= chosen * self.s0[k]
            t1 ^= chosen * self.s1[k]
        return t0, t1

    def double(self) -> None:
        """Twice as many jumps."""
        self.s0, self.s1 = self.apply(self.s0, self.s1)


def states(n: int, seed: int, subsequence_start: int = 0) -> np.ndarray:
    """`n` states, each 2**64 steps from the one before it."""
    z0, z1 = seeded(seed)
    s0, s1 = np.array([z0], np.uint64), np.array([z1], np.uint64)
    for _ in range(subsequence_start):
        s0, s1 = jumped(s0, s1)
    jumps = BitMatrix()
    while s0.size < n:
        more = jumps.apply(s0, s1)
        s0, s1 = np.concatenate([s0, more[0]]), np.concatenate([s1, more[1]])
        jumps.double()
    result = np.empty(n, DTYPE)
    result["s0"], result["s1"] = s0[:n], s1[:n]
    return result


# -- inside a kernel


def draw(run, name: str, n: ast.Call, m):
    """``cuda.random.xoroshiro128p_…(states, index)``: a number, and the state moves on."""
    given, index = run.exactly(n, m, 2)
    if not isinstance(given, Array) or given.dtype != DTYPE or given.ndim != 1:
        raise Unsupported(
            n.lineno, f"{ast.unparse(n)}: takes the states that create_xoroshiro128p_states made"
        )
    kind = name.removeprefix("xoroshiro128p_")
    if kind == "next":
        return bits(run, given, index, m, n)
    if run.tracer is not None and kind.startswith("normal"):
        run.tracer.special += 3 * m.n
    return DISTRIBUTIONS[kind](lambda: bits(run, given, index, m, n))


def bits(run, given: Array, index, m, n: ast.Call):
    """64 random bits of each lane."""
    index = (index,)
    run.memory.check_index(given, index, n)
    run.memory.writes(given)
    elements, inside = run.memory.locate(given, index, m, n)
    if inside is None:
        return U(0)
    cells = run.memory.cells(given.buffer, elements)
    if run.tracer is not None:
        for op in ("load", "store"):
            run.tracer.access(n, given.buffer, op, elements, cells, inside, run.lanes)
    s0, s1 = given.buffer.flat["s0"], given.buffer.flat["s1"]
    old = s0[cells], s1[cells]
    new = step(*old)
    run.memory.scatter(s0, cells, new[0], inside)
    run.memory.scatter(s1, cells, new[1], inside)
    return old[0] + old[1]


def uniform64(next_bits):
    """A float64 in [0, 1)."""
    return (next_bits() >> U(11)).astype(np.float64) * np.float64(2.0**-53)


def uniform32(next_bits):
    """A float32 in [0, 1)."""
    return uniform64(next_bits).astype(np.float32)


def normal(kind: type):
    """A number of the normal distribution: Box and Muller's of two uniform float32, as Numba's."""

    def draw_normal(next_bits):
        u1, u2 = uniform32(next_bits), uniform32(next_bits)
        return np.sqrt(kind(-2) * np.log(u1)) * np.cos(kind(TWO_PI) * u2)

    return draw_normal


DISTRIBUTIONS = {
    "uniform_float32": uniform32,
    "uniform_float64": uniform64,
    "normal_float32": normal(np.float32),
    "normal_float64": normal(np.float64),
}
NAMES = tuple(f"xoroshiro128p_{name}" for name in DRAWS)

"""Wrong kernels by the hundred: what every block-wide pattern looks like with one slip in it.

Each pattern is a text with gaps; a slip fills one gap with what a learner might have written. Every
eighth kernel has no slip: tools and microscope must be silent about it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from tests.microscope.fuzz.programs import HEADER

CONTROL_EVERY = 8


@dataclass(frozen=True)
class Pattern:
    """A kernel's text with gaps.

    Attributes
    ----------
    text : str
        Its body; ``{name}`` are gaps or sizes.
    right : dict of str to str
        What belongs into the gaps.
    slips : dict of str to (str, str)
        A name to the gap it concerns and what stands there instead.
    """

    text: str
    right: dict[str, str]
    slips: dict[str, tuple[str, str]]


BARRIER = "cuda.syncthreads()"
NOTHING = "pass"
PATTERNS = {
    "neighbour": Pattern(
        """
i = cuda.grid(1)
t = cuda.threadIdx.x
sh = cuda.shared.array({size}, {dtype})
for k in range({rounds}):
    sh[{put}] = a[i] + k
    {first}
    v = sh[{get}]
    {second}
    out[i, k] = v
""",
        {"size": "{N}", "put": "t", "get": "(t + {shift}) % {N}", "first": BARRIER,
         "second": BARRIER},
        {
            "no barrier after the store": ("first", NOTHING),
            "no barrier after the load": ("second", NOTHING),
            "stores one too far": ("put", "t + 1"),
            "loads past the end": ("get", "t + {shift}"),
            "too small": ("size", "{N} - {shift}"),
            "all store to one": ("put", "t // {N}"),
            "leaves gaps": ("put", "t // 2 * 2"),
        },
    ),
    "tree": Pattern(
        """
i = cuda.grid(1)
t = cuda.threadIdx.x
sh = cuda.shared.array({N}, {dtype})
if {fill}:
    sh[t] = a[i]
{first}
s = {start}
while s > 0:
    if {half}:
        sh[t] += sh[t + s]
    {second}
    s //= 2
if {who}:
    out[cuda.blockIdx.x, 0] = sh[0]
""",
        {"fill": "t < {N}", "first": BARRIER, "start": "{N} // 2", "half": "t < s",
         "second": BARRIER, "who": "t == 0"},
        {
            "no barrier before the sum": ("first", NOTHING),
            "no barrier in the loop": ("second", NOTHING),
            "one thread too many": ("half", "t <= s"),
            "starts too high": ("start", "{N}"),
            "one element never filled": ("fill", "t < {N} - 1"),
            "first never filled": ("fill", "t > 0"),
            "everyone adds": ("half", "t < 2 * s"),
        },
    ),
    "guard": Pattern(
        """
i = cuda.grid(1)
if {guard}:
    out[{put}, 0] = a[{get}] + a[{other}]
""",
        {"guard": "i < a.size - 1", "put": "i", "get": "i", "other": "i + 1"},
        {
            "no guard": ("guard", "i >= 0"),
            "off by one": ("guard", "i < a.size"),
            "far behind the end": ("get", "i + a.size"),
            "below the beginning": ("other", "i - 2 * a.size"),
            "writes past the end": ("put", "i + {threads}"),
        },
    ),
    "halo": Pattern(
        """
i = cuda.grid(1)
t = cuda.threadIdx.x
sh = cuda.shared.array({size}, {dtype})
sh[t + 1] = a[i]
if {left}:
    sh[0] = a[i - 1] if i > 0 else a[i]
if {right}:
    sh[{N} + 1] = a[i + 1] if i + 1 < a.size else a[i]
{first}
out[i, 0] = sh[t] + sh[t + 1] + sh[t + 2]
""",
        {"size": "{N} + 2", "left": "t == 0", "right": "t == {N} - 1", "first": BARRIER},
        {
            "no barrier": ("first", NOTHING),
            "left edge never filled": ("left", "t < 0"),
            "right edge never filled": ("right", "t == {N}"),
            "too small": ("size", "{N} + 1"),
            "two fill one edge": ("left", "t < 2"),
        },
    ),
    "histogram": Pattern(
        """
i = cuda.grid(1)
t = cuda.threadIdx.x
bins = cuda.shared.array(8, int32)
if {zero}:
    bins[t] = 0
{first}
{add}
{second}
if t < 8:
    cuda.atomic.add(total, t, bins[t])
""",
        {"zero": "t < 8", "first": BARRIER, "add": "cuda.atomic.add(bins, int(a[i]) & 7, 1)",
         "second": BARRIER},
        {
            "no barrier after zeroing": ("first", NOTHING),
            "no barrier before the sum": ("second", NOTHING),
            "adds without an atomic": ("add", "bins[int(a[i]) & 7] += 1"),
            "one bin never zeroed": ("zero", "t < 7"),
            "nine bins": ("add", "cuda.atomic.add(bins, t % 9, 1)"),
        },
    ),
    "warp": Pattern(
        """
i = cuda.grid(1)
t = cuda.threadIdx.x
sh = cuda.shared.array({N}, {dtype})
sh[t] = a[i]
{first}
v = sh[{get}]
{second}
sh[t] = v + 1
out[i, 0] = sh[t]
""",
        {"first": "cuda.syncwarp()", "second": "cuda.syncwarp()", "get": "t ^ {bit}"},
        {
            "no syncwarp after the store": ("first", NOTHING),
            "no syncwarp after the load": ("second", NOTHING),
            "reads another warp": ("get", "(t + 32) % {N}"),
        },
    ),
    "tile": Pattern(
        """
x, y = cuda.grid(2)
tx = cuda.threadIdx.x
ty = cuda.threadIdx.y
sh = cuda.shared.array(({rows}, {W}), {dtype})
sh[ty, tx] = a[(y * {W} + x) % a.size]
{first}
i = (cuda.blockIdx.x * {H} + ty) * {W} + tx
out[i, 0] = sh[{row}, {col}]
""",
        {"rows": "{H}", "first": BARRIER, "row": "{H} - 1 - ty", "col": "{W} - 1 - tx"},
        {
            "no barrier": ("first", NOTHING),
            "too few rows": ("rows", "{H} - 1"),
            "row past the end": ("row", "{H} - ty"),
            "column past the end": ("col", "{W} - tx"),
            "swapped": ("row", "tx"),
        },
    ),
    "once": Pattern(
        """
i = cuda.grid(1)
t = cuda.threadIdx.x
sh = cuda.shared.array(2, {dtype})
if {who}:
    sh[0] = {what}
{first}
out[i, 0] = sh[{get}]
""",
        {"who": "t == {shift}", "what": "a[i]", "first": BARRIER, "get": "0"},
        {
            "everyone stores": ("who", "t >= 0"),
            "a warp stores": ("who", "t < 32"),
            "no barrier": ("first", NOTHING),
            "reads the other": ("get", "1"),
            "nobody stores": ("who", "t >= {N}"),
        },
    ),
    "blank": Pattern(
        """
i = cuda.grid(1)
if {guard}:
    blank[i] = a[i] * 2
out[i, 0] = blank[{get}]
""",
        {"guard": "i < blank.size", "get": "i"},
        {
            "one never written": ("guard", "i != {shift}"),
            "half never written": ("guard", "i % 2 == 0"),
        },
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Wrong:
    """One kernel.

    Attributes
    ----------
    number : int
    pattern, slip : str
        `slip` is empty for a control.
    source : str
    grid, block : tuple of int
    names : tuple of str
        Of its arguments.
    """

    number: int
    pattern: str
    slip: str
    source: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        """What the kernel is called: tools name it."""
        return f"mutant_{self.number}"

    def values(self, blank) -> list:
        """Fresh arguments; `blank` makes an array that nobody has written."""
        threads = int(np.prod(self.grid) * np.prod(self.block))
        rng = np.random.default_rng(self.number)
        made = {
            "a": lambda: rng.integers(0, 50, threads).astype(np.float32),
            "out": lambda: np.zeros((threads, 4), np.float32),
            "total": lambda: np.zeros(8, np.int32),
            "blank": lambda: blank(threads, np.float32),
        }
        return [made[name]() for name in self.names]


def wrong(number: int) -> Wrong:
    """The kernel of a number; the patterns and their slips take turns."""
    rng = random.Random(number)
    turns = [(p, s) for p, pattern in PATTERNS.items() for s in pattern.slips]
    name, slip = turns[number % len(turns)]
    pattern = PATTERNS[name]
    control = number % CONTROL_EVERY == CONTROL_EVERY - 1
    gaps = dict(pattern.right)
    if not control:
        gap, text = pattern.slips[slip]
        gaps[gap] = text
    n = rng.choice((64, 128, 96)) if name != "tree" else rng.choice((64, 128))
    blocks = rng.choice((1, 2, 3))
    height, width = rng.choice(((8, 16), (4, 32), (16, 8)))
    sizes = {
        "N": n, "shift": rng.choice((1, 3, 33)), "bit": rng.choice((1, 2, 16)), "H": height,
        "W": width, "rounds": rng.choice((2, 3)),
        "dtype": rng.choice(("float32", "int32", "float64")),
        "threads": n * blocks,
    }  # fmt: skip
    body = pattern.text
    for _ in range(2):  # gaps hold sizes
        for key, value in {**gaps, **sizes}.items():
            body = body.replace("{" + key + "}", str(value))
    names = [x for x in ("a", "blank", "total", "out") if f"{x}[" in body or f"{x}," in body]
    block = (width, height) if name == "tile" else (n,)
    head = f"\n@cuda.jit(lineinfo=True)\ndef mutant_{number}({', '.join(names)}):"
    source = HEADER + head + body.replace("\n", "\n    ").rstrip() + "\n"
    return Wrong(number, name, "" if control else slip, source, (blocks,), block, tuple(names))

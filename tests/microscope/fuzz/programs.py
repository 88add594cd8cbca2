"""Random kernels as text: each seed is one program with its launch and its arguments.

A program is sound by construction unless `Program.sloppy`: indices lie within bounds, nothing
races, and no value is read that nobody wrote. A sloppy one may read a variable that only some
threads have assigned, or all of none.
"""

from __future__ import annotations

import random
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from microscope import TensorMap

TYPES = {
    "b1": np.bool_, "i1": np.int8, "i2": np.int16, "i4": np.int32, "i8": np.int64,
    "u1": np.uint8, "u2": np.uint16, "u4": np.uint32, "u8": np.uint64,
    "f4": np.float32, "f8": np.float64,
}  # fmt: skip
COMPLEX = {"c8": np.complex64, "c16": np.complex128}
#: A record, as the kernels know it too.
PARTICLE = np.dtype([("n", np.int32), ("x", np.float32), ("w", np.float64)], align=True)
LENGTHS = (7, 16, 33, 64, 96)
OUTPUTS = ("f4", "f8", "i1", "i4", "i8", "u1", "u2", "u4", "u8")
LAUNCHES = (((2,), (40,)), ((1,), (64,)), ((3,), (32,)), ((2, 2), (5, 4)), ((2,), (3, 4, 3)))
WARPGROUPS = (((1,), (128,)), ((2,), (128,)), ((1,), (256,)))
WHOLE_WARPS = (((1,), (64,)), ((3,), (32,)), ((1,), (96,)), ((2, 1), (16, 4)))
INTEGERS = (0, 1, 2, 3, 5, 7, 10, -1, -2, -3, 31, 100, 127, 128, 255, 256, 32767, 65535,
            2**31 - 1, -(2**31), 2**31, 2**32 - 1, 2**33 + 1, 2**40, 2**62, 2**63 - 1)  # fmt: skip
SMALL = (0, 1, 2, 3, 4, 5, 7)
FLOATS = ("0.0", "0.5", "1.0", "1.5", "-2.25", "3.0", "0.1", "-0.0", "1e10", "1e-3", "-7.0", "2.5")
SLOTS = 6  #: values of each type that a thread may put out
#: Source that every kernel may rely on, whatever provides `cuda`.
HEADER = """import cmath
import math

import numpy as np
from numpy import float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64

TABLE = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.int32)
WEIGHTS = np.array([0.5, 1.25, -2.0, 8.0], np.float32)
PAIR = (4, 7)
SIX = 6
HALF = 0.5
PARTICLE = np.dtype([("n", np.int32), ("x", np.float32), ("w", np.float64)], align=True)
"""
#: How small whole numbers look to ``mma``: their bits in each format.
FORMATS = {
    "float16": "np.array([0, 1, -1, 2, -2, 3, -3, 4], np.float16).view(np.uint16)",
    "bfloat16": "(np.array([0, 1, -1, 2, -2, 3, -3, 4], np.float32).view(np.uint32) >> 16)"
    ".astype(np.uint16)",
    "tf32": "np.array([0, 1, -1, 2, -2, 3, -3, 4], np.float32).view(np.uint32)",
    "e4m3": "np.array([0, 0x38, 0xB8, 0x40, 0xC0, 0x44, 0xC4, 0x48], np.uint8)",
}
BYTES = {"float16": 2, "bfloat16": 2, "tf32": 4, "e4m3": 1}  #: of a number of each
MAPS = {"f4": "float32", "u2": "bfloat16", "u1": "uint8"}  #: what TMA calls elements
FIELDS = {"n": "i", "x": "f", "w": "f"}  #: of a `PARTICLE`
#: Functions of complex numbers, and how they are called.
OF_COMPLEX = ("np.sin", "np.cos", "np.log", "np.tanh", "np.sinh", "np.cosh", "np.arctan",
              "np.arcsin", "np.conjugate", "np.log2", "np.log10", "np.tan",
              "cmath.sin", "cmath.exp", "cmath.sqrt")  # fmt: skip
WARP = 32


@dataclass(frozen=True)
class Program:
    """A kernel, its launch and the names of its arguments.

    Attributes
    ----------
    seed : int
    source : str
        A module's text; the kernel is called ``kernel``.
    grid, block : tuple of int
    arguments : tuple of str
        Names, from which `values` makes the arguments.
    sloppy : bool
        Whether it may read what was never assigned.
    """

    seed: int
    source: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: tuple[str, ...]
    sloppy: bool

    @property
    def threads(self) -> int:
        """Threads of the launch."""
        return int(np.prod(self.grid) * np.prod(self.block))

    def values(self, inputs: int) -> list:
        """Fresh arguments, the same for the same `inputs`."""
        rng = np.random.default_rng([self.seed, inputs])
        return [make(name, rng, self.threads) for name in self.arguments]


def make(name: str, rng: np.random.Generator, threads: int):
    """The argument that a name stands for: ``i4_33`` is an array of 33 int32."""
    kind, _, size = name.partition("_")
    if kind == "out":
        return np.full((threads, SLOTS), 77, (TYPES | COMPLEX)[size])
    if kind.startswith("map"):  # map_f4_20x24_8x4: boxes of 8×4 of a matrix of 20×24
        shape, box = (tuple(map(int, x.split("x"))) for x in size.split("_")[1:3])
        dtype = size.partition("_")[0]
        made = numbers(rng, dtype, int(np.prod(shape))).reshape(shape)
        if kind == "mapout":
            made[...] = 77
        return TensorMap(made, (1,) * (len(shape) - 2) + box, MAPS[dtype])
    if kind in ("records", "left"):
        made = np.zeros(threads if kind == "left" else int(size), PARTICLE)
        for field, dtype in (("n", "i4"), ("x", "f4"), ("w", "f8")):
            made[field] = numbers(rng, dtype, len(made)) if kind == "records" else 77
        return made
    if kind in COMPLEX:  # no edges: a function of one may take another branch there
        parts = rng.normal(size=(2, int(size)))
        return (parts[0] + 1j * parts[1]).astype(COMPLEX[kind])
    if kind == "pair":
        return np.int32(rng.integers(-9, 10)), float(rng.integers(-64, 65) / 8)
    if kind == "all":
        return np.full(8, 5, TYPES[size])
    if kind == "scalar":
        v = numbers(rng, size.removeprefix("py"), 8)[0]
        return v.item() if size.startswith("py") else v
    if kind == "m":
        return numbers(rng, size, 63).reshape(7, 9)
    return numbers(rng, kind, int(size))


def numbers(rng: np.random.Generator, kind: str, n: int) -> np.ndarray:
    """Small numbers, arbitrary ones, and the edges of a type."""
    dtype = np.dtype(TYPES[kind])
    if dtype.kind == "b":
        return rng.integers(0, 2, n).astype(bool)
    if dtype.kind == "f":
        some = rng.integers(-64, 65, n) / 8
        full = rng.normal(size=n) * 10.0 ** rng.integers(-3, 12, n)
        edges = rng.choice([np.nan, np.inf, -np.inf, -0.0, 3e9, -3e9, 1e20, -1e20, 0.5, 2.5], n)
    else:
        limits = np.iinfo(dtype)
        some = rng.integers(max(limits.min, -9), 10, n)
        full = rng.integers(limits.min, limits.max, n, dtype, endpoint=True)
        edges = rng.choice(np.array([limits.min, limits.max, limits.max - 1, 0, 1], dtype), n)
    which = rng.choice(3, n, p=(0.6, 0.28, 0.12))
    with np.errstate(all="ignore"):
        return np.choose(which, [x.astype(dtype) for x in (some, full, edges)])


# ------------------------------------------------------------------------------- the writer
@dataclass
class Scope:
    """What a place of the source may read: names by kind, and those that only may hold a value."""

    sure: dict[str, str] = field(default_factory=dict)
    maybe: dict[str, str] = field(default_factory=dict)
    ended: bool = False  # no lane comes here

    def copy(self) -> Scope:
        return Scope(dict(self.sure), dict(self.maybe), self.ended)


def join(a: Scope, b: Scope) -> Scope:
    """What holds after two ways have met."""
    if a.ended or b.ended:
        live, dead = (b, a) if a.ended else (a, b)
        return Scope(dict(live.sure), dead.maybe | live.maybe, a.ended and b.ended)
    both = {n: wider(a.sure[n], b.sure[n]) for n in a.sure if n in b.sure}
    every = {**a.maybe, **b.maybe, **a.sure, **b.sure}
    return Scope(both, {n: k for n, k in every.items() if n not in both})


def wider(a: str, b: str) -> str:
    """The kind of a variable that has one kind here and another there."""
    return max(a, b, key="bif".index)


class Writer:
    """Writes one program; the methods that return text write expressions, the others statements."""

    def __init__(self, seed: int):
        self.rng = random.Random(seed)
        self.seed = seed
        self.lines: list[str] = []
        self.depth = 0
        self.scope = Scope()
        self.uniform = True  # all threads of the block come by
        self.loops = 0
        self.sloppy = self.chance(0.25)
        self.early = self.chance(0.2)  # threads may leave: no barriers then
        self.fixed: set[str] = set()  # loop counters, not to be assigned
        self.slots = dict.fromkeys(OUTPUTS, 0)
        self.counter = 0
        self.used: list[str] = []
        self.functions: list[tuple[str, str, str]] = []  # name, parameters, kind of the result
        self.in_function = False
        self.records = self.complex = ""  # arrays of them
        self.tuple = ""  # an argument that is one
        self.left = 0  # records that a thread puts out: one or none
        self.vectors: list[tuple[str, str, int]] = []  # name, kind, components
        self.modern = self.chance(0.4)  # with PTX instructions
        self.hopper = self.modern and not self.early and self.chance(0.35)  # TMA and wgmma, too
        self.formats: dict[str, int] = {}  # of matrices, with the k of the product
        self.wide: list[tuple[str, str]] = []  # formats and arguments of `ptx.wgmma`
        self.maps: list[str] = []  # tensor maps

    # -- dice

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def pick(self, items):
        return self.rng.choice(list(items))

    def fresh(self, stem: str) -> str:
        self.counter += 1
        return f"{stem}{self.counter}"

    # -- text

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    @contextmanager
    def body(self, head: str):
        self.line(head)
        self.depth += 1
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.line("pass")
        self.depth -= 1

    # -- the program

    def program(self) -> Program:
        """Write everything."""
        for _ in range(self.pick((0, 0, 1, 1, 2))):
            self.function()
        if self.chance(0.25):
            self.recursion()
        grid, block = self.pick(WHOLE_WARPS if self.modern and self.chance(0.75) else LAUNCHES)
        if self.hopper:
            grid, block = self.pick(WARPGROUPS)
        self.threads = int(np.prod(grid) * np.prod(block))
        self.block_threads = int(np.prod(block))
        inputs = self.rng.sample([k for k in TYPES], self.pick((2, 3, 4)))
        self.arrays = {f"{k}_{self.pick(LENGTHS)}": k for k in inputs}
        self.matrix = f"m_{self.pick(TYPES)}" if self.chance(0.5) else ""
        self.scalars = self.rng.sample(
            ["scalar_pyi8", "scalar_pyf8", "scalar_f4", "scalar_i4", "scalar_u4", "scalar_u1",
             "scalar_i2", "scalar_b1"], self.pick((0, 1, 2)),
        )  # fmt: skip
        self.shared_totals = [f"all_{k}" for k in ("i4", "u4", "i8", "f4", "f8", "u8")]
        self.shared_totals = self.rng.sample(self.shared_totals, self.pick((0, 0, 1)))
        if self.chance(0.35):
            self.records = f"records_{self.pick(LENGTHS)}"
        if self.chance(0.3):
            self.complex = f"{self.pick(COMPLEX)}_{self.pick(LENGTHS)}"
            self.slots |= dict.fromkeys(COMPLEX, 0)
        if self.chance(0.25):
            self.tuple = "pair_0"
        functions, self.lines = self.lines, []
        self.body_of_kernel(grid, block)
        names = [*self.arrays, *([self.matrix] if self.matrix else []), *self.scalars]
        names += [x for x in (self.records, self.complex, self.tuple) if x]
        names += [*self.shared_totals, *(f"out_{k}" for k, used in self.slots.items() if used)]
        names += ["left_0"] * self.left + self.maps
        known = []
        for dtype in {d: 0 for d, _ in self.wide if d not in self.formats}:
            known += [f"{dtype.upper()} = {FORMATS[dtype]}"]
        known += [f"WGMMA_{k} = ptx.wgmma({given})" for k, (_, given) in enumerate(self.wide)]
        for dtype, k in self.formats.items():
            known += [f"{dtype.upper()} = {FORMATS[dtype]}"]
            known += [f'MMA_{dtype.upper()} = ptx.mma({k}, "{dtype}")']
        head = [*known, "", "", *functions, "@cuda.jit", f"def kernel({', '.join(names)}):"]
        source = HEADER + "\n".join([*head, *self.lines]) + "\n"
        return Program(self.seed, source, grid, block, tuple(names), self.sloppy)

    def body_of_kernel(self, grid, block) -> None:
        self.depth = 1
        scope = self.scope = Scope()
        if len(block) == 1:
            self.line(
                self.pick(
                    ("i = cuda.grid(1)", "i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x")
                )
            )
            self.line("t = cuda.threadIdx.x")
        else:
            dims = "xyz"[: len(block)]
            self.line(
                "t = cuda.threadIdx.x + cuda.blockDim.x * cuda.threadIdx.y"
                + (
                    " + cuda.blockDim.x * cuda.blockDim.y * cuda.threadIdx.z"
                    if dims == "xyz"
                    else ""
                )
            )
            number = "cuda.blockIdx.x" + (
                " + cuda.gridDim.x * cuda.blockIdx.y" if len(grid) == 2 else ""
            )
            self.line(f"i = ({number}) * {self.block_threads} + t")
        scope.sure.update(i="i", t="i")
        self.fixed |= {"i", "t"}
        if self.chance(0.35):
            self.nested()
        self.block_of(self.pick((3, 5, 6)), 3)
        if self.modern and not self.early and not self.scope.ended:
            self.pick((self.copied, self.phase, self.fragment, self.product, self.product))()
        if self.hopper and not self.scope.ended:
            self.pick((self.tile, self.warpgroup))()
        self.block_of(self.pick((3, 4, 6)), 3)
        for _ in range(3):
            self.output()

    # -- statements

    def block_of(self, statements: int, room: int) -> None:
        """Some statements; `room` says how deep they may nest."""
        for _ in range(statements):
            if self.scope.ended:
                return
            self.statement(room)

    def statement(self, room: int) -> None:
        choices = [(self.assign, 10), (self.augment, 5), (self.output, 5)]
        if room > 0:
            choices += [(self.branch, 7), (self.counted_loop, 3), (self.while_loop, 2)]
            choices += [(self.sequence_loop, 1)]
        if self.loops:
            choices += [(self.jump, 2)]
        if not self.in_function:
            choices += [(self.local_array, 1), (self.view, 1), (self.pair, 1), (self.triple, 1)]
            choices += [(self.vector, 1.5)]
            choices += [(self.record, 2)] if self.records else []
            choices += [(self.complex_output, 2)] if self.complex else []
            if self.shared_totals:
                choices += [(self.atomic, 2)]
            if self.uniform and not self.early and not self.loops:
                choices += [(self.exchange, 1.5), (self.warp, 1)]
                choices += [(self.copied, 1.5), (self.phase, 1), (self.reduced, 1)] * self.modern
                choices += [(self.fragment, 1), (self.product, 1.5)] * self.modern
                choices += [(self.tile, 2)] * (self.hopper and len(self.maps) < 3)
                choices += [(self.warpgroup, 2)] * (self.hopper and not self.wide)
            if self.early and self.uniform and not self.loops:
                choices += [(self.leave, 1)]
        else:
            choices = [c for c in choices if c[0] != self.output] + [(self.give_back, 1.5)]
        weights = [w for _, w in choices]
        (chosen,) = self.rng.choices([c for c, _ in choices], weights)
        if chosen in (self.branch, self.counted_loop, self.while_loop, self.sequence_loop):
            chosen(room - 1)
        else:
            chosen()

    def target(self, kind: str) -> str:
        """A name to assign to: often a new one, else one that may change its kind."""
        old = [n for n in {**self.scope.sure, **self.scope.maybe} if n not in self.fixed]
        same = [n for n in old if {**self.scope.maybe, **self.scope.sure}[n] == kind]
        if self.loops and not self.chance(0.05):
            old = same
        if old and self.chance(0.55):
            return self.pick(same if same and self.chance(0.75) else old)
        return self.fresh("v")

    def assigned(self, name: str, kind: str) -> None:
        self.scope.sure[name] = kind
        self.scope.maybe.pop(name, None)

    def assign(self) -> None:
        kind = self.pick("iiffb")
        value = self.expression(kind, 3)
        name = self.target(kind)
        self.line(f"{name} = {value}")
        self.assigned(name, kind)

    def augment(self) -> None:
        names = [n for n, k in self.scope.sure.items() if n not in self.fixed and k in "if"]
        if not names:
            return self.assign()
        name = self.pick(names)
        kind = self.scope.sure[name]
        if kind == "i":
            op = self.pick(("+", "-", "*", "//", "%", "&", "|", "^"))
            self.line(f"{name} {op}= {self.integer(2)}")
        else:
            op = self.pick(("+", "-", "*", "/"))
            self.line(f"{name} {op}= {self.expression(self.pick('ffi'), 2)}")

    def output(self) -> None:
        kind = self.pick(OUTPUTS)
        if self.slots[kind] >= SLOTS or self.in_function:
            return
        slot = self.slots[kind]
        self.slots[kind] += 1
        value = self.expression(
            "f"
            if kind[0] == "f" and self.chance(0.8)
            else self.pick("iib" if kind[0] in "iu" else "ifb"),
            3,
        )
        self.line(f"out_{kind}[i, {slot}] = {value}")

    def branch(self, room: int) -> None:
        before, uniform = self.scope, self.uniform
        self.uniform = False
        ways = []
        head = f"if {self.condition(2)}:"
        while True:
            self.scope = before.copy()
            with self.body(head):
                self.block_of(self.pick((1, 2, 3)), room)
            ways.append(self.scope)
            if self.chance(0.15) and len(ways) < 3:
                self.scope = before.copy()
                head = f"elif {self.condition(2)}:"
                continue
            break
        self.scope = before.copy()
        if self.chance(0.45):
            with self.body("else:"):
                self.block_of(self.pick((1, 2)), room)
        self.scope = after = self.scope
        for way in ways:
            after = join(after, way)
        self.scope, self.uniform = after, uniform

    @contextmanager
    def loop(self, head: str, sure: dict[str, str]):
        """A loop that may run no times: what it assigns is not sure afterwards."""
        before, uniform, fixed = self.scope, self.uniform, self.fixed
        self.uniform, self.fixed = False, self.fixed | set(sure)
        self.scope = before.copy()
        self.scope.sure.update(sure)
        for name in sure:
            self.scope.maybe.pop(name, None)
        self.loops += 1
        with self.body(head):
            yield
        self.loops -= 1
        inside, self.scope = self.scope, before
        for name, kind in {**inside.maybe, **inside.sure}.items():
            if name in before.sure:
                before.sure[name] = wider(before.sure[name], kind)
            else:
                before.maybe[name] = kind
        if self.chance(0.12):
            self.scope = before.copy()
            with self.body("else:"):
                self.block_of(1, 0)
            for name, kind in self.scope.sure.items():
                if name not in before.sure:
                    before.maybe[name] = kind
            self.scope = before
            before.ended = False
        self.uniform, self.fixed = uniform, fixed

    def counted_loop(self, room: int) -> None:
        name = self.fresh("k")
        small = lambda: self.pick((str(self.pick(SMALL)), f"{self.integer(1)} % 6", "SIX"))  # noqa: E731
        form = self.rng.random()
        if form < 0.6:
            head = f"range({small()})"
        elif form < 0.7:
            head = f"range({self.pick(('uint32', 'int32', 'uint64', 'int64'))}({small()}))"
        elif form < 0.85:
            head = f"range({small()}, {small()})"
        else:
            head = f"range({small()}, {small()}, {self.pick((1, 2, 3, -1, -2))})"
        with self.loop(f"for {name} in {head}:", {name: "i"}):
            self.block_of(self.pick((1, 2, 3)), room)

    def sequence_loop(self, room: int) -> None:
        name = self.fresh("x")
        if self.in_function or self.chance(0.5):
            kind = self.pick("if")
            cast = self.pick(("int64", "int32") if kind == "i" else ("float64", "float32"))
            items = [self.expression(kind, 1) for _ in range(self.pick((2, 3)))]
            if self.chance(0.9):
                items = [f"{cast}({x})" for x in items]
            what = f"({', '.join(items)})"
        else:
            array = self.pick([a for a, k in self.arrays.items()])
            what, kind = (
                f"{array}[:{self.pick((2, 4, 6))}]",
                self.arrays[array][0].replace("u", "i"),
            )
        with self.loop(f"for {name} in {what}:", {name: kind}):
            self.block_of(self.pick((1, 2)), room)

    def while_loop(self, room: int) -> None:
        name = self.fresh("w")
        self.line(f"{name} = {self.integer(1)} % 7")
        self.assigned(name, "i")
        extra = f" {self.pick(('and', 'or'))} {self.condition(1)}" if self.chance(0.2) else ""
        if extra.startswith(" or"):
            extra = ""
        with self.loop(f"while {name} > 0{extra}:", {name: "i"}):
            self.line(f"{name} -= {self.pick((1, 1, 2))}")
            self.block_of(self.pick((1, 2, 3)), room)

    def jump(self) -> None:
        if self.chance(0.8):
            with self.body(f"if {self.condition(1)}:"):
                self.line(self.pick(("break", "continue")))
        else:
            self.line(self.pick(("break", "continue")))
            self.scope.ended = True

    def leave(self) -> None:
        with self.body(f"if i >= {self.pick((20, 50, 70))}:"):
            self.line("return")

    def give_back(self) -> None:
        kind = self.functions_kind
        if self.chance(0.8):
            with self.body(f"if {self.condition(1)}:"):
                self.line(f"return {self.expression(kind, 2)}")

    def local_array(self) -> None:
        name, kind = self.fresh("loc"), self.pick(TYPES)
        self.line(f"{name} = cuda.local.array(4, {self.type_name(kind)})")
        k = self.fresh("k")
        with self.body(f"for {k} in range(4):"):
            self.scope.sure[k] = "i"
            self.line(f"{name}[{k}] = {self.expression(self.kind_of(kind), 2)}")
            del self.scope.sure[k]
        if self.chance(0.5):
            self.line(f"{name}[{self.integer(1)} & 3] = {self.expression(self.kind_of(kind), 2)}")
        v = self.fresh("v")
        self.line(f"{v} = {name}[{self.pick(('1', '-1', f'{self.integer(1)} & 3'))}]")
        self.assigned(v, self.kind_of(kind))

    def view(self) -> None:
        v = self.fresh("v")
        if self.matrix and self.chance(0.5):
            row = self.fresh("row")
            self.line(f"{row} = {self.matrix}[{self.integer(1)} % 7]")
            self.line(f"{v} = {row}[{self.pick(('0', '-1', f'{self.integer(1)} % 9'))}]")
            self.assigned(v, self.kind_of(self.matrix[2:]))
            return
        array = self.pick(self.arrays)
        part = self.fresh("part")
        cut = self.pick(("1:", "2:6", ":-1", "-3:", "::2", "1::3", "-5:-2"))
        self.line(f"{part} = {array}[{cut}]")
        index = self.pick(("0", "-1", f"{self.integer(1)} % {part}.size"))
        self.line(f"{v} = {part}[{index}]")
        self.assigned(v, self.kind_of(self.arrays[array]))

    def pair(self) -> None:
        name, kind = self.fresh("p"), self.pick("iif")
        self.line(f"{name} = ({self.expression(kind, 2)}, {self.expression(kind, 2)})")
        a, b = self.target(kind), self.target(kind)
        if self.chance(0.5):
            if a == b:
                b = self.fresh("v")
            self.line(f"{a}, {b} = {name}")
            self.assigned(b, kind)
        else:
            self.line(f"{a} = {name}[{self.pick(('0', '1', '-1'))}]")
        self.assigned(a, kind)

    def triple(self) -> None:
        """A tuple inside a tuple, compared, measured or taken apart."""
        name, v = self.fresh("q"), self.fresh("v")
        a, b, c = (f"int64({self.integer(1)})" for _ in range(3))
        self.line(f"{name} = ({a}, ({b}, {self.real(1)}), {c})")
        form = self.pick(
            (
                (f"{name}[1][0] + {name}[-1]", "i"),
                (f"{name}[1][1] * 2.0", "f"),
                (f"({name}[0], {name}[2]) < ({self.integer(1)}, 3)", "b"),
                (f"len({name}) + len({name}[1])", "i"),
                (f"{self.integer(1)} in ({name}[0], {name}[2])", "b"),
                (f"({name} + ({c}, 5))[3]", "i"),
            )
        )
        self.line(f"{v} = {form[0]}")
        self.assigned(v, form[1])

    def vector(self) -> None:
        """A vector of two to four numbers, made anew on a branch now and then; one part of it."""
        name, v = self.fresh("vec"), self.fresh("v")
        kind, count = self.pick("iff"), self.pick((2, 3, 4))
        title = f"cuda.{self.pick(('int32', 'int64') if kind == 'i' else ('float32', 'float64'))}"

        def made() -> str:
            if count == 4 and self.chance(0.3):
                a, b = (", ".join(self.plain(kind) for _ in range(2)) for _ in range(2))
                return f"{title}x4({title}x2({a}), {title}x2({b}))"
            return f"{title}x{count}({', '.join(self.plain(kind) for _ in range(count))})"

        self.line(f"{name} = {made()}")
        if self.chance(0.4):
            with self.body(f"if {self.condition(1)}:"):
                self.line(f"{name} = {made()}")
        self.line(f"{v} = {name}.{self.pick('xyzw'[:count])}")
        self.assigned(v, kind)

    def plain(self, kind: str) -> str:
        """A number for a vector, which clamps none."""
        return f"int32({self.integer(1)})" if kind == "i" else f"float32({self.real(1)})"

    def record(self) -> None:
        """Fields of records: read, changed in local memory, or put out."""
        n, v = int(self.records.partition("_")[2]), self.fresh("v")
        field = self.pick(FIELDS)
        where = f"{self.integer(1)} % {n}"
        form = self.rng.random()
        if form < 0.4:
            self.line(f"{v} = {self.records}[{where}].{field}")
        elif form < 0.6:
            one = self.fresh("one")
            self.line(f"{one} = {self.records}[{where}]")
            self.line(f'{v} = {one}["{field}"]')
        elif form < 0.8:
            mine = self.fresh("mine")
            self.line(f"{mine} = cuda.local.array(2, PARTICLE)")
            self.line(f"{mine}[0].{field} = {self.expression(FIELDS[field], 1)}")
            self.line(f"{mine}[1].{field} = {self.records}[{where}].{field}")
            self.line(f"{v} = {mine}[{self.integer(1)} & 1].{field}")
        else:
            self.left = 1
            self.line(f"left_0[i].{field} = {self.expression(FIELDS[field], 2)}")
            return
        self.assigned(v, FIELDS[field])

    def complex_number(self, room: int) -> str:
        n = int(self.complex.partition("_")[2])
        if room <= 0 or self.chance(0.3):
            return f"{self.complex}[{self.integer(1)} % {n}]"
        a = self.complex_number(room - 1)
        if self.chance(0.4):
            return f"({a} {self.pick('+-*')} {self.complex_number(room - 1)})"
        if self.chance(0.2):
            return f"({a} * complex({self.pick((0.5, 1.5, -2.0))}, {self.pick((0.25, -1.0))}))"
        return f"{self.pick(OF_COMPLEX)}({a})"

    def complex_output(self) -> None:
        kind = self.pick(COMPLEX)
        if self.slots[kind] >= SLOTS:
            return
        slot = self.slots[kind]
        self.slots[kind] += 1
        self.line(f"out_{kind}[i, {slot}] = {self.complex_number(2)}")

    def nested(self) -> None:
        """A function, or a lambda, inside the kernel."""
        name, kind = self.fresh("inner"), self.pick("if")
        parameters = {f"{name}_{p}": self.pick("if") for p in "ab"[: self.pick((1, 2))]}
        outside = self.scope, self.arrays, self.matrix, self.scalars
        around = {"i": "i", "t": "i"} if self.chance(0.5) else {}
        self.scope = Scope(parameters | around)
        self.arrays, self.matrix, self.scalars = {}, "", []
        self.in_function = True
        result, given = self.expression(kind, 2), ", ".join(parameters)
        if self.chance(0.5):
            self.line(f"{name} = lambda {given}: {result}")
        else:
            with self.body(f"def {name}({given}):"):
                self.line(f"return {result}")
        self.in_function = False
        self.scope, self.arrays, self.matrix, self.scalars = outside
        self.functions.append((name, "".join(parameters.values()), kind))

    def copied(self) -> None:
        """Numbers that go to shared memory asynchronously, in one group or two."""
        here = [a for a, k in self.arrays.items() if k in ("f4", "i4", "u4")]
        if not here:
            return self.phase()
        n, v, waiting = self.block_threads, self.fresh("v"), []
        for _ in range(self.pick((1, 2))):
            array, name = self.pick(here), self.fresh("sh")
            length, kind = int(array.partition("_")[2]), self.arrays[array]
            wide = self.pick((1, 1, 2, 4))  # elements that a thread copies
            size = 4 * wide
            read = self.pick((size, size, f"{size} if {self.condition(1)} else 0", 4))
            self.line(
                f"{name} = cuda.shared.array({wide * n}, {self.type_name(kind)}, alignment=16)"
            )
            self.line(
                f"ptx.cp_async_{size}(ptx.shared_address({name}) + uint32({size} * t), "
                f"ptx.global_address({array}) + "
                f"uint64({size} * ({self.integer(1)} % {length // wide})), uint32({read}))"
            )
            self.line("ptx.cp_async_commit_group()")
            waiting.append((name, kind, wide))
        if len(waiting) == 2:  # the first is there; of the others' numbers nobody knows
            name, kind, wide = waiting[0]
            self.line("ptx.cp_async_wait_group(1)")
            own = self.fresh("v")
            self.line(f"{own} = {name}[{wide} * t + {wide - 1}]")
            self.assigned(own, self.kind_of(kind))
        self.line("ptx.cp_async_wait_group(0)")
        self.line("cuda.syncthreads()")
        name, kind, wide = waiting[-1]
        self.line(f"{v} = {name}[({wide} * t + {self.pick((1, 5, 33))}) % {wide * n}]")
        self.assigned(v, self.kind_of(kind))

    def phase(self) -> None:
        """An exchange at an mbarrier, or at a named barrier."""
        n, kind = self.block_threads, self.pick(TYPES)
        name, bar = self.fresh("sh"), self.fresh("bar")
        named = n % WARP == 0 and self.chance(0.4)
        self.line(f"{name} = cuda.shared.array({n}, {self.type_name(kind)})")
        if not named:
            self.line(f"{bar} = cuda.shared.array(1, uint64)")
            with self.body("if t == 0:"):
                self.line(f"ptx.mbarrier_init(ptx.shared_address({bar}), uint32({n}))")
                self.line("ptx.fence_mbarrier_init()")
            self.line("cuda.syncthreads()")
        times = 1 if named else self.pick((1, 1, 2, 3))
        for phase in range(times):
            self.line(f"{name}[t] = {self.expression(self.kind_of(kind), 2)}")
            if named:
                self.line(f"ptx.bar_sync(uint32({self.pick((1, 7))}), uint32({n}))")
            else:
                self.line(f"ptx.mbarrier_arrive(ptx.shared_address({bar}))")
                self.line(
                    f"ptx.mbarrier_wait_parity(ptx.shared_address({bar}), uint32({phase % 2}))"
                )
            v = self.fresh("v")
            self.line(f"{v} = {name}[{self.pick((f'(t + 7) % {n}', f'{n - 1} - t'))}]")
            self.assigned(v, self.kind_of(kind))
            if phase < times - 1:
                self.line("cuda.syncthreads()")

    def fragment(self) -> None:
        """Small matrices from shared memory to the registers of a warp, some of them back again."""
        if self.block_threads % WARP:
            return self.phase()
        n, name, v = self.block_threads, self.fresh("sh"), self.fresh("v")
        self.line(f"{name} = cuda.shared.array({8 * n}, uint16, alignment=16)")
        k = self.fresh("k")
        with self.body(f"for {k} in range(8):"):
            self.scope.sure[k] = "i"
            self.line(f"{name}[t + {n} * {k}] = uint16({self.integer(1)})")
            del self.scope.sure[k]
        self.line("cuda.syncthreads()")
        blocks, turned = self.pick((1, 2, 4)), self.pick(("", "_trans"))
        parts = [self.fresh("r") for _ in range(blocks)]
        row = f"ptx.shared_address({name}) + uint32(16 * {self.pick(('t', f'({n - 1} - t)'))})"
        self.line(f"{', '.join(parts)} = ptx.ldmatrix_x{blocks}{turned}({row})")
        for part in parts:  # as int64: beside one, a uint32 shifted or divided is a float64
            whole = self.fresh("v")
            self.line(f"{whole} = int64({part})")
            self.assigned(whole, "i")
        if self.chance(0.4):
            self.line("cuda.syncthreads()")
            turned = self.pick(("", "_trans"))
            row = f"ptx.shared_address({name}) + uint32(16 * t)"
            self.line(f"ptx.stmatrix_x{blocks}{turned}({row}, {', '.join(parts)})")
        self.line("cuda.syncthreads()")
        self.line(f"{v} = {name}[({self.integer(1)}) % {8 * n}]")
        self.assigned(v, "i")

    def product(self) -> None:
        """A product of a warp's tensor core, of small whole numbers: each sum is exact."""
        if self.block_threads % WARP:
            return self.phase()
        n, a, b, acc = self.block_threads, self.fresh("a"), self.fresh("b"), self.fresh("acc")
        dtype = self.pick([d for d in FORMATS if d != "e4m3"])
        k = self.formats.setdefault(dtype, self.pick((4, 8) if dtype == "tf32" else (8, 16)))
        left = k // 2 if dtype == "tf32" else k // 4  # registers of A; B has half of them
        table, right = dtype.upper(), left // 2
        self.line(f"{acc} = cuda.local.array(4, float32)")
        self.line(f"{a} = cuda.local.array({left}, uint32)")
        self.line(f"{b} = cuda.local.array({right}, uint32)")
        for part in range(4):
            self.line(f"{acc}[{part}] = float32({self.integer(1)} % 9)")
        if dtype == "tf32":
            for name, count in ((a, left), (b, right)):
                for part in range(count):
                    self.line(f"{name}[{part}] = {table}[{self.integer(1)} & 7]")
        else:
            name, at = self.fresh("sh"), self.fresh("k")
            self.line(f"{name} = cuda.shared.array({24 * k}, uint16, alignment=16)")
            with self.body(f"for {at} in range(t, {24 * k}, {n}):"):
                self.scope.sure[at] = "i"
                self.line(f"{name}[{at}] = {table}[{self.integer(2)} & 7]")
                del self.scope.sure[at]
            self.line("cuda.syncthreads()")
            for what, count, rows, first in ((a, left, 16, 0), (b, right, 8, 16 * k)):
                where = f"t % {rows} * {k} + t // {rows} * 8 % {k}"
                self.line(
                    f"{', '.join(f'{what}[{x}]' for x in range(count))} = ptx.ldmatrix_x{count}("
                    f"ptx.shared_address({name}) + uint32(2 * ({first} + {where})))"
                )
            self.line("cuda.syncthreads()")
        for _ in range(self.pick((1, 1, 2))):
            self.line(f"MMA_{table}({acc}, {a}, {b})")
        for part in self.rng.sample(range(4), self.pick((1, 2))):
            v = self.fresh("v")
            self.line(f"{v} = {acc}[{part}]")
            self.assigned(v, "f")

    def tile(self) -> None:
        """A box of a matrix that TMA loads, one of its elements, and perhaps a box that it stores.

        Boxes may lie partly or wholly outside, and begin at a multiple of 16 bytes of their row;
        those that are stored begin at no negative index.
        """
        name, bar, v, n = self.fresh("box"), self.fresh("bar"), self.fresh("v"), self.block_threads
        kind = self.pick(MAPS)
        size, rows = np.dtype(TYPES[kind]).itemsize, self.pick((1, 3, 8, 16))
        columns, step = 128 // size, 16 // size
        of = (self.pick((5, 17, 40)), 16 // size * self.pick((1, 3, 9)))
        of = (*((self.pick((1, 3)),) if self.chance(0.3) else ()), *of)
        self.maps.append(f"map_{kind}_{'x'.join(map(str, of))}_{rows}x{columns}_{self.counter}")
        at = [f"int32(({self.integer(1)} % {of[-1] // step + 3} - 2) * {step})"]
        at += [f"int32({self.integer(1)} % {of[-2] + 8} - 4)"]
        at += [f"int32({self.integer(1)} % {of[0]})"] * (len(of) - 2)
        count, there = rows * columns, f"ptx.shared_address({name})"
        self.line(f"{name} = cuda.shared.array({count}, {self.type_name(kind)}, alignment=1024)")
        self.line(f"{bar} = cuda.shared.array(1, uint64)")
        with self.body("if t == 0:"):
            self.line(f"ptx.mbarrier_init(ptx.shared_address({bar}), uint32(1))")
            self.line("ptx.fence_mbarrier_init()")
        self.line("cuda.syncthreads()")
        with self.body("if t == 0:"):
            self.line(
                f"ptx.mbarrier_arrive_expect_tx(ptx.shared_address({bar}), uint32({count * size}))"
            )
            self.line(
                f"ptx.cp_async_bulk_tensor_{len(of)}d_load({there}, {self.maps[-1]}, "
                f"{', '.join(at)}, ptx.shared_address({bar}))"
            )
        self.line(f"ptx.mbarrier_wait_parity(ptx.shared_address({bar}), uint32(0))")
        self.line(f"{v} = {name}[({self.integer(1)}) % {count}]")
        self.assigned(v, self.kind_of(kind))
        if self.chance(0.5):
            return
        k, blocks = self.fresh("k"), self.threads // n
        self.maps.append(f"mapout_{kind}_{rows * blocks}x{columns}_{rows}x{columns}_{self.counter}")
        self.line("cuda.syncthreads()")
        with self.body(f"for {k} in range(t, {count}, {n}):"):
            self.scope.sure[k] = "i"
            self.line(f"{name}[{k}] = {self.expression(self.kind_of(kind), 2)}")
            del self.scope.sure[k]
        self.line("ptx.fence_proxy_async()")
        self.line("cuda.syncthreads()")
        with self.body("if t == 0:"):
            x, y = self.pick((0, 0, step, columns)), f"i // {n} * {rows}"
            to = f"{self.maps[-1]}, int32({x}), int32({y})"
            self.line(f"ptx.cp_async_bulk_tensor_2d_store({to}, {there})")
            self.line("ptx.cp_async_bulk_commit_group()")
            self.line("ptx.cp_async_bulk_wait_group(0)")

    def warpgroup(self) -> None:
        """Products of a warpgroup, of small whole numbers, in one group or two with sums each."""
        dtype, columns = self.pick(BYTES), self.pick((8, 16, 24, 32, 64))
        size, table, number = BYTES[dtype], dtype.upper(), len(self.wide)
        from_registers = self.chance(0.3)
        down_A, rows_B = (size == 2 and self.chance(0.5) for _ in range(2))
        down_A = down_A and not from_registers
        options = f", transposed_B={rows_B}, transposed_A={down_A}"
        options = f"a_in={'registers' if from_registers else 'shared'!r}" + options
        self.wide.append((dtype, f'{columns}, "{dtype}", {options}'))
        name, at = self.fresh("sh"), self.fresh("k")
        start_B = 0 if from_registers else 8192
        count = (start_B + (8192 if rows_B else 128 * columns)) // size
        self.line(f"{name} = cuda.shared.array({count}, uint{8 * size}, alignment=1024)")
        with self.body(f"for {at} in range(t, {count}, {self.block_threads}):"):
            self.scope.sure[at] = "i"
            self.line(f"{name}[{at}] = {table}[{self.integer(2)} & 7]")
            del self.scope.sure[at]
        steps, groups = self.pick((1, 1, 2, 4)), self.pick((1, 1, 2))
        sums = [self.fresh("acc") for _ in range(groups)]
        fragments = [self.fresh("a") for _ in range(steps)] if from_registers else []
        for acc in sums:
            self.line(f"{acc} = cuda.local.array({columns // 2}, float32)")
            for part in range(columns // 2):
                self.line(f"{acc}[{part}] = float32({self.pick((0, 1, 't % 5', -3))})")
        ones = sum(256 ** (size * k) for k in range(4 // size))  # a number as often as it fits
        for a in fragments:
            self.line(f"{a} = cuda.local.array(4, uint32)")
            for part in range(4):
                word = f"uint32({table}[{self.integer(1)} & 7])"
                self.line(f"{a}[{part}] = uint32({word} * {ones})")
        self.line("ptx.fence_proxy_async()")
        self.line("cuda.syncthreads()")
        self.line("ptx.wgmma_fence()")
        here = f"ptx.shared_address({name})"
        for acc in sums:
            for step in range(steps):
                a = f"{here} + uint32({(2048 if down_A else 32) * step})"
                b = f"{here} + uint32({start_B + (2048 if rows_B else 32) * step})"
                a = f"ptx.matrix_descriptor({a}, uint32({8192 if down_A else 16}))"
                b = f"ptx.matrix_descriptor({b}, uint32({8192 if rows_B else 16}))"
                a = fragments[step] if fragments else a
                add = self.pick((1, 1, 0)) if step == 0 else 1
                self.line(f"WGMMA_{number}({acc}, {a}, {b}, int32({add}))")
            self.line("ptx.wgmma_commit_group()")
        for k, acc in enumerate(sums):
            self.line(f"ptx.wgmma_wait_group({groups - 1 - k}, {acc}, {columns // 2})")
            v = self.fresh("v")
            self.line(f"{v} = {acc}[{self.rng.randrange(columns // 2)}]")
            self.assigned(v, "f")

    def reduced(self) -> None:
        """A sum, a minimum or a maximum of a warp."""
        if self.block_threads % WARP:
            return self.phase()
        v, op = self.fresh("v"), self.pick(("add", "min", "max"))
        self.line(f"{v} = ptx.redux_sync_{op}(uint32(0xFFFFFFFF), int32({self.integer(2)}))")
        self.assigned(v, "i")

    def atomic(self) -> None:
        total = self.pick(self.shared_totals)
        kind = total[4:]
        if kind[0] == "f":
            op, value = "add", f"{kind and self.type_name(kind)}({self.integer(1)} % 8)"
        else:
            ops = ("add", "sub", "max", "min", "and_", "or_", "xor")
            op, value = self.atomic_op(total, ops), self.integer(2)
        self.line(f"cuda.atomic.{op}({total}, {self.integer(1)} % 8, {value})")

    def atomic_op(self, total: str, ops) -> str:
        """One operation for each array, so that the order of threads does not matter."""
        return random.Random(f"{self.seed}{total}").choice([o for o in ops])

    def exchange(self) -> None:
        name, kind, v = self.fresh("sh"), self.pick(TYPES), self.fresh("v")
        n = self.block_threads
        self.line(f"{name} = cuda.shared.array({n}, {self.type_name(kind)})")
        self.line(f"{name}[t] = {self.expression(self.kind_of(kind), 2)}")
        self.line("cuda.syncthreads()")
        where = self.pick(
            (
                f"(t + {self.pick((1, 5, 33))}) % {n}",
                f"{n - 1} - t",
                "-1 - t",
                f"{self.integer(1)} % {n}",
            )
        )
        self.line(f"{v} = {name}[{where}]")
        self.assigned(v, self.kind_of(kind))

    def warp(self) -> None:
        v = self.fresh("v")
        full = "0xFFFFFFFF"
        if self.block_threads % 32:
            return self.exchange()
        kind = self.pick("iif")
        value = self.expression(kind, 1)
        value = (
            f"{self.pick(('int32', 'int64') if kind == 'i' else ('float32', 'float64'))}({value})"
        )
        call = self.pick((
            f"cuda.shfl_xor_sync({full}, {value}, {self.pick((1, 2, 16))})",
            f"cuda.shfl_down_sync({full}, {value}, {self.pick((1, 4))})",
            f"cuda.shfl_up_sync({full}, {value}, {self.pick((1, 8))})",
            f"cuda.shfl_sync({full}, {value}, {self.pick((0, 31, 't % 32'))})",
            f"cuda.ballot_sync({full}, {self.condition(1)})",
            f"cuda.any_sync({full}, {self.condition(1)})",
            f"cuda.all_sync({full}, {self.condition(1)})",
            f"cuda.syncthreads_count(int32({self.condition(1)}))",
        ))  # fmt: skip
        self.line(f"{v} = {call}")
        self.assigned(v, kind if "shfl" in call else "b" if "_sync" in call[:13] else "i")

    def function(self) -> None:
        """A device function, with returns here and there."""
        name, kind = self.fresh("device"), self.pick("if")
        parameters = {f"{name}_{p}": self.pick("if") for p in "abc"[: self.pick((1, 2, 3))]}
        self.in_function, self.functions_kind = True, kind
        self.arrays, self.matrix, self.scalars = {}, "", []
        self.scope = Scope(dict(parameters))
        self.line("@cuda.jit(device=True)")
        with self.body(f"def {name}({', '.join(parameters)}):"):
            self.block_of(self.pick((1, 2, 4)), 2)
            self.scope.ended = False
            self.line(f"return {self.expression(self.pick(kind * 3 + 'i'), 2)}")
        self.lines += ["", ""]
        self.functions.append((name, "".join(parameters.values()), kind))
        self.in_function, self.scope = False, Scope()

    def recursion(self) -> None:
        """A device function that calls itself, with the types that it was called with."""
        name, kind = self.fresh("again"), self.pick("if")
        self.in_function, self.functions_kind = True, kind
        self.arrays, self.matrix, self.scalars = {}, "", []
        self.scope = Scope({f"{name}_n": "i", f"{name}_x": kind})
        cast = "int64" if kind == "i" else "float64"
        self.line("@cuda.jit(device=True)")
        with self.body(f"def {name}({name}_n, {name}_x):"):
            with self.body(f"if {name}_n < 1:"):
                self.line(f"return {self.expression(kind, 2)}")
            self.fixed.add(f"{name}_n")
            self.block_of(self.pick((0, 1)), 1)
            self.scope.ended = False
            deeper = f"{name}({name}_n - 1, {cast}({self.expression(kind, 1)}))"
            self.line(f"return {deeper} {self.pick('+-*')} {self.expression(kind, 1)}")
        self.lines += ["", ""]
        self.functions.append((name, f"n{kind}", kind))
        self.in_function, self.scope = False, Scope()

    # -- expressions

    def kind_of(self, dtype: str) -> str:
        return dtype[0].replace("u", "i")

    def type_name(self, dtype: str) -> str:
        return "np.bool_" if dtype == "b1" else np.dtype(TYPES[dtype]).name

    def expression(self, kind: str, room: int) -> str:
        return {"i": self.integer, "f": self.real, "b": self.condition}[kind](room)

    def variable(self, kind: str) -> str | None:
        names = [n for n, k in self.scope.sure.items() if k == kind]
        if self.sloppy and self.chance(0.12):
            names = [n for n, k in self.scope.maybe.items() if k == kind] or names
        return self.pick(names) if names else None

    def element(self, kind: str) -> str | None:
        """An element of an array, or a scalar argument."""
        here = [a for a, k in self.arrays.items() if self.kind_of(k) == kind]
        scalars = [s for s in self.scalars if self.kind_of(s[7:].removeprefix("py")) == kind]
        choices = [*here, *here, *scalars]
        if self.matrix and self.kind_of(self.matrix[2:]) == kind:
            choices += [self.matrix]
        if self.tuple and not self.in_function and kind in "if":
            choices += [f"{self.tuple}[{'if'.index(kind)}]"]
        if not choices:
            return None
        name = self.pick(choices)
        if name in self.scalars or name.startswith("pair"):
            return name
        if name == self.matrix:
            return f"{name}[{self.integer(1)} % 7, {self.integer(1)} % 9]"
        return f"{name}[{self.index(name)}]"

    def index(self, array: str) -> str:
        n = int(array.partition("_")[2])
        form = self.rng.random()
        if form < 0.4:
            return f"{self.pick(('i', 't', 'i'))} % {self.pick((str(n), f'{array}.size'))}"
        if form < 0.7:
            return (
                f"{self.integer(1)} % {self.pick((str(n), f'len({array})', f'{array}.shape[0]'))}"
            )
        if form < 0.8:
            return f"-1 - {self.integer(0)} % {n}"
        return str(self.rng.randrange(-n, n))

    def integer(self, room: int) -> str:
        if room <= 0 or self.chance(0.2):
            leaf = self.rng.random()
            found = None
            if leaf < 0.5:
                found = self.variable("i")
            elif leaf < 0.7:
                found = self.element("i") if room > 0 else None
            elif leaf < 0.75 and not self.in_function:
                found = self.pick(("TABLE[3]", "PAIR[1]", "SIX", "cuda.blockDim.x", "cuda.laneid"))
            return found or str(self.pick(INTEGERS if self.chance(0.4) else SMALL))
        room -= 1
        a = lambda: self.integer(room)  # noqa: E731
        match self.rng.randrange(17):
            case 0 | 1 | 2:
                return f"({a()} {self.pick('+-*')} {self.moving()})"
            case 3 | 4:
                return f"({a()} {self.pick(('//', '%'))} {a()})"
            case 5:
                return f"({a()} {self.pick('&|^')} {a()})"
            case 6:
                amount = self.pick(("3", "1", f"({a()} & 31)"))
                return f"({self.moving()} {self.pick(('<<', '>>'))} {amount})"
            case 7:
                return f"({self.moving()} ** {self.pick(('2', '3', f'({a()} & 3)'))})"
            case 8:
                return f"{self.pick(('-', '~', '+'))}{self.bracketed(a())}"
            case 9:
                return f"abs({a()})"
            case 10:
                items = ", ".join(a() for _ in range(self.pick((2, 2, 3))))
                return f"{self.pick(('min', 'max'))}({items})"
            case 11 | 12:
                name = self.pick([k for k in TYPES if k[0] in "iu"])
                inner = self.holdable(room, name) if self.chance(0.3) else a()
                return f"{self.type_name(name)}({inner})"
            case 13:
                return f"({a()} if {self.condition(room)} else {a()})"
            case 14:
                return self.pick(
                    (
                        f"int({self.holdable(room)})",
                        f"int({self.condition(room)})",
                        f"round({self.holdable(room)})",
                    )
                )
            case 15:
                return self.bits(room)
            case _:
                return self.call("i", room) or f"({self.condition(room)} + {a()})"

    def holdable(self, room: int, kind: str = "i8") -> str:
        """A float to make an integer of.

        Where it lies beyond the integer's range, LLVM leaves the result undefined, and the GPU
        clamps, to 16 bits at least. So only an element of an array may, of which the compiler knows
        nothing.
        """
        found = self.element("f") if kind[1] != "1" and self.chance(0.5) else None
        return found or f"min(max({self.real(room)}, {'0.0' if kind[0] == 'u' else '-99.5'}), 99.5)"

    def moving(self) -> str:
        """An integer that is seldom a constant: constants overflow in the compiler."""
        return str(self.pick(SMALL)) if self.chance(0.1) else self.variable("i") or "PAIR[0]"

    def bracketed(self, text: str) -> str:
        return text if text.isidentifier() else f"({text})"

    def bits(self, room: int) -> str:
        if self.modern and self.chance(0.3):
            a, b, c = (f"int32({self.integer(room)})" for _ in range(3))
            return f"ptx.dp4a({a}, {b}, {c})"
        name = self.pick(("popc", "clz", "brev", "ffs"))
        kind = self.pick(("i4", "i8", "u4", "u8"))
        return f"cuda.{name}({self.type_name(kind)}({self.integer(room)}))"

    def real(self, room: int) -> str:
        if room <= 0 or self.chance(0.2):
            leaf = self.rng.random()
            found = None
            if leaf < 0.45:
                found = self.variable("f")
            elif leaf < 0.75:
                found = self.element("f") if room > 0 else None
            elif leaf < 0.8 and not self.in_function:
                found = self.pick(("WEIGHTS[2]", "HALF", "math.pi"))
            return found or self.pick(FLOATS)
        room -= 1
        a = lambda: self.real(room)  # noqa: E731
        match self.rng.randrange(14):
            case 0 | 1 | 2:
                return f"({a()} {self.pick('+-*/')} {a()})"
            case 3:
                return f"({a()} {self.pick('+-*/')} {self.integer(room)})"
            case 4:
                return f"({self.integer(room)} / {self.integer(room)})"
            case 5:
                # Other divisors round: NVVM makes a quotient, a product and a difference of them.
                return f"({a()} {self.pick(('//', '%'))} {self.pick(('0.5', '2.0', '-4.0'))})"
            case 6:
                return f"({a()} ** {self.pick((2, 3))})"
            case 7:
                return f"{self.pick(('-', '+'))}{self.bracketed(a())}"
            case 8:
                return f"{self.pick(('min', 'max'))}({a()}, {a()})"
            case 9:
                return f"{self.pick(('abs', 'math.fabs'))}({a()})"
            case 10:
                name = self.pick(("float32", "float64", "float32", "float"))
                return f"{name}({self.pick((self.real, self.integer))(room)})"
            case 11:
                return f"({a()} if {self.condition(room)} else {a()})"
            case 12:
                return self.exact(room)
            case _:
                return self.call("f", room) or f"(float32({a()}) * float32({a()}))"

    def exact(self, room: int) -> str:
        """A function of `math` that rounds correctly."""
        yes = self.condition(room)
        return self.pick((
            f"math.sqrt(abs({self.real(room)}))",
            f"math.{self.pick(('floor', 'ceil', 'trunc'))}({self.real(room)})",
            f"math.copysign({self.real(room)}, {self.integer(room)})",
            f"math.fmod({self.real(room)}, {self.pick(('0.5', '2.0', '4.0'))})",
            f"cuda.fma(float32({self.real(room)}), float32({self.real(room)}), float32(0.5))",
            f"cuda.selp({yes}, float64({self.real(room)}), float64({self.real(room)}))",
        ))  # fmt: skip

    def condition(self, room: int) -> str:
        if room <= 0 or self.chance(0.15):
            found = self.variable("b") if self.chance(0.4) else None
            if not found and self.chance(0.3):
                found = self.element("b")
            v = self.variable("i") or "1"
            return found or f"({v} {self.pick(('<', '>=', '=='))} {self.pick(SMALL + (20, 35))})"
        room -= 1
        match self.rng.randrange(12):
            case 0 | 1 | 2:
                return f"({self.integer(room)} {self.comparison()} {self.integer(room)})"
            case 3 | 4:
                return f"({self.real(room)} {self.comparison()} {self.real(room)})"
            case 5:
                return f"({self.integer(room)} {self.comparison()} {self.real(room)})"
            case 6:
                return f"({self.condition(room)} {self.pick(('and', 'or'))} {self.condition(room)})"
            case 7:
                return f"(not {self.condition(room)})"
            case 8:
                a, b, c = (self.integer(room) for _ in range(3))
                return f"({a} {self.pick(('<', '<='))} {b} {self.pick(('<', '<=', '!='))} {c})"
            case 9:
                return f"math.{self.pick(('isnan', 'isinf', 'isfinite'))}({self.real(room)})"
            case 10:
                return (
                    f"(i % {self.pick((2, 3, 5, 32))} == {self.pick((0, 1))})"
                    if not (self.in_function)
                    else f"bool({self.integer(room)})"
                )
            case _:
                return f"({self.condition(room)} {self.pick('&|^')} {self.condition(room)})"

    def comparison(self) -> str:
        return self.pick(("<", "<=", ">", ">=", "==", "!="))

    def call(self, kind: str, room: int) -> str | None:
        """A call of a device function, if there is one."""
        here = [f for f in self.functions if f[2] == kind and not self.in_function]
        if not here:
            return None
        name, parameters, _ = self.pick(here)
        if parameters[0] == "n":
            cast = "int64" if kind == "i" else "float64"
            deep = self.pick((f"{self.integer(room)} % 5", self.pick(SMALL)))
            return f"{name}(int64({deep}), {cast}({self.expression(kind, room)}))"
        return f"{name}({', '.join(self.expression(k, room) for k in parameters)})"


def generate(seed: int) -> Program:
    """The program of a seed."""
    return Writer(seed).program()

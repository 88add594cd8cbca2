"""PTX without a GPU: what Numba compiled, executed thread by thread.

The text that NVVM emits is translated to Python, one generator a thread, which yields wherever it
waits for others. Integers are kept without a sign, floats as Python's (float32 rounded after each
operation). Only what the fuzzer's kernels compile to is known; the rest is an `Unknown`.

The meaning of each instruction is that of the PTX ISA's reference.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from fractions import Fraction

import numpy as np

WARP = 32
STEPS = 200_000  # instructions of a thread, after which it counts as endless
GLOBAL, LOCAL, SHARED = 1 << 40, 1 << 60, 1 << 59  # where the windows of the address space begin


class Unknown(Exception):
    """An instruction that is not known here."""


class Endless(Exception):
    """A thread that does not end."""


# ------------------------------------------------------------------------------- numbers
def signed(v: int, bits: int) -> int:
    """An unsigned pattern read as two's complement."""
    return v - (1 << bits) if v >> (bits - 1) else v


def f32(v: float) -> float:
    """Rounded to float32."""
    try:
        return struct.unpack("<f", struct.pack("<f", v))[0]
    except OverflowError:
        return math.copysign(math.inf, v)


def bits_of(v: float, bits: int) -> int:
    return int.from_bytes(struct.pack("<f" if bits == 32 else "<d", v), "little")


def float_of(v: int, bits: int) -> float:
    return struct.unpack("<f" if bits == 32 else "<d", v.to_bytes(bits // 8, "little"))[0]


def part_of(v: int | float, bits: int) -> int:
    """As many bits of a parameter as are loaded, of a float, too."""
    return bits_of(v, bits) if isinstance(v, float) else v & ((1 << bits) - 1)


def divide(a: float, b: float) -> float:
    if b == 0:
        return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1, b)
    return a / b


def divide_f32(a: float, b: float) -> float:
    return f32(divide(a, b))


def root(a: float) -> float:
    return math.sqrt(a) if a >= 0 or a != a else math.nan


def multiply_add(a: float, b: float, c: float, bits: int) -> float:
    """``a * b + c`` with one rounding."""
    if not all(map(math.isfinite, (a, b, c))):
        return a * b + c
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c
    if bits == 64:
        try:
            return float(exact)
        except OverflowError:
            return math.copysign(math.inf, exact)
    return to_f32_exactly(exact)


def to_f32_exactly(exact: Fraction) -> float:
    """A rational number rounded once to float32, to even."""
    try:
        near = float(exact)
    except OverflowError:
        return math.copysign(math.inf, exact)
    guess = f32(near)
    if math.isinf(guess) or Fraction(guess) == exact:
        return guess
    other = float(
        np.nextafter(np.float32(guess), np.float32(math.inf if exact > guess else -math.inf))
    )
    if math.isinf(other):
        return guess
    here, there = abs(Fraction(guess) - exact), abs(Fraction(other) - exact)
    if here == there:
        return min(guess, other, key=lambda v: bits_of(v, 32) & 1)
    return guess if here < there else other


def to_integer(v: float, bits: int, is_signed: bool, how: Callable, from_bits: int) -> int:
    """``cvt`` from a float: what does not fit is clamped; NaN is 0, or has the highest bit set."""
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)
    if v != v:
        return 0 if max(bits, from_bits) < 64 else 1 << bits - 1
    whole = (high if v > 0 else low) if math.isinf(v) else how(v)
    return min(max(whole, low), high) & ((1 << bits) - 1)


def least(a: float, b: float) -> float:
    """``min``: of a number and NaN the number, -0.0 below 0.0."""
    if a != a or b != b:
        return b if a != a else a
    if a == b == 0:
        return a if math.copysign(1, a) < 0 else b
    return min(a, b)


def greatest(a: float, b: float) -> float:
    return -least(-a, -b)


def quotient(a: int, b: int, bits: int, is_signed: bool) -> int:
    """Integer division towards zero; by zero all ones, as the hardware gives."""
    if is_signed:
        a, b = signed(a, bits), signed(b, bits)
    if b == 0:
        return (1 << bits) - 1
    q = abs(a) // abs(b)
    return (q if (a < 0) == (b < 0) else -q) & ((1 << bits) - 1)


def remainder(a: int, b: int, bits: int, is_signed: bool) -> int:
    if is_signed:
        a, b = signed(a, bits), signed(b, bits)
    if b == 0:
        return a & ((1 << bits) - 1)
    r = abs(a) % abs(b)
    return (-r if a < 0 else r) & ((1 << bits) - 1)


ROUND = {"rni": lambda v: round(v), "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}


def whole(v: float, how: str) -> float:
    """A float rounded to a whole number that keeps its sign."""
    if not math.isfinite(v):
        return v
    return math.copysign(float(ROUND[how](v)), v)


def from_integer(v: int, mode: str, bits: int) -> float:
    if bits == 64:
        return float(v)
    return to_f32_exactly(Fraction(v)) if v else 0.0


ORDERED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
UNSIGNED = {"lo": "<", "ls": "<=", "hi": ">", "hs": ">="}


# ------------------------------------------------------------------------------- memory
class Memory:
    """The address space of a thread: global arrays, its block's shared memory, its own."""

    def __init__(self, arrays: list[bytearray], shared: bytearray, local: bytearray):
        self.arrays, self.shared, self.local = arrays, shared, local

    def find(self, address: int, size: int) -> tuple[bytearray, int]:
        if address >= LOCAL:
            store, at = self.local, address - LOCAL
        elif address >= SHARED:
            store, at = self.shared, address - SHARED
        else:
            store, at = self.arrays[(address // GLOBAL) - 1], address % GLOBAL
        if not 0 <= at <= len(store) - size:
            raise IndexError(f"address {address:#x}")
        return store, at

    def load(self, address: int, size: int) -> int:
        store, at = self.find(address, size)
        return int.from_bytes(store[at : at + size], "little")

    def save(self, address: int, size: int, v: int) -> None:
        store, at = self.find(address, size)
        store[at : at + size] = (v & ((1 << 8 * size) - 1)).to_bytes(size, "little")


# ------------------------------------------------------------------------------- translation
WIDTH = re.compile(r"^([bsufp])(8|16|32|64|red)$")


def width_of(t: str) -> tuple[str, int]:
    """``"s32"`` is ``("s", 32)``."""
    if t == "pred":
        return "p", 1
    return t[0], int(t[1:])


class Translator:
    """One kernel's text as Python."""

    def __init__(self, ptx: str):
        self.text = ptx
        self.shared: dict[str, int] = {}
        self.shared_bytes = 0
        self.constants: list[bytearray] = []
        self.globals: dict[str, int] = {}
        self.local_bytes = 0
        self.parameters: list[tuple[str, str]] = []
        self.registers: set[str] = set()

    # -- declarations

    def declarations(self, first_array: int) -> None:
        """Shared arrays, tables of constants, and the depot of local memory."""
        for space, align, size, name, n, given in re.findall(
            r"^\s*(?:\.visible |\.extern |\.common |\.weak )?\.(shared|const|global|local)\s+"
            r"\.align\s+(\d+)\s+\.(\w+)\s+(\w+)(?:\[(\d*)\])?(?: = \{([^}]*)\})?;", self.text, re.M,
        ):  # fmt: skip
            item = width_of(size)[1] // 8
            count = int(n) if n else 1
            if space == "shared":
                at = -(-self.shared_bytes // int(align)) * int(align)
                self.shared[name] = SHARED + at
                self.shared_bytes = at + item * count
            elif space == "local":
                self.local_bytes = item * count
            else:
                data = bytearray(item * count)
                for k, v in enumerate(filter(None, (x.strip() for x in given.split(",")))):
                    data[k * item : (k + 1) * item] = (int(v) & ((1 << 8 * item) - 1)).to_bytes(
                        item, "little"
                    )
                self.globals[name] = GLOBAL * (first_array + len(self.constants) + 1)
                self.constants.append(data)

    def source(self, first_array: int) -> str:
        """A generator function ``thread(memory, parameters, special)``."""
        self.declarations(first_array)
        head = re.search(
            r"\.visible \.entry (\w+)\((.*?)\)\s*(?:\.\w+[^{]*)?\{(.*?)^\}", self.text, re.S | re.M
        )
        self.parameters = re.findall(r"\.param \.(?:align \d+ \.)?(\w+) (\w+)", head[2])
        blocks = [("", [])]
        for line in head[3].splitlines():
            line = re.sub(r"//.*", "", line).strip()
            if not line or line.startswith(".") or line[0] in "{}" or line in (");", "(", ")"):
                continue
            label = re.match(r"^(\$?\w+):$", line)
            if label:
                blocks.append((label[1], []))
            else:
                blocks[-1][1].append(line.rstrip(";"))
        number = {name: k for k, (name, _) in enumerate(blocks)}
        out = ["def thread(memory, parameters, special):", "    pc = 0; steps = 0",
               "    load = memory.load; save = memory.save", "    while True:"]  # fmt: skip
        for k, (_, instructions) in enumerate(blocks):
            out.append(f"        {'if' if k == 0 else 'elif'} pc == {k}:")
            out.append(f"            steps += {len(instructions) + 1}")
            out.append(f"            if steps > {STEPS}: raise Endless")
            for text in instructions:
                try:
                    lines = self.instruction(text, number)
                except Unknown as unknown:  # it matters only where a thread comes by
                    lines = [f"raise Unknown({str(unknown)!r})"]
                out += ["            " + x for x in lines]
            out.append(f"            pc = {k + 1}" if k + 1 < len(blocks) else "            return")
        out.append("    yield  # so that this is a generator in any case")
        out.insert(1, f"    {' = '.join(sorted(self.registers))} = 0")
        return "\n".join(out)

    # -- operands

    def read(self, x: str, kind: str, bits: int) -> str:
        """An operand as an expression."""
        x = x.strip()
        if x.startswith("0f"):
            return (
                repr(float_of(int(x[2:], 16), 32))
                if "nan" not in repr(float_of(int(x[2:], 16), 32))
                and "inf" not in repr(float_of(int(x[2:], 16), 32))
                else f"float_of({int(x[2:], 16)}, 32)"
            )
        if x.startswith("0d"):
            return f"float_of({int(x[2:], 16)}, 64)"
        if x.startswith("%"):
            if x[1:].split(".")[0] in ("tid", "ntid", "ctaid", "nctaid", "laneid", "lanemask_lt"):
                return f"special[{x[1:]!r}]"
            return self.target(x)
        if x in ("WARP_SZ",):
            return "32"
        if re.match(r"^-?\d+$", x) or x.startswith("0x"):
            v = int(x, 0)
            return str(v & ((1 << bits) - 1)) if bits > 1 else str(bool(v))
        if x in self.shared:
            return str(self.shared[x])
        if x in self.globals:
            return str(self.globals[x])
        if x.startswith("__local_depot"):
            return str(LOCAL)
        raise Unknown(x)

    def address(self, x: str) -> str:
        inner = x.strip()[1:-1]
        m = re.match(r"^(.+?)\+(-?\d+)$", inner)
        if m:
            return f"({self.read(m[1], 'u', 64)} + {int(m[2])} & 0xFFFFFFFFFFFFFFFF)"
        return self.read(inner, "u", 64)

    # -- instructions

    def instruction(self, text: str, number: dict[str, int]) -> list[str]:
        guard = ""
        m = re.match(r"^@(!?)(%p\d+)\s+(.*)$", text)
        if m:
            guard, text = f"if {'not ' if m[1] else ''}{self.target(m[2])}: ", m[3]
        op, _, rest = text.partition(" ") if " " in text else text.partition("\t")
        op, rest = op.strip(), rest.strip()
        parts = op.split(".")
        operands = [x.strip() for x in re.split(r",(?![^{]*\})(?![^\[]*\])", rest)] if rest else []
        handler = getattr(self, f"op_{parts[0]}", None)
        if parts[0] == "bra":
            return [f"{guard}pc = {number[operands[0]]}" + ("; continue" if True else "")]
        if parts[0] in ("ret", "exit"):
            return [f"{guard}return"]
        if handler is None:
            raise Unknown(op)
        lines = handler(parts, operands)
        lines = [lines] if isinstance(lines, str) else lines
        return [guard + x for x in lines]

    def target(self, x: str) -> str:
        """A register as a variable."""
        name = x.strip().replace("%", "r_")
        self.registers.add(name)
        return name

    def simple(self, parts, operands, integer: str, real: str = "") -> str:
        """A two-operand instruction; the formats see a, b and mask."""
        kind, bits = width_of(parts[-1])
        args = [self.read(x, kind, bits) for x in operands[1:]]
        into = self.target(operands[0])
        if kind == "f":
            if not {"rz", "rm", "rp"}.isdisjoint(parts):
                raise Unknown(".".join(parts))
            text = real.format(*args)
            return f"{into} = f32({text})" if bits == 32 else f"{into} = {text}"
        mask = (1 << bits) - 1
        return f"{into} = {integer.format(*args, bits=bits, s=kind == 's')} & {mask}"

    def op_add(self, parts, x):
        return self.simple(parts, x, "({0} + {1})", "({0} + {1})")

    def op_sub(self, parts, x):
        return self.simple(parts, x, "({0} - {1})", "({0} - {1})")

    def op_mul(self, parts, x):
        kind, bits = width_of(parts[-1])
        if kind == "f":
            return self.simple(parts, x, "", "({0} * {1})")
        a, b = (self.read(v, kind, bits) for v in x[1:])
        if kind == "s":
            a, b = f"signed({a}, {bits})", f"signed({b}, {bits})"
        into = self.target(x[0])
        if parts[1] == "wide":
            return f"{into} = ({a} * {b}) & {(1 << 2 * bits) - 1}"
        shift = f" >> {bits}" if parts[1] == "hi" else ""
        return f"{into} = (({a} * {b}){shift}) & {(1 << bits) - 1}"

    def op_mad(self, parts, x):
        kind, bits = width_of(parts[-1])
        a, b = (self.read(v, kind, bits) for v in x[1:3])
        wide = 2 * bits if parts[1] == "wide" else bits
        c = self.read(x[3], kind, wide)
        if kind == "s":
            a, b = f"signed({a}, {bits})", f"signed({b}, {bits})"
        if parts[1] == "hi":
            raise Unknown(".".join(parts))
        return f"{self.target(x[0])} = ({a} * {b} + {c}) & {(1 << wide) - 1}"

    def op_fma(self, parts, x):
        bits = width_of(parts[-1])[1]
        if not {"rz", "rm", "rp"}.isdisjoint(parts):
            raise Unknown(".".join(parts))
        a, b, c = (self.read(v, "f", bits) for v in x[1:])
        return f"{self.target(x[0])} = multiply_add({a}, {b}, {c}, {bits})"

    def op_div(self, parts, x):
        real = "divide({0}, {1})"
        return self.simple(parts, x, "quotient({0}, {1}, {bits}, {s})", real)

    def op_rem(self, parts, x):
        return self.simple(parts, x, "remainder({0}, {1}, {bits}, {s})")

    def op_rcp(self, parts, x):
        if parts[1] != "rn":
            raise Unknown(".".join(parts))
        return self.simple(parts, x, "", "divide(1.0, {0})")

    def op_sqrt(self, parts, x):
        if parts[1] != "rn":
            raise Unknown(".".join(parts))
        return self.simple(parts, x, "", "root({0})")

    def op_abs(self, parts, x):
        return self.simple(parts, x, "abs(signed({0}, {bits}))", "math.fabs({0})")

    def op_neg(self, parts, x):
        return self.simple(parts, x, "(-{0})", "(-({0}))")

    def op_not(self, parts, x):
        if parts[-1] == "pred":
            return f"{self.target(x[0])} = not {self.read(x[1], 'p', 1)}"
        return self.simple(parts, x, "(~{0})")

    def logic(self, sign: str, parts, x):
        if parts[-1] == "pred":
            a, b = (self.read(v, "p", 1) for v in x[1:])
            return f"{self.target(x[0])} = bool({a} {sign} {b})"
        return self.simple(parts, x, "({0} " + sign + " {1})")

    def op_and(self, parts, x):
        return self.logic("&", parts, x)

    def op_or(self, parts, x):
        return self.logic("|", parts, x)

    def op_xor(self, parts, x):
        return self.logic("^", parts, x)

    def op_lop3(self, parts, x):
        a, b, c = (self.read(v, "b", 32) for v in x[1:4])
        return f"{self.target(x[0])} = lop3({a}, {b}, {c}, {int(x[4], 0)})"

    def op_shl(self, parts, x):
        bits = width_of(parts[-1])[1]
        a, b = self.read(x[1], "b", bits), self.read(x[2], "u", 32)
        return f"{self.target(x[0])} = ({a} << min({b}, {bits})) & {(1 << bits) - 1}"

    def op_shr(self, parts, x):
        kind, bits = width_of(parts[-1])
        a, b = self.read(x[1], kind, bits), self.read(x[2], "u", 32)
        a = f"signed({a}, {bits})" if kind == "s" else a
        return f"{self.target(x[0])} = ({a} >> min({b}, {bits})) & {(1 << bits) - 1}"

    def op_shf(self, parts, x):
        a, b, c = (self.read(v, "u", 32) for v in x[1:4])
        n = f"min({c}, 32)" if parts[2] == "clamp" else f"({c} & 31)"
        if parts[1] == "l":
            return f"{self.target(x[0])} = ((({b} << 32 | {a}) << {n}) >> 32) & 0xFFFFFFFF"
        return f"{self.target(x[0])} = (({b} << 32 | {a}) >> {n}) & 0xFFFFFFFF"

    def op_min(self, parts, x):
        if parts[-1][0] == "s":
            bits = width_of(parts[-1])[1]
            return self.simple(parts, x, f"min(signed({{0}}, {bits}), signed({{1}}, {bits}))")
        return self.simple(parts, x, "min({0}, {1})", "least({0}, {1})")

    def op_max(self, parts, x):
        if parts[-1][0] == "s":
            bits = width_of(parts[-1])[1]
            return self.simple(parts, x, f"max(signed({{0}}, {bits}), signed({{1}}, {bits}))")
        return self.simple(parts, x, "max({0}, {1})", "greatest({0}, {1})")

    def op_copysign(self, parts, x):
        return self.simple(parts, x, "", "math.copysign({1}, {0})")

    def op_popc(self, parts, x):
        return f"{self.target(x[0])} = ({self.read(x[1], *width_of(parts[-1]))}).bit_count()"

    def op_clz(self, parts, x):
        kind, bits = width_of(parts[-1])
        return f"{self.target(x[0])} = {bits} - ({self.read(x[1], kind, bits)}).bit_length()"

    def op_brev(self, parts, x):
        kind, bits = width_of(parts[-1])
        return f"{self.target(x[0])} = reverse({self.read(x[1], kind, bits)}, {bits})"

    def op_bfind(self, parts, x):
        kind, bits = width_of(parts[-1])
        v = self.read(x[1], kind, bits)
        if kind == "s":
            raise Unknown(".".join(parts))
        if "shiftamt" in parts:
            return f"{self.target(x[0])} = {bits} - ({v}).bit_length() if {v} else 0xFFFFFFFF"
        return f"{self.target(x[0])} = ({v}).bit_length() - 1 if {v} else 0xFFFFFFFF"

    def op_bfe(self, parts, x):
        kind, bits = width_of(parts[-1])
        a, b, c = self.read(x[1], kind, bits), *(self.read(v, "u", 32) for v in x[2:4])
        return f"{self.target(x[0])} = extract({a}, {b}, {c}, {bits}, {kind == 's'})"

    def op_bfi(self, parts, x):
        kind, bits = width_of(parts[-1])
        a, b = (self.read(v, kind, bits) for v in x[1:3])
        c, d = (self.read(v, "u", 32) for v in x[3:5])
        return f"{self.target(x[0])} = insert({a}, {b}, {c}, {d}, {bits})"

    def op_prmt(self, parts, x):
        a, b, c = (self.read(v, "b", 32) for v in x[1:4])
        return f"{self.target(x[0])} = permute({a}, {b}, {c})"

    def op_testp(self, parts, x):
        bits = width_of(parts[-1])[1]
        v = self.read(x[1], "f", bits)
        test = {"finite": "math.isfinite", "infinite": "math.isinf", "notanumber": "math.isnan"}
        return f"{self.target(x[0])} = {test[parts[1]]}({v})"

    def op_selp(self, parts, x):
        kind, bits = width_of(parts[-1])
        a, b = (self.read(v, kind, bits) for v in x[1:3])
        return f"{self.target(x[0])} = {a} if {self.read(x[3], 'p', 1)} else {b}"

    def op_set(self, parts, x):
        raise Unknown(".".join(parts))

    def op_setp(self, parts, x):
        kind, bits = width_of(parts[-1])
        a, b = (self.read(v, kind, bits) for v in x[1:3])
        test = parts[1]
        into = self.target(x[0])
        if kind == "f":
            if test in ("num", "nan"):
                word = "not " if test == "num" else ""
                return f"{into} = {word}({a} != {a} or {b} != {b})"
            loose = test.endswith("u") and test[:-1] in ORDERED
            sign = ORDERED[test[:-1] if loose else test]
            nan = f"({a} != {a} or {b} != {b})"
            text = f"{nan} or {a} {sign} {b}" if loose else f"not {nan} and {a} {sign} {b}"
        else:
            if kind == "s" and test not in ("eq", "ne"):
                a, b = f"signed({a}, {bits})", f"signed({b}, {bits})"
            text = f"{a} {(ORDERED | UNSIGNED)[test]} {b}"
        if len(parts) == 4:  # combined with another predicate
            sign = {"and": "and", "or": "or", "xor": "!="}[parts[2]]
            text = f"bool({text}) {sign} {self.read(x[3], 'p', 1)}"
        return f"{into} = bool({text})"

    def op_mov(self, parts, x):
        kind, bits = width_of(parts[-1])
        if x[0].startswith("{"):
            low, high = (self.target(v) for v in x[0][1:-1].split(","))
            half = bits // 2
            v = self.pattern(x[1], bits)
            return f"pair = {v}; {low} = pair & {(1 << half) - 1}; {high} = pair >> {half}"
        if x[1].startswith("{"):
            low, high = (self.read(v, "b", bits // 2) for v in x[1][1:-1].split(","))
            v = f"({low} | {high} << {bits // 2})"
            if self.is_float(x[0]):
                v = f"float_of({v}, {bits})"
            return f"{self.target(x[0])} = {v}"
        if kind == "b":
            v = self.pattern(x[1], bits)
            return f"{self.target(x[0])} = " + (
                f"float_of({v}, {bits})" if self.is_float(x[0]) else v
            )
        return f"{self.target(x[0])} = {self.read(x[1], kind, bits)}"

    @staticmethod
    def is_float(x: str) -> bool:
        return bool(re.match(r"^%fd?\d+$", x))

    def pattern(self, x: str, bits: int) -> str:
        """An operand's bits."""
        v = self.read(x, "b", bits)
        return f"bits_of({v}, {bits})" if self.is_float(x) or x[:2] in ("0f", "0d") else v

    def op_cvt(self, parts, x):
        *modes, to, source = parts[1:]
        (kind, bits), (from_kind, from_bits) = width_of(to), width_of(source)
        if "f16" in (to, source):
            raise Unknown(".".join(parts))
        v = self.read(x[1], from_kind, from_bits)
        into = self.target(x[0])
        if kind == "f" and from_kind == "f":
            if modes and modes[0] in ROUND:
                return f"{into} = whole({v}, {modes[0]!r})"
            return f"{into} = f32({v})" if bits == 32 else f"{into} = {v}"
        if from_kind == "f":
            how = f"ROUND[{modes[0]!r}], {from_bits}"
            return f"{into} = to_integer({v}, {bits}, {kind == 's'}, {how})"
        v = f"({v} & {(1 << from_bits) - 1})"  # of a wider register its lower bits
        if from_kind == "s":
            v = f"signed({v}, {from_bits})"
        if kind == "f":
            return f"{into} = from_integer({v}, {modes[0]!r}, {bits})"
        if "sat" in modes:
            raise Unknown(".".join(parts))
        if kind == "s" and bits < 32:  # in a wider register it is extended by its sign
            wide = 16 if x[0].startswith("%rs") else 64 if x[0].startswith("%rd") else 32
            return f"{into} = signed({v} & {(1 << bits) - 1}, {bits}) & {(1 << wide) - 1}"
        return f"{into} = {v} & {(1 << bits) - 1}"

    def op_cvta(self, parts, x):
        return f"{self.target(x[0])} = {self.read(x[1], 'u', 64)}"

    def op_ld(self, parts, x):
        kind, bits = width_of(parts[-1])
        if parts[1] == "param":
            name = x[1].strip()[1:-1].split("+")[0]
            names = [n for _, n in self.parameters]
            if name not in names:  # a parameter of a call
                raise Unknown("call")
            index = names.index(name)
            into = self.target(x[0])
            value = f"parameters[{index}]"
            if kind != "f":
                value = f"part_of({value}, {bits})"
            return f"{into} = {self.widened(value, kind, bits, into)}"
        size = bits // 8
        names = [self.target(v) for v in x[0].strip("{}").split(",")]
        lines = []
        if len(names) > 1:
            lines.append(f"at = {self.address(x[1])}")
        for k, name in enumerate(names):
            v = f"load({self.address(x[1]) if len(names) == 1 else f'at + {k * size}'}, {size})"
            if kind == "f":
                v = f"float_of({v}, {bits})"
            lines.append(f"{name} = {self.widened(v, kind, bits, name)}")
        return ["; ".join(lines)]

    @staticmethod
    def widened(value: str, kind: str, bits: int, name: str) -> str:
        """A loaded value as wide as its register: a signed one brings its sign along."""
        if kind != "s":
            return value
        wide = {"r_rs": 0xFFFF, "r_r": 0xFFFFFFFF}.get(name.rstrip("0123456789"), (1 << 64) - 1)
        return f"signed({value}, {bits}) & {wide}"

    def op_st(self, parts, x):
        kind, bits = width_of(parts[-1])
        size = bits // 8
        values = x[1].strip("{}").split(",")
        lines = []
        for k, v in enumerate(values):
            text = (
                self.pattern(v.strip(), bits)
                if kind != "f"
                else (f"bits_of({self.read(v, 'f', bits)}, {bits})")
            )
            lines.append(f"save({self.address(x[0])} + {k * size}, {size}, {text})")
        return ["; ".join(lines)]

    def op_atom(self, parts, x):
        kind, bits = width_of(parts[-1])
        op = next(p for p in parts if p in ("add", "and", "or", "xor", "min", "max", "exch", "cas",
                                            "inc", "dec"))  # fmt: skip
        args = [self.read(v, kind, bits) for v in x[2:]]
        into = self.target(x[0])
        what = f"{op!r}, {self.address(x[1])}, {kind!r}, {bits}, {', '.join(args)}"
        return f"{into} = atomic(memory, {what})"

    def op_red(self, parts, x):
        return self.op_atom(["atom", *parts[1:]], ["%unused", *x])

    def op_membar(self, parts, x):
        return "pass"

    op_fence = op_membar

    def op_nanosleep(self, parts, x):
        return "pass"

    # -- waiting for others

    def op_bar(self, parts, x):
        if parts[1] == "red":
            kind = parts[2]
            v = self.read(x[-1], "p", 1)
            return f"{self.target(x[0])} = yield ('bar', {kind!r}, {v})"
        if parts[1] == "warp":
            return f"yield ('warp', {self.read(x[0], 'b', 32)}, 'sync', 0, 0, 0)"
        return "yield ('bar', '', True)"

    op_barrier = op_bar

    def op_shfl(self, parts, x):
        into, _, flag = x[0].partition("|")
        a, b, c, members = (self.read(v, "b", 32) for v in x[1:5])
        a = self.pattern(x[1], 32)
        back = "float_of(got[0], 32)" if self.is_float(into) else "got[0]"
        ask = f"got = yield ('warp', {members}, 'shfl.{parts[2]}', {a}, {b}, {c})"
        lines = f"{ask}; {self.target(into)} = {back}"
        return lines + (f"; {self.target(flag)} = got[1]" if flag else "")

    def op_vote(self, parts, x):
        v, members = self.read(x[1], "p", 1), self.read(x[2], "b", 32)
        return f"{self.target(x[0])} = yield ('warp', {members}, 'vote.{parts[2]}', {v}, 0, 0)"

    def op_match(self, parts, x):
        bits = width_of(parts[-1])[1]
        v, members = self.pattern(x[1], bits), self.read(x[2], "b", 32)
        into, _, flag = x[0].partition("|")
        ask = f"got = yield ('warp', {members}, 'match.{parts[1]}', {v}, 0, 0)"
        lines = f"{ask}; {self.target(into)} = got[0]"
        return lines + (f"; {self.target(flag)} = got[1]" if flag else "")

    def op_activemask(self, parts, x):
        raise Unknown("activemask")


def reverse(v: int, bits: int) -> int:
    return int(f"{v:0{bits}b}"[::-1], 2)


def extract(a: int, at: int, n: int, bits: int, is_signed: bool) -> int:
    at, n = at & 255, n & 255
    if not n:
        return 0
    v = (signed(a, bits) if is_signed else a) >> at & ((1 << n) - 1)
    top = min(at + n - 1, bits - 1)
    if is_signed and a >> top & 1:
        v |= -1 << n
    return v & ((1 << bits) - 1)


def insert(a: int, b: int, at: int, n: int, bits: int) -> int:
    at, n = at & 255, n & 255
    field = ((1 << n) - 1) << at & ((1 << bits) - 1)
    return b & ~field | a << at & field


def permute(a: int, b: int, how: int) -> int:
    both, out = a | b << 32, 0
    for k in range(4):
        pick = how >> 4 * k & 15
        byte = both >> 8 * (pick & 7) & 255
        if pick & 8:
            byte = 255 if byte >> 7 else 0
        out |= byte << 8 * k
    return out


def lop3(a: int, b: int, c: int, table: int) -> int:
    out = 0
    for k in range(8):
        if table >> k & 1:
            x, y, z = (v if k >> n & 1 else ~v for v, n in ((a, 2), (b, 1), (c, 0)))
            out |= x & y & z
    return out & 0xFFFFFFFF


def atomic(memory: Memory, op: str, address: int, kind: str, bits: int, v, new=None):
    """Read, change and write back."""
    old = memory.load(address, bits // 8)
    if kind == "f":
        before = float_of(old, bits)
        after = before + v
        memory.save(address, bits // 8, bits_of(f32(after) if bits == 32 else after, bits))
        return before
    a, b = (signed(x, bits) for x in (old, v)) if kind == "s" else (old, v)
    results = {
        "add": lambda: a + b, "and": lambda: a & b, "or": lambda: a | b, "xor": lambda: a ^ b,
        "min": lambda: min(a, b), "max": lambda: max(a, b), "exch": lambda: b,
        "cas": lambda: new if a == b else a,
        "inc": lambda: 0 if a >= b else a + 1,
        "dec": lambda: b if a == 0 or a > b else a - 1,
    }  # fmt: skip
    memory.save(address, bits // 8, results[op]())
    return old


# ------------------------------------------------------------------------------- the launch
def run(ptx: str, grid: tuple, block: tuple, arguments: list) -> list:
    """Launch a compiled kernel; arrays come back as new ones.

    Parameters
    ----------
    ptx : str
        With one entry, whose parameters are as Numba passes `arguments`.
    grid, block : tuple of int
    arguments : list of ndarray (C order) or scalar
    """
    arrays = [bytearray(a.tobytes()) for a in arguments if isinstance(a, np.ndarray)]
    translator = Translator(ptx)
    source = translator.source(len(arrays))
    scope = dict(globals())
    exec(compile(source, "<ptx>", "exec"), scope)
    thread = scope["thread"]
    parameters = [0] + list(flat(arguments))
    if len(parameters) != len(translator.parameters):
        parameters = parameters[1:]
    stores = [*arrays, *translator.constants]
    size, count = (tuple((*x, 1, 1)[:3]) for x in (block, grid))
    for bz in range(count[2]):
        for by in range(count[1]):
            for bx in range(count[0]):
                run_block(thread, stores, translator, parameters, (bx, by, bz), size, count)
    out, k = [], 0
    for a in arguments:
        if isinstance(a, np.ndarray):
            out.append(np.frombuffer(bytes(arrays[k]), a.dtype).reshape(a.shape))
            k += 1
        else:
            out.append(a)
    return out


def flat(arguments: list):
    """The parameters that Numba makes of arguments."""
    k = 0
    for a in arguments:
        if isinstance(a, np.ndarray):
            k += 1
            yield from (0, 0, a.size, a.itemsize, GLOBAL * k, *a.shape, *a.strides)
        elif isinstance(a, (float, np.floating)):
            yield float(a)
        elif isinstance(a, (bool, np.bool_)):
            yield int(a)
        else:
            bits = 64 if isinstance(a, int) else 8 * a.itemsize
            yield int(a) & ((1 << bits) - 1)


def run_block(thread, stores, translator, parameters, index, size, count) -> None:
    """All threads of a block, each as far as it comes until the others are needed."""
    shared = bytearray(b"\xa5" * max(translator.shared_bytes, 1))
    n = size[0] * size[1] * size[2]
    running = {}
    for t in range(n):
        special = {"laneid": t % WARP, "lanemask_lt": (1 << t % WARP) - 1}
        place = (t % size[0], t // size[0] % size[1], t // (size[0] * size[1]))
        for name, values in (("tid", place), ("ntid", size), ("ctaid", index), ("nctaid", count)):
            special |= {f"{name}.{axis}": v for axis, v in zip("xyz", values, strict=True)}
        memory = Memory(stores, shared, bytearray(b"\xa5" * max(translator.local_bytes, 1)))
        running[t] = thread(memory, parameters, special)
    asked: dict[int, tuple] = {}
    answers: dict[int, object] = dict.fromkeys(running)
    while running:
        for t in [t for t in running if t not in asked]:
            try:
                asked[t] = running[t].send(answers[t])
            except StopIteration:
                del running[t]
        answers = settle(asked, running)
        if not answers and running:
            raise Endless("the threads wait for each other")
        for t in answers:
            del asked[t]


def settle(asked: dict[int, tuple], running: dict) -> dict[int, object]:
    """Answers for the threads that have all met whom they wait for."""
    answers: dict[int, object] = {}
    for t, request in asked.items():
        if request[0] != "warp" or t in answers:
            continue
        base = t // WARP * WARP
        members = [base + k for k in range(WARP) if request[1] >> k & 1 and base + k in running]
        if all(m in asked and asked[m][0] == "warp" and asked[m][2] == request[2] for m in members):
            answers |= together(members, asked, request[2])
    if not answers and all(r[0] == "bar" for r in asked.values()):
        votes = [bool(r[2]) for r in asked.values()]
        answer = {"popc": sum(votes), "and": all(votes), "or": any(votes), "": None}
        answers = {t: answer[r[1]] for t, r in asked.items()}
    return answers


def together(members: list[int], asked: dict[int, tuple], op: str) -> dict[int, object]:
    """What the lanes of a warp get out of one of its operations."""
    kind, _, how = op.partition(".")
    if kind == "sync":
        return dict.fromkeys(members)
    if kind == "vote":
        yes = [m for m in members if asked[m][3]]
        answer = {"any": bool(yes), "all": len(yes) == len(members),
                  "uni": len(yes) in (0, len(members)),
                  "ballot": sum(1 << m % WARP for m in yes)}[how]  # fmt: skip
        return dict.fromkeys(members, answer)
    if kind == "match":
        same = {
            m: sum(1 << k % WARP for k in members if asked[k][3] == asked[m][3]) for m in members
        }
        everyone = len({asked[m][3] for m in members}) == 1
        if how == "all":
            return {m: (same[m] if everyone else 0, everyone) for m in members}
        return {m: (same[m], everyone) for m in members}
    answers = {}
    for m in members:
        _, _, _, v, b, c = asked[m]
        lane, clamp, segment = m % WARP, c & 31, c >> 8 & 31
        top = lane & segment | clamp & ~segment & 31
        low = lane & segment
        if how == "up":
            source, inside = lane - b, lane - b >= top
        elif how == "down":
            source, inside = lane + b, lane + b <= top
        elif how == "bfly":
            source, inside = lane ^ b, lane ^ b <= top
        else:
            source, inside = low | b & ~segment & 31, (low | b & ~segment & 31) <= top
        peer = m - lane + source if inside else m
        answers[m] = (asked[peer][3] if peer in asked else v, inside)
    return answers

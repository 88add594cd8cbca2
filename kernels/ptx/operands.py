"""What an instruction's operands may be."""

from dataclasses import dataclass

__all__ = [
    "Literal",
    "RegisterList",
    "Scalar",
    "SharedArray",
    "Special",
    "TensorMap",
    "f32",
    "floats",
    "i32",
    "u16",
    "u32",
    "u64",
    "words",
]


@dataclass(frozen=True)
class Scalar:
    """An operand in one register, of so many bits; `letter` is its constraint in LLVM."""

    name: str
    letter: str


@dataclass(frozen=True)
class RegisterList:
    """An operand in several registers: the first `count` elements of a local array.

    Those of `written` ones go in and come back. `count` may be the name of a literal argument.
    """

    element: Scalar
    count: int | str
    written: bool


@dataclass(frozen=True)
class Special:
    """An operand of another kind."""

    name: str


u16, u32, u64 = Scalar("uint16", "h"), Scalar("uint32", "r"), Scalar("uint64", "l")
i32, f32 = Scalar("int32", "r"), Scalar("float32", "f")
#: A number that stands in the kernel's text, or is a constant of the function around it.
Literal = Special("literal")
#: 128 bytes in global memory, a uint8 array.
TensorMap = Special("tensor map")
#: An array in shared memory, whose address is taken.
SharedArray = Special("shared array")


def floats(count: int | str) -> RegisterList:
    """The operand of `count` sums: float32, read and written."""
    return RegisterList(f32, count, True)


def words(count: int) -> RegisterList:
    """The operand of `count` registers of 32 bits, read only."""
    return RegisterList(u32, count, False)

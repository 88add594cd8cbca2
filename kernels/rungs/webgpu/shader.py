"""The text of a rung in WGSL, complete: its options as constants, and its marked loops unrolled.

WGSL has no macros and no way to ask for unrolled loops. So the options become constants at the top,
as they are macros of the C++ twins, and every loop that ends its first line with ``// unroll`` is
written out. The page does the same with the same texts: ``book/static/gpu/wgsl.js``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).parent
LOOP = re.compile(
    r"( *)for \(var (?P<name>\w+) = 0u; (?P=name) < (?P<end>[^;]+);"
    r" (?P=name)(?:\+\+| \+= (?P<step>\w+))\) \{ // unroll"
)


def text(name: str) -> str:
    """The text of a file of this folder, such as ``"tiled"``."""
    return (FOLDER / f"{name}.wgsl").read_text(encoding="utf-8")


def complete(kernel: str, options: Mapping[str, int], enable: str = "") -> str:
    """Return a kernel's text for some options, ready to be compiled.

    Parameters
    ----------
    kernel : str
        The text of a rung.
    options : mapping of str to int
        Its options, which become constants of the same names in capitals.
    enable : str
        The language's extension that it needs, such as ``"f16"``.
    """
    named = {name.upper(): value for name, value in options.items()}
    first = f"enable {enable};\n" if enable else ""
    constants = "".join(f"const {name} = {value}u;\n" for name, value in named.items())
    lines = kernel.rstrip("\n").split("\n")
    return "\n".join([first + constants + text("prologue"), *unrolled(lines, named), ""])


def unrolled(lines: list[str], constants: Mapping[str, int]) -> list[str]:
    """Write out the marked loops of some lines; those inside others, too.

    A loop runs from 0 to a constant, or to a product or quotient of a constant and a number.
    """
    written: list[str] = []
    rest = iter(lines)
    for line in rest:
        loop = LOOP.fullmatch(line)
        if not loop:
            written.append(line)
            continue
        closing = f"{loop[1]}}}"
        body = list(iter(lambda: next(rest), closing))  # noqa: B023
        step = value(loop["step"] or "1", constants)
        for number in range(0, value(loop["end"], constants), step):
            here = [re.sub(rf"\b{loop['name']}\b", f"{number}u", inner) for inner in body]
            written += [f"{loop[1]}{{", *unrolled(here, constants), closing]
    return written


def value(expression: str, constants: Mapping[str, int]) -> int:
    """The value of ``TM``, ``4u`` or ``TM / 4``."""
    whole, *parts = (
        constants.get(each) or int(each.rstrip("u")) for each in expression.split(" / ")
    )
    for part in parts:
        whole //= part
    return whole

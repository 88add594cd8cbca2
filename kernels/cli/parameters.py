"""What commands are given: sizes, shapes, the name of a rung and its options."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import click

from kernels import host
from kernels.distributed.algorithms import ALGORITHMS
from kernels.distributed.grid import Grid
from kernels.rungs.order import LADDER, Rung

WAY_OUT = "use a whole number of at least 1, such as 1024"


class Whole(click.ParamType):
    """A whole number of at least 1."""

    def __init__(self, name: str, way_out: str) -> None:
        self.name, self.way_out = name, way_out

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        try:
            number = int(value)
        except ValueError:
            raise ValueError(
                f"{self.name} {value!r} is not a whole number: {self.way_out}"
            ) from None
        return host.check_whole(number, self.name, self.way_out)


SIZE = Whole("size", WAY_OUT)


class RungName(click.ParamType):
    """The name of a rung."""

    name = "rung"

    def convert(self, value: Any, param: Any, ctx: Any) -> Rung:
        if isinstance(value, Rung):
            return value
        if value in LADDER:
            return LADDER[value]
        near = get_close_matches(value, LADDER, n=1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        raise LookupError(f"no rung {value!r}: {meant}There are {', '.join(LADDER)}")


class Way(RungName):
    """The name of a rung, or of an algorithm for several GPUs that no rung shares."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Rung | str:
        return value if value in ALGORITHMS else super().convert(value, param, ctx)


class Sizes(click.ParamType):
    """Sizes with commas between them."""

    name = "sizes"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        return tuple(SIZE.convert(part.strip(), param, ctx) for part in value.split(","))


class Shape(click.ParamType):
    """M×N×K, or one number for all three."""

    name = "shape"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[int, int, int]:
        if isinstance(value, tuple):
            return value
        sizes = [
            SIZE.convert(part.strip(), param, ctx) for part in value.replace("×", "x").split("x")
        ]
        if len(sizes) not in (1, 3):
            raise ValueError(f"size {value!r} has {len(sizes)} parts: use N or MxNxK, such as 4096")
        return tuple(sizes * (3 // len(sizes)))


class Grids(click.ParamType):
    """A number of GPUs, or p × q of them."""

    name = "gpus"

    def convert(self, value: Any, param: Any, ctx: Any) -> Grid:
        return value if isinstance(value, Grid) else Grid.parse(value)


def rung_options(command: Any) -> Any:
    """Add one option for each option that a rung has: ``--tile``, ``--block``."""
    names = list(dict.fromkeys(name for rung in LADDER.values() for name in rung.options))
    for name in reversed(names):
        rungs = [rung for rung in LADDER.values() if name in rung.options]
        *values, last = map(str, rungs[0].options[name])
        values = f"{', '.join(values)} or {last}"
        text = f"{' and '.join(rung.name for rung in rungs)}: {values}."
        kind = Whole(name, f"use {values}")
        command = click.option(f"--{name}", name, type=kind, help=text)(command)
    return command


def given(options: dict[str, int | None]) -> dict[str, int]:
    """The options that were set."""
    return {name: value for name, value in options.items() if value is not None}


def spelled(options: dict[str, int]) -> str:
    """Options as they are typed: ``tile=16``."""
    return " ".join(f"{name}={value}" for name, value in options.items())

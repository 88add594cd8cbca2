"""The steps from `mma` to `persistent`, each of one thing: versions that no reader needs.

What the rungs change from one to the next is more than one thing: tile, order of blocks, stores.
Between their versions lie these, with one change each, of the kernels in CUDA C++.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from kernels.host import option
from kernels.host.rung import Rung
from kernels.host.tensor_cores import HopperRung
from kernels.measure.bench.case_of_bytes import case_of
from kernels.measure.bench.ladder import versions_of
from kernels.measure.bench.step import Step
from kernels.rungs import mma, persistent, specialized, wgmma

__all__ = ["STEPS", "steps"]

SIZES, DTYPE = (4096, 8192), "bfloat16"


@dataclass(frozen=True)
class Ordered(wgmma.Options):
    """With an order of the blocks."""

    group: int = option(1, (1, 16), "tiles of C that the blocks go down before one to the right")


@dataclass(frozen=True)
class Roles(specialized.Options):
    """With registers that stay where they are."""

    setmaxnreg: int = option(1, (0, 1), "whether the producer's registers go to the consumers")

    @property
    def macros(self):
        return super().macros | {"SETMAXNREG": self.setmaxnreg}


@dataclass(frozen=True)
class Stored(persistent.Options):
    """With C straight from registers."""

    boxes: int = option(2, (0, 2), "boxes of shared memory through which a consumer stores C")


class WithoutBoxes(persistent.Persistent):
    """The kernel takes C itself where it stores to no box."""

    def arguments(self, product, options):
        arguments = super().arguments(product, options)
        return arguments if options.boxes else HopperRung.arguments(self, product, options)


IN_CPP = {"make": None, "engines": ("cpp",)}
ORDERED = replace(wgmma.RUNG, Options=Ordered, **IN_CPP)
ROLES = replace(specialized.RUNG, Options=Roles, **IN_CPP)
STORED = WithoutBoxes(**vars(persistent.RUNG) | {"Options": Stored, **IN_CPP})

#: What a step adds, and the version that has it; each differs from the one before in that alone.
STEPS: tuple[tuple[str, Rung, dict[str, int]], ...] = (
    ("mma, 128 × 128", mma.RUNG, {"BN": 128, "WN": 32}),
    ("wgmma and TMA", ORDERED, {"group": 8}),
    ("16 tiles down, then one right", ORDERED, {"group": 16}),
    ("roles and a ring of tiles", ROLES, {"BN": 128, "setmaxnreg": 0}),
    ("128 × 256", ROLES, {"setmaxnreg": 0}),
    ("registers for who multiplies", ROLES, {}),
    ("blocks stay", STORED, {"group": 16, "cluster": 1, "boxes": 0}),
    ("C leaves by TMA", STORED, {"group": 16, "cluster": 1}),
    ("two blocks share B", STORED, {"group": 8, "cluster": 2}),
)


def steps() -> list[Step]:
    """The versions at each size, in turn with cuBLAS."""
    return [
        Step(f"ablation {n}³, {DTYPE}", lambda n=n: {"ablation": measured(n)})
        for n in SIZES
        if not STEPS[-1][1].missing(DTYPE)
    ]


def measured(n: int) -> list[dict[str, Any]]:
    """A row for each version of `STEPS` at n³, in their order."""
    case, rows = case_of(n, n, n, DTYPE), []
    for what, rung, options in STEPS:
        found = versions_of(rung, case, [("cpp", rung.default("cpp") | options)])
        rows += [{"what": what, **row} for row in found]
    return rows

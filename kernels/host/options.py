"""The options of a rung: what can be chosen, which values are worth trying, and what follows."""

from dataclasses import asdict, dataclass, field, fields
from math import prod, sqrt
from typing import Any

from kernels.host.checks import cdiv, check_grid, check_sizes, check_whole
from kernels.host.model import Model

__all__ = ["Options", "either", "option"]


def either(values) -> str:
    """``"8, 16 or 32"``."""
    *first, last = map(str, values)
    return f"{', '.join(first)} or {last}" if first else last


def option(default: int, worth: tuple[int, ...], about: str, only: bool = False) -> Any:
    """Return a field of `Options`.

    Parameters
    ----------
    default : int
    worth : tuple of int
        The values worth trying.
    about : str
        What it is, in one line.
    only : bool
        Whether the kernel is written for these values and no others.
    """
    return field(default=default, metadata={"worth": worth, "about": about, "only": only})


@dataclass(frozen=True)
class Options:
    """What one launch of a rung was asked for, checked, and what follows from it.

    A rung's own class adds a field for each option, and defines `block_dim`, `block_tile`, `model`,
    and what else its kernel differs in: `check`, where not every combination can be launched.

    Raises
    ------
    TypeError, ValueError
        One line that names the value, the limit and the way out.
    """

    #: Blocks that share the sums along K for one tile of C.
    split = 1
    #: Bytes of shared memory per block.
    shared_bytes = 0

    def __post_init__(self):
        for each in fields(self):
            name, worth = each.name, each.metadata["worth"]
            way_out = f"use {either(worth)}"
            value = check_whole(getattr(self, name), name, way_out, least=min(1, *worth))
            if each.metadata["only"] and value not in worth:
                raise ValueError(f"the kernel is not written for {name}={value}: {way_out}")
            object.__setattr__(self, name, value)  # an int, of whatever type it was
        self.check()

    def check(self) -> None:
        """Raise ValueError, in one line, for values that do not go together or do not fit."""

    @property
    def block_dim(self) -> tuple[int, ...]:
        """Threads of a block along each axis."""
        raise NotImplementedError

    @property
    def block_tile(self) -> tuple[int, int, int]:
        """(BM, BN, BK): the part of C that a block computes, and its step along K."""
        raise NotImplementedError

    def grid_dim(self, M: int, N: int) -> tuple[int, ...]:
        """Blocks along each axis for a result of M×N elements: one for each tile of C."""
        BM, BN, _ = self.block_tile
        return cdiv(N, BN), cdiv(M, BM)

    def model(self, M: int, N: int, K: int) -> Model:
        """What the kernel is predicted to do for A (M×K) and B (K×N)."""
        raise NotImplementedError

    def launch(self, M: int, N: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return (grid, block), if the GPU here can launch them; ValueError otherwise."""
        check_sizes(M=M, N=N)
        return check_grid(*self.grid_dim(M, N)), self.block_dim

    @property
    def values(self) -> dict[str, int]:
        """The options by name."""
        return asdict(self)

    @property
    def macros(self) -> dict[str, int]:
        """What the CUDA C++ counterpart is compiled with."""
        return {name.upper(): value for name, value in self.values.items()}

    @property
    def threads(self) -> int:
        """Threads per block."""
        return prod(self.block_dim)

    @property
    def registers(self) -> int:
        """About how many registers a thread takes.

        Its results, a column and a row of factors, and two dozen for addresses and counters.
        """
        results = prod(self.block_tile[:2]) // self.threads
        return round(results + 4 * sqrt(results) + 24) if results > 1 else 24

    def busiest(self, M: int, N: int, K: int, sms: int) -> int:
        """Multiply-adds of the SM that has most to do, on a GPU with `sms` of them."""
        BM, BN, BK = self.block_tile
        rounds = cdiv(cdiv(M, BM) * cdiv(N, BN) * self.split, sms)
        return rounds * BM * BN * cdiv(cdiv(K, self.split), BK) * BK

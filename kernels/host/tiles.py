"""The options of rungs that compute tiles: their sizes, and whether they fit a block and a thread.

The names are those of the C++ macros: a block of threads computes a tile of BM × BN elements of C,
BK steps of K at a time; a warp of it WM × WN; a thread TM × TN. They are checked before anything is
compiled: one line says what does not fit, and what would.
"""

from dataclasses import dataclass

import numpy as np

from kernels.backend.device import device
from kernels.host.model import Model, tile_model
from kernels.host.options import Options, option

__all__ = [
    "ThreadTiles",
    "Tiles",
    "WarpTiles",
    "check_limits",
    "check_multiple",
    "check_rows",
    "registers_of",
    "tile_of",
]

MAX_REGISTERS = 255  # a thread cannot name more
SPARE_REGISTERS = 24  # addresses, counters and limits, at the least


# ------------------------------------------------------------------------------- families of tiles


@dataclass(frozen=True)
class Tiles(Options):
    """Tiles of A and B pass through shared memory; a thread keeps its elements of C in registers.

    A rung's own class adds what a thread computes, and defines `threads`, `held` and `stores`.
    """

    BM: int = option(128, (64, 128, 256), "rows of C that a block computes")
    BN: int = option(128, (64, 128, 256), "columns of C that a block computes")
    BK: int = option(8, (8, 16, 32), "steps of K that a block loads at a time")

    #: Elements of A, and of B, that a thread loads at once.
    at_once = 1, 1
    #: Tiles of each matrix in shared memory.
    buffers = 1
    #: Elements between the rows of A's tile in shared memory.
    pad = 0

    @property
    def threads(self) -> int:
        """Threads per block."""
        raise NotImplementedError

    @property
    def held(self) -> int:
        """Numbers that a thread holds in registers at once."""
        raise NotImplementedError

    def stores(self) -> tuple[np.ndarray, np.ndarray]:
        """Row and column, in the tile of C, of each store (first axis) of each thread."""
        raise NotImplementedError

    @property
    def block_dim(self) -> tuple[int, int]:
        return self.threads, 1

    @property
    def block_tile(self) -> tuple[int, int, int]:
        return self.BM, self.BN, self.BK

    @property
    def shared_bytes(self) -> int:
        """Bytes of shared memory per block."""
        return 4 * self.buffers * self.BK * (self.BM + self.pad + self.BN)

    def model(self, M: int, N: int, K: int) -> Model:
        """A is loaded once per column of tiles of C, B once per row of them."""
        return tile_model(M, N, K, *self.block_tile, self.at_once, *self.stores())

    def check(self) -> None:
        load_A, load_B = (each * self.threads for each in self.at_once)
        loaded = (
            ("BM·BK", self.BM * self.BK, load_A),
            ("BK·BN", self.BK * self.BN, load_B),
        )
        check_limits(self.threads, self.shared_bytes, self.held, loaded)
        if self.buffers > 1:  # a thread then loads the same columns of several rows
            check_rows(load_A, BK=self.BK)
            check_rows(load_B, BN=self.BN)


@dataclass(frozen=True)
class ThreadTiles(Tiles):
    """Each thread computes TM × TN elements of C."""

    TM: int = option(8, (4, 8), "rows of C that a thread computes")
    TN: int = option(8, (4, 8), "columns of C that a thread computes")

    @property
    def threads(self) -> int:
        return self.BM // self.TM * (self.BN // self.TN)

    @property
    def held(self) -> int:
        waiting = (self.BM + self.BN) * self.BK // self.threads if self.buffers > 1 else 0
        return self.TM * self.TN + self.TM + self.TN + waiting

    def stores(self) -> tuple[np.ndarray, np.ndarray]:
        return squares(np.arange(self.threads), self.BN // self.TN, self.BM // self.TM, self)

    def check(self) -> None:
        check_whole_loads(self)
        check_multiple(BM=self.BM, TM=self.TM)
        check_multiple(BN=self.BN, TN=self.TN)
        super().check()


@dataclass(frozen=True)
class WarpTiles(Tiles):
    """Each warp computes WM × WN elements of C, and each of its threads TM × TN of these."""

    BK: int = option(16, (8, 16, 32), "steps of K that a block loads at a time")
    WM: int = option(64, (32, 64, 128), "rows of C that a warp computes")
    WN: int = option(64, (32, 64, 128), "columns of C that a warp computes")
    TM: int = option(16, (4, 8, 16), "rows of C that a thread computes, a multiple of 4")
    TN: int = option(8, (4, 8, 16), "columns of C that a thread computes, a multiple of 4")

    at_once = 4, 4
    buffers = 2
    pad = 4

    @property
    def threads(self) -> int:
        return self.BM // self.WM * (self.BN // self.WN) * 32

    @property
    def held(self) -> int:
        waiting = (self.BM + self.BN) * self.BK // self.threads
        return self.TM * self.TN + 2 * (self.TM + self.TN) + waiting

    def stores(self) -> tuple[np.ndarray, np.ndarray]:
        warp, lane = np.divmod(np.arange(self.threads), 32)
        row, col = squares(lane, self.WN // self.TN, self.WM // self.TM, self)
        across = self.BN // self.WN
        return warp // across * self.WM + row, warp % across * self.WN + col

    def check(self) -> None:
        check_whole_loads(self)
        check_multiple(WM=self.WM, TM=self.TM)
        check_multiple(WN=self.WN, TN=self.TN)
        check_multiple(BM=self.BM, WM=self.WM)
        check_multiple(BN=self.BN, WN=self.WN)
        lanes = self.WM // self.TM * (self.WN // self.TN)
        if lanes != 32:
            raise ValueError(
                f"a warp tile of {self.WM}×{self.WN} has {lanes} thread tiles of"
                f" {self.TM}×{self.TN}; a warp has 32 threads: use WM, WN, TM, TN with"
                " (WM/TM)·(WN/TN) = 32"
            )
        super().check()


def squares(thread, across: int, down: int, tiles) -> tuple[np.ndarray, np.ndarray]:
    """Row and column of each store of `down` rows of `across` threads.

    The TM × TN elements of a thread are squares as wide as one load, and lie so far apart that
    neighbouring threads own neighbouring squares.
    """
    side = tiles.at_once[1]
    i, j = np.arange(tiles.TM)[:, None, None], np.arange(0, tiles.TN, side)[:, None]
    row = thread // across * side + i // side * side * down + i % side
    return row, thread % across * side + j * across


# ------------------------------------------------------------------------------------------ limits


def check_multiple(**pair) -> None:
    """Raise ValueError unless the first size is a multiple of the second: ``BM=128, TM=8``."""
    (name, size), (of, unit) = pair.items()
    if size % unit:
        fitting = max(size // unit, 1) * unit
        raise ValueError(f"{name}={size} is not a multiple of {of}={unit}: use {name}={fitting}")


def check_whole_loads(tiles) -> None:
    """Raise ValueError unless TM, TN and BK are multiples of what a thread loads at once."""
    widest = max(tiles.at_once)
    for name in ("TM", "TN", "BK"):
        unit = tiles.at_once[0] if name == "BK" else widest
        size = getattr(tiles, name)
        if size % unit:
            raise ValueError(
                f"{name}={size} is not a multiple of {unit}, the elements of a 16-byte load:"
                f" use {name}={max(size // unit, 1) * unit}"
            )


def check_rows(at_once: int, **tile) -> None:
    """Raise ValueError unless `at_once` elements fill whole rows of a tile: ``512, BK=16``."""
    ((name, width),) = tile.items()
    if at_once % width:
        raise ValueError(
            f"the {at_once} elements that the threads load at once do not fill whole rows of"
            f" {name}={width}: use {name}={1 << (width.bit_length() - 1)}"
        )


def check_limits(threads: int, shared_bytes: int, held: int, loaded=()) -> None:
    """Raise ValueError where a block asks for more than the device has.

    Parameters
    ----------
    threads : int
        Threads per block.
    shared_bytes : int
        Shared memory per block.
    held : int
        Numbers that a thread holds at once in its arrays; addresses come on top.
    loaded : sequence of (str, int, int)
        Tiles that all threads load together: a name, such as ``"BM·BK"``, its elements, and how
        many the threads load at once, of which the tile must be a multiple.
    """
    limit = device().max_threads_per_block
    if threads > limit:
        raise ValueError(
            f"these tiles need {threads} threads per block; this GPU allows {limit}:"
            " use larger tiles per thread, or smaller ones per block"
        )
    if threads % device().warp_size:
        raise ValueError(
            f"these tiles need {threads} threads per block, which are not whole warps of"
            f" {device().warp_size}: use larger tiles per block, or smaller ones per thread"
        )
    for name, elements, at_once in loaded:
        if elements % at_once:
            raise ValueError(
                f"{name}={elements} is not a multiple of the {at_once} elements that {threads}"
                " threads load at once: use a larger BK"
            )
    limit = device().shared_per_block
    if shared_bytes > limit:
        raise ValueError(
            f"these tiles need {shared_bytes} bytes of shared memory per block; the limit is"
            f" {limit}: use a smaller BK, BM or BN"
        )
    if held + SPARE_REGISTERS > MAX_REGISTERS:
        raise ValueError(
            f"these tiles need {held} registers per thread and {SPARE_REGISTERS} for addresses;"
            f" a thread has {MAX_REGISTERS}: use a smaller TM or TN"
        )
    limit = device().registers_per_block or 65536
    if (held + SPARE_REGISTERS) * threads > limit:
        raise ValueError(
            f"{threads} threads of {held + SPARE_REGISTERS} registers need more than the"
            f" {limit} of a block: use fewer threads, or a smaller TM or TN"
        )


def registers_of(threads: int, values: int) -> int:
    """Return how many registers a thread may have, for Numba's ``max_registers``.

    Parameters
    ----------
    threads : int
        Threads per block.
    values : int
        Values that a thread holds at once in its arrays.

    Returns
    -------
    int
        So many that two blocks fit on an SM: while the threads of one wait at its barrier, those
        of the other compute. Where the values need more, as many as one block leaves.
    """
    held = device().registers_per_sm or 65536
    at_least = values + 16
    fitting = [held // (blocks * threads) // 8 * 8 for blocks in (2, 1)]
    return min(MAX_REGISTERS, next((most for most in fitting if most >= at_least), fitting[-1]))


def tile_of(number: int, across: int, down: int, group: int) -> tuple[int, int]:
    """Row and column of the tile of C that a block takes, as in `kernels.rungs.swizzled`."""
    top = number // (group * across) * group
    height = min(group, down - top)
    within = number % (group * across)
    return top + within % height, within // height

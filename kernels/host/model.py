"""What a kernel is predicted to do, from its text and the sizes alone.

The counts are of the kernel as written and of contiguous row-major arrays, each starting on a
sector of its own; they equal what the microscope counts.
"""

from dataclasses import dataclass
from math import lcm

import numpy as np

__all__ = ["Access", "Model", "TileAccess", "rows_of_warp", "tile_model", "traffic"]

WARP = 32  #: threads
SECTOR = 8  #: float32 elements: 32 bytes, the least that moves


def rows_of_warp(side: int) -> int | None:
    """Return how many rows of a `side` × `side` block one warp covers; None if not whole ones."""
    return min(side, WARP // side) if WARP % side == 0 else None


@dataclass(frozen=True)
class Access:
    """How the threads of a launch load or store one matrix.

    Attributes
    ----------
    rows, cols : int
        Shape of the matrix.
    readers : int
        Threads that ask for each element (or store it).
    sweeps : int or None
        How often the warps go over the whole matrix, one request a piece.
    height, width : int or None
        Rows and columns of the piece that one request covers. None (of the three) where the
        warps of a block are not all alike: then requests and sectors are not predicted.
    """

    rows: int
    cols: int
    readers: int
    sweeps: int | None
    height: int | None
    width: int | None

    @property
    def elements(self) -> int:
        """Elements that threads ask for, each time counted."""
        return self.rows * self.cols * self.readers

    @property
    def requests(self) -> int | None:
        """Instructions of whole warps."""
        if None in (self.sweeps, self.height, self.width):
            return None
        return self.sweeps * -(-self.rows // self.height) * -(-self.cols // self.width)

    @property
    def sectors(self) -> int | None:
        """32-byte sectors that these requests touch, counted for each request."""
        if self.requests is None:
            return None
        # Every lcm rows the pieces lie on the sectors in the same way again.
        period = lcm(SECTOR, self.height)
        whole, rest = divmod(self.rows, period)
        return self.sweeps * (whole * self._sectors_of(period) + self._sectors_of(rest))

    def _sectors_of(self, rows: int) -> int:
        """Sectors of one sweep over the first rows of the matrix."""
        # And so they do every lcm columns.
        period = lcm(SECTOR, self.width)
        whole, rest = divmod(self.cols, period)
        edge = self._sectors_between(rows, self.cols - rest, self.cols)
        return edge + (whole * self._sectors_between(rows, 0, period) if whole else 0)

    def _sectors_between(self, rows: int, left: int, right: int) -> int:
        """The same of the columns from `left` up to, but not including, `right`."""
        col = np.arange(left, right, self.width)
        start = np.arange(rows)[:, None] * self.cols + col
        end = start + np.minimum(self.width, self.cols - col) - 1
        first, last = start // SECTOR, end // SECTOR
        # Two rows of one piece may meet in a sector; it is touched once.
        inside = np.arange(1, rows) % self.height != 0
        shared = (first[1:] == last[:-1])[inside] if rows > 1 else np.empty(0)
        return int((last - first + 1).sum()) - int(shared.sum())


@dataclass(frozen=True, eq=False)
class TileAccess:
    """How blocks of threads load or store one matrix, tile by tile.

    A block takes the tiles of its row or column of tiles one after the other, and always in the
    same way. One inner tile and the three kinds of tile at the edges are counted lane by lane.

    Attributes
    ----------
    rows, cols : int
        Shape of the matrix.
    readers : int
        Blocks that take each tile.
    height, width : int
        Rows and columns of a tile.
    row, col : ndarray of int, shape (requests, 32)
        Element of the tile that each lane of each request starts at.
    vector : int
        Elements that a lane takes: 1, or 4 in one request where the rows allow it (`cols` a
        multiple of 4) and otherwise in four.
    stand_in : bool
        Whether the last row is taken in place of those that a tile has beyond it.
    """

    rows: int
    cols: int
    readers: int
    height: int
    width: int
    row: np.ndarray
    col: np.ndarray
    vector: int = 1
    stand_in: bool = False

    @property
    def elements(self) -> int:
        """Elements that threads ask for, each time counted."""
        rows = -(-self.rows // self.height) * self.height if self.stand_in else self.rows
        return rows * self.cols * self.readers

    @property
    def requests(self) -> int:
        """Instructions of whole warps."""
        return self._count()[0]

    @property
    def sectors(self) -> int:
        """32-byte sectors that these requests touch, counted for each request."""
        return self._count()[1]

    def _count(self) -> tuple[int, int]:
        # Every `down` rows and `across` columns the tiles lie on the sectors in the same way.
        down, across = lcm(SECTOR, self.height), lcm(SECTOR, self.width)
        (many_down, below), (many_across, beside) = (
            divmod(self.rows, down),
            divmod(self.cols, across),
        )
        total = np.zeros(2, np.int64)
        for times, rows, cols in (
            (many_down * many_across, down, across),
            (many_down, down, beside),
            (many_across, below, across),
            (1, below, beside),
        ):
            if times and rows and cols:
                total += times * self._count_of(rows, cols)
        requests, sectors = (self.readers * total).tolist()
        return requests, sectors

    def _count_of(self, rows: int, cols: int) -> np.ndarray:
        """Requests and sectors of the upper left part of the matrix."""
        whole = self.vector > 1 and self.cols % self.vector == 0
        counted = np.zeros(2, np.int64)
        for top in range(0, rows, self.height):
            for left in range(0, cols, self.width):
                for k in range(1 if whole else self.vector):
                    row, col = top + self.row, left + self.col + k
                    if self.stand_in:
                        row = np.minimum(row, rows - 1)
                    inside = (row < rows) & (col < cols)
                    sector = np.where(inside, (row * self.cols + col) // SECTOR, -1)
                    sector.sort(axis=1)
                    distinct = (sector[:, 1:] != sector[:, :-1]).sum() + (sector[:, 0] >= 0).sum()
                    counted += inside.any(axis=1).sum(), distinct
        return counted


@dataclass(frozen=True)
class Model:
    """The predicted work and traffic of one launch, float32 throughout.

    Attributes
    ----------
    flops : int
        Additions and multiplications the result needs; padding is not counted.
    reads, writes : dict of str to Access or TileAccess
        How the kernel loads each input and stores each output.
    """

    flops: int
    reads: dict[str, Access | TileAccess]
    writes: dict[str, Access | TileAccess]

    @property
    def loads(self) -> dict[str, int]:
        """Elements the threads load from global memory, by array."""
        return {name: access.elements for name, access in self.reads.items()}

    @property
    def stores(self) -> dict[str, int]:
        """Elements the threads store to global memory, by array."""
        return {name: access.elements for name, access in self.writes.items()}

    @property
    def requests(self) -> dict[str, int | None]:
        """Warp-wide load and store instructions to global memory, by array."""
        return {name: access.requests for name, access in (self.reads | self.writes).items()}

    @property
    def sectors(self) -> dict[str, int | None]:
        """32-byte sectors that these requests touch, by array."""
        return {name: access.sectors for name, access in (self.reads | self.writes).items()}

    @property
    def bytes_requested(self) -> int:
        """Bytes the threads ask of global memory, every load and store counted."""
        return 4 * (sum(self.loads.values()) + sum(self.stores.values()))

    @property
    def bytes_compulsory(self) -> int:
        """Bytes that must move at least once: every input in, every output out."""
        return 4 * sum(x.rows * x.cols for x in (*self.reads.values(), *self.writes.values()))

    @property
    def intensity(self) -> float:
        """FLOP a byte asked."""
        return self.flops / self.bytes_requested

    @property
    def intensity_compulsory(self) -> float:
        """FLOP a compulsory byte: the most that any kernel can reach."""
        return self.flops / self.bytes_compulsory


def tile_model(
    M: int, N: int, K: int, BM: int, BN: int, BK: int, at_once: tuple[int, int], row, col
) -> Model:
    """Return the model of a product whose blocks load tiles of A and B, element by element.

    Parameters
    ----------
    M, N, K : int
        A is M×K and B is K×N.
    BM, BN, BK : int
        A block computes BM × BN elements of C, BK steps of K at a time.
    at_once : tuple of int
        Elements that a thread loads at once of A, and loads of B or stores of C: 1 or 4.
    row, col : ndarray of int, shape (stores, threads), or two that broadcast to it
        Element of the tile of C that each thread stores, first, by each of its stores.
    """
    down, across = -(-M // BM), -(-N // BN)
    of_A, vector = at_once
    row, col = (x.reshape(-1, WARP) for x in np.broadcast_arrays(row, col))
    return Model(
        flops=2 * M * N * K,
        reads={
            "A": TileAccess(M, K, across, BM, BK, *_in_order(BM, BK, of_A), of_A),
            "B": TileAccess(K, N, down, BK, BN, *_in_order(BK, BN, vector), vector),
        },
        writes={"C": TileAccess(M, N, 1, BM, BN, row, col, vector)},
    )


def traffic(M: int, N: int, K: int, BM: int, BN: int, split: int = 1) -> Model:
    """Return the model of a product whose tiles are not loaded by requests of single threads.

    Parameters
    ----------
    M, N, K, BM, BN : int
        As in `tile_model`.
    split : int
        Results that are stored in C's place: each block computes its own part of K.
    """

    def access(rows, cols, readers):
        return Access(rows, cols, readers=readers, sweeps=None, height=None, width=None)

    reads = {"A": access(M, K, -(-N // BN)), "B": access(K, N, -(-M // BM))}
    return Model(flops=2 * M * N * K, reads=reads, writes={"C": access(M, N, split)})


def _in_order(height: int, width: int, vector: int) -> tuple[np.ndarray, np.ndarray]:
    """Row and column of what each lane of each request loads of a tile."""
    first = np.arange(0, height * width, vector).reshape(-1, WARP)
    return first // width, first % width

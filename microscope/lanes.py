"""Lanes: the threads that run together, and masks that say which of them are active.

Lanes are laid out as (block, z, y, x). `threadIdx.x` has shape (1, 1, 1, x) and stays that small
in every value computed from it alone; only where values meet do the threads of many blocks spread
out into one long vector.
"""

from __future__ import annotations

import numpy as np

from .sites import WARP


class Mask:
    """A set of active lanes, never empty (None is the empty set).

    Attributes
    ----------
    array : ndarray of bool or None
        None if all lanes are active.
    n : int
        Number of active lanes.
    """

    __slots__ = ("array", "n", "_key")

    def __init__(self, array, n: int):
        self.array, self.n = array, n
        self._key = None

    @property
    def key(self):
        """Something hashable that two masks share only if they are equal."""
        if self._key is None and self.array is not None:
            self._key = (self.array.shape, self.array.tobytes())
        return self._key


class Lanes:
    """The threads of some blocks, all of a block or one warp of it.

    Parameters
    ----------
    block : tuple of int
        Block size (x, y, z).
    blocks : ndarray of int, shape (n, 3)
        Block indices (x, y, z).
    grid : tuple of int
        Grid size, to number the blocks.
    warp : int or None
        Only this warp of each block; None for all.
    """

    def __init__(self, block, blocks: np.ndarray, grid, warp: int | None = None):
        bx, by, bz = block
        self.block, self.block_list, self.warp = block, blocks, warp
        threads = bx * by * bz
        self.blocks = len(blocks)
        if warp is None:
            self.shape = (self.blocks, bz, by, bx)
            self.thread = np.arange(threads, dtype=np.int64).reshape(1, bz, by, bx)
            x, y, z = (np.arange(n, dtype=np.int64) for n in (bx, by, bz))
            axes = x, y.reshape(by, 1), z.reshape(bz, 1, 1)
            self.thread_idx = tuple(
                a.reshape((1,) * (4 - a.ndim) + a.shape) if a.size > 1 else np.int64(0)
                for a in axes
            )
        else:
            end = min((warp + 1) * WARP, threads)
            t = np.arange(warp * WARP, end, dtype=np.int64).reshape(1, 1, 1, -1)
            self.shape = (self.blocks, 1, 1, t.size)
            self.thread = t
            self.thread_idx = (t % bx, t // bx % by, t // (bx * by))
        self.count = int(np.prod(self.shape))
        self.per_block = self.count // self.blocks
        self.block_idx = tuple(_column(blocks[:, d]) for d in range(3))
        gx, gy, _ = grid
        self.block_number = (blocks[:, 0] + gx * (blocks[:, 1] + gy * blocks[:, 2])).reshape(-1, 1)
        self.all = Mask(None, self.count)

    def column(self, per_block: np.ndarray) -> np.ndarray:
        """One value a block, shaped to meet lane values."""
        return per_block.reshape(-1, 1, 1, 1)

    def full(self, v) -> np.ndarray:
        """`v` spread over all lanes (a read-only view)."""
        return np.broadcast_to(v, self.shape)

    def mask(self, array, parent: Mask) -> Mask | None:
        """The lanes of a bool array, which must lie within `parent`; None if there are none."""
        n = int(np.count_nonzero(array)) * (self.count // array.size)
        if n == parent.n:
            return parent
        return Mask(array, n) if n else None

    def split(self, condition, m: Mask) -> tuple[Mask | None, Mask | None]:
        """The lanes of `m` where a condition holds, and the others."""
        if not isinstance(condition, np.ndarray):
            return (m, None) if condition else (None, m)
        yes = self.mask(condition if m.array is None else m.array & condition, m)
        if yes is m:
            return m, None
        if yes is None:
            return None, m
        return yes, self.mask(~condition if m.array is None else m.array & ~condition, m)

    def union(self, a: Mask | None, b: Mask | None, parent: Mask) -> Mask | None:
        """Lanes of two masks that share none, both within `parent`."""
        if a is None or b is None:
            return b if a is None else a
        if a.n + b.n == parent.n:
            return parent
        return Mask(a.array | b.array, a.n + b.n)

    def rows(self, v, fill) -> np.ndarray:
        """Lane values as warps: shape (blocks or 1, warps, 32), missing lanes filled."""
        lead = v.shape[0]
        flat = np.broadcast_to(v, (lead, *self.shape[1:])).reshape(lead, self.per_block)
        short = -self.per_block % WARP
        if short:
            flat = np.pad(flat, ((0, 0), (0, short)), constant_values=fill)
        return flat.reshape(lead, -1, WARP)

    def from_rows(self, rows: np.ndarray) -> np.ndarray:
        """The inverse of `rows`."""
        lead = rows.shape[0]
        flat = rows.reshape(lead, -1)[:, : self.per_block]
        return flat.reshape(lead, *self.shape[1:])

    def block_at(self, index: int) -> tuple[int, int, int]:
        """Block index of the i-th block of these lanes."""
        return tuple(int(v) for v in self.block_list[index])

    def coordinates(self, thread: int) -> tuple[int, int, int]:
        """Thread index (x, y, z) of a thread's number in its block."""
        bx, by, _ = self.block
        return int(thread % bx), int(thread // bx % by), int(thread // (bx * by))

    def first(self, chosen: np.ndarray) -> tuple[tuple, tuple, tuple]:
        """Block, thread and position of the first lane of a bool array."""
        position = np.unravel_index(int(np.argmax(self.full(chosen))), self.shape)
        thread = self.thread[(0, *position[1:])]
        return self.block_at(position[0]), self.coordinates(thread), position

    def at(self, v, position):
        """The value of one lane."""
        return self.full(v)[position] if isinstance(v, np.ndarray) else v


def _column(values: np.ndarray):
    """One value a block; a scalar if all blocks agree."""
    if (values == values[0]).all():
        return np.int64(values[0])
    return values.astype(np.int64).reshape(-1, 1, 1, 1)

"""The order of the blocks: which tiles of C are computed at the same time, and what they need."""

from __future__ import annotations

from typing import NamedTuple

import traitlets

from kernels.host import cdiv
from kernels.host.tiles import tile_of
from kernels.lab.widgets.base import Widget, within

LIMITS = {
    "across": (1, 64), "down": (1, 64), "group": (1, 32), "running": (1, 1024),
    "BM": (1, 256), "BN": (1, 256), "K": (1, 65_536),
}  # fmt: skip


class BlockOrder(Widget):
    """The blocks that run at the same time, in row order and in groups of rows.

    Parameters
    ----------
    across, down : int
        Columns and rows of tiles in C, so N / BN and M / BM; 1 to 64 each.
    group : int
        Rows of tiles that the blocks take together, column by column; 1 to 32. 1 is row order.
    running : int
        Blocks that the GPU runs at the same time, 1 to 1024.
    wave : int
        Which of them are shown: the first `running` blocks are wave 0.
    BM, BN : int
        Rows and columns of a tile of C, 1 to 256 each.
    K : int
        Columns of A and rows of B, 1 to 65,536.

    Examples
    --------
    >>> BlockOrder(group=16, running=132)
    BlockOrder(across=64, down=64, group=16, running=132)
    """

    shown = ("across", "down", "group", "running")

    across = traitlets.Int(64).tag(sync=True)
    down = traitlets.Int(64).tag(sync=True)
    group = traitlets.Int(8).tag(sync=True)
    running = traitlets.Int(264).tag(sync=True)
    wave = traitlets.Int(0, min=0).tag(sync=True)
    BM = traitlets.Int(128).tag(sync=True)
    BN = traitlets.Int(128).tag(sync=True)
    K = traitlets.Int(8192).tag(sync=True)

    _allowed = within(**LIMITS)


class Strips(NamedTuple):
    """What the blocks of a wave need: rows of tiles of A, columns of tiles of B, and bytes."""

    A: int
    B: int
    bytes: int
    intensity: float  #: FLOP of these blocks per byte


def needed(
    across: int, down: int, group: int, running: int, wave: int, BM: int, BN: int, K: int
) -> Strips:
    """The strips that the blocks of a wave need, in fp32; parameters as of `BlockOrder`."""
    wave = min(wave, cdiv(across * down, running) - 1)
    numbers = range(wave * running, min((wave + 1) * running, across * down))
    rows, columns = zip(*(tile_of(number, across, down, group) for number in numbers), strict=True)
    A, B = len({*rows}), len({*columns})
    size = 4 * K * (A * BM + B * BN)
    return Strips(A, B, size, len(numbers) * 2 * BM * BN * K / size)

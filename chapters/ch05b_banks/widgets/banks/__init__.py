"""Which bank of shared memory each lane of a warp wants, and how often the warp has to ask."""

from __future__ import annotations

from typing import Any

import traitlets

from kernels.lab.widgets.base import Widget, within

PAD_LIMIT = 8
STRIDE_LIMIT = 64


class Banks(Widget):
    """One request of a warp to shared memory, sorted into banks and wavefronts.

    The warp is the first of a block of `side` × `side` threads, which reads a tile of as many
    words; or its 32 lanes lie a stride apart.

    Parameters
    ----------
    access : {"row", "column", "broadcast", "stride"}
        Whether lane (tx, ty) wants ``s[ty, tx]``, ``s[tx, ty]`` or ``s[ty, 0]`` of the tile, or
        lane i wants word ``stride * i``.
    side : {8, 16, 32}
        Rows and columns of the tile, and of the block.
    pad : int
        Words by which a row of the tile is longer than what is used of it; 0 to 8.
    swizzle : bool
        Whether column c of row r lies in column ``c ^ r``.
    stride : int
        In words; 0 to 64.
    lane : int
        The lane that is pointed out.

    Examples
    --------
    >>> Banks(access="column", pad=1)
    Banks(access='column', side=32, pad=1, swizzle=False, stride=2)
    """

    shown = ("access", "side", "pad", "swizzle", "stride")

    access = traitlets.Enum(["row", "column", "broadcast", "stride"], "column").tag(sync=True)
    side = traitlets.Enum([8, 16, 32], 32).tag(sync=True)
    pad = traitlets.Int(0).tag(sync=True)
    swizzle = traitlets.Bool(False).tag(sync=True)
    stride = traitlets.Int(2).tag(sync=True)
    lane = traitlets.Int(5).tag(sync=True)

    _allowed = within(pad=(0, PAD_LIMIT), stride=(0, STRIDE_LIMIT), lane=(0, 31))


def words(access: str, side: int, pad: int, swizzle: bool, stride: int, **others: Any) -> list[int]:
    """The word that each of the 32 lanes wants; parameters as of `Banks`, others are ignored."""
    if access == "stride":
        return [stride * lane for lane in range(32)]
    wanted = []
    for lane in range(32):
        tx, ty = lane % side, lane // side
        row, col = {"row": (ty, tx), "column": (tx, ty), "broadcast": (ty, 0)}[access]
        wanted.append(row * (side + pad) + (col ^ row if swizzle else col))
    return wanted

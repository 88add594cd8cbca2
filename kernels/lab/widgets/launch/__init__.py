"""Which thread adds which elements of two vectors, and which threads and lanes are idle."""

from __future__ import annotations

import traitlets

from kernels.lab.widgets.base import Widget, within

ELEMENT_LIMIT = 100_000
BLOCK_LIMIT = 1024


class Launch(Widget):
    """The threads of a vector add.

    Parameters
    ----------
    n : int
        Elements of the vectors, 1 to 100,000.
    block : int
        Threads a block, 1 to 1024; the grid has ``cdiv(n, block)`` blocks.
    guard : bool
        Whether a thread without an element is stopped.
    thread : int
        The thread whose index is written out, counted over the grid.

    Examples
    --------
    >>> Launch(n=50, block=33)
    Launch(n=50, block=33, guard=True)
    """

    shown = ("n", "block", "guard")

    n = traitlets.Int(50).tag(sync=True)
    block = traitlets.Int(32).tag(sync=True)
    guard = traitlets.Bool(True).tag(sync=True)
    thread = traitlets.Int(37).tag(sync=True)

    _allowed = within(n=(1, ELEMENT_LIMIT), block=(1, BLOCK_LIMIT))

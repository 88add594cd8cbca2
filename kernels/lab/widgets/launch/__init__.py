"""Which thread adds which elements of two vectors, and which threads and lanes are idle."""

from __future__ import annotations

import traitlets

from kernels.lab.widgets.base import Widget

ELEMENT_LIMIT = 100_000
BLOCK_LIMIT = 1024


class Launch(Widget):
    """The threads of a vector add.

    Parameters
    ----------
    n : int
        Elements of the vectors, 1 to 100 000.
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

    @traitlets.validate("n", "block")
    def _allowed(self, proposal: dict) -> int:
        name, value = proposal["trait"].name, proposal["value"]
        limit = ELEMENT_LIMIT if name == "n" else BLOCK_LIMIT
        if not 1 <= value <= limit:
            raise traitlets.TraitError(f"{name} is {value}: use 1 to {limit}")
        return value

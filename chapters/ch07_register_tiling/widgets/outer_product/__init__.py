"""A thread tile, step by step: a column of A times a row of B, added to sums in registers."""

from __future__ import annotations

import traitlets

from kernels.lab.widgets.base import Widget, within

LARGEST = 8  #: rows and columns of a thread tile that the picture can hold
STEPS = 6  #: of k, in the picture


class OuterProduct(Widget):
    """The sums of one thread of a register-tiled kernel.

    A step reads TM elements of A and TN of B from shared memory into registers, and adds their
    TM·TN products to the sums.

    Parameters
    ----------
    TM, TN : int
        Rows and columns of the thread tile, 1 to 8 each.
    step : int
        Steps of k that are done, 0 to 6.

    Attributes
    ----------
    A, B : list of list of int
        The numbers of the picture: 8×6 and 6×8, of which TM rows and TN columns are used.

    Examples
    --------
    >>> OuterProduct(TM=4, step=2)
    OuterProduct(TM=4, TN=8, step=2)
    """

    shown = ("TM", "TN", "step")

    TM = traitlets.Int(LARGEST).tag(sync=True)
    TN = traitlets.Int(LARGEST).tag(sync=True)
    step = traitlets.Int(1).tag(sync=True)
    A = traitlets.List(
        [[(i + 3 * k + 2 * i * k) % 4 + 1 for k in range(STEPS)] for i in range(LARGEST)]
    ).tag(sync=True)
    B = traitlets.List(
        [[(k + j + k * j + 1) % 4 + 1 for j in range(LARGEST)] for k in range(STEPS)]
    ).tag(sync=True)

    _allowed = within(TM=(1, LARGEST), TN=(1, LARGEST), step=(0, STEPS))

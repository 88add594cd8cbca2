"""Which elements of A and B the naive and the swapped kernel load, and what moves for it."""

from __future__ import annotations

import traitlets

from kernels.lab.widgets.base import Widget, within

SIZE_LIMIT = 64


class Access(Widget):
    """The loads of one thread, warp or block, or of the grid, of two kernels side by side.

    Its counts are those of the microscope: of the kernels as written, every array starting on a
    sector of its own.

    Parameters
    ----------
    kernel : {"naive", "swapped"}
    side : {8, 16, 32}
        Side of the square block.
    M, N, K : int
        A is M×K, B is K×N; 1 to 64 each.
    row, col : int
        The element of C whose owner is looked at.
    k : int
        The step of the inner loop.
    scope : {"thread", "warp", "block", "grid"}
        Whose loads are shown, the owner's or those of all who are with it.
    all_steps : bool
        Whether the loads of all steps are counted, or those of step `k`.

    Examples
    --------
    >>> Access(kernel="swapped", side=16)
    Access(kernel='swapped', side=16, M=32, N=40, K=24)
    """

    shown = ("kernel", "side", "M", "N", "K")

    kernel = traitlets.Enum(["naive", "swapped"], "naive").tag(sync=True)
    side = traitlets.Enum([8, 16, 32], 32).tag(sync=True)
    M = traitlets.Int(32).tag(sync=True)
    N = traitlets.Int(40).tag(sync=True)
    K = traitlets.Int(24).tag(sync=True)
    row = traitlets.Int(5).tag(sync=True)
    col = traitlets.Int(3).tag(sync=True)
    k = traitlets.Int(7).tag(sync=True)
    scope = traitlets.Enum(["thread", "warp", "block", "grid"], "warp").tag(sync=True)
    all_steps = traitlets.Bool(False).tag(sync=True)

    _allowed = within(M=(1, SIZE_LIMIT), N=(1, SIZE_LIMIT), K=(1, SIZE_LIMIT))

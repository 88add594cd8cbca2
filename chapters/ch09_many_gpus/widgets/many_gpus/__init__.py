"""A product on several GPUs, step by step: which tiles each has, what moves, and the time."""

from __future__ import annotations

import traitlets

from kernels.distributed.algorithms import schedule
from kernels.distributed.cost import Machine, Prediction, predict
from kernels.distributed.grid import Grid
from kernels.distributed.schedule import Schedule
from kernels.lab.widgets.base import Widget, within

LIMITS = {
    "p": (1, 4), "q": (1, 4), "size": (512, 65_536), "pieces": (1, 4), "step": (0, 63),
    "link": (5, 1000), "flops": (5, 2000),
}  # fmt: skip


class ManyGpus(Widget):
    """Square matrices on p × q GPUs.

    Parameters
    ----------
    algorithm : {"summa", "rows", "ring"}
        As in `kernels.distributed.algorithms`; rows and ring put all GPUs in one row.
    p, q : int
        Rows and columns of the grid of GPUs, 1 to 4 each.
    size : int
        Rows and columns of A, B and C, 512 to 65,536.
    pieces : int
        Into how many parts SUMMA cuts each panel, 1 to 4.
    link : float
        GB/s that a GPU sends, and receives at the same time; 5 to 1000.
    flops : float
        TFLOP/s of each GPU, 5 to 2000.
    itemsize : {2, 4}
        Bytes of an element of A and B.
    step : int
        The step that is shown, from 0.

    Examples
    --------
    >>> ManyGpus(algorithm="ring", p=4, q=1)
    ManyGpus(algorithm='ring', p=4, q=1, size=16384, link=400.0, flops=50.0)
    """

    shown = ("algorithm", "p", "q", "size", "link", "flops")

    algorithm = traitlets.Enum(("summa", "rows", "ring"), "summa").tag(sync=True)
    p = traitlets.Int(2).tag(sync=True)
    q = traitlets.Int(2).tag(sync=True)
    size = traitlets.Int(16_384).tag(sync=True)
    pieces = traitlets.Int(1).tag(sync=True)
    link = traitlets.Float(400.0).tag(sync=True)
    flops = traitlets.Float(50.0).tag(sync=True)
    itemsize = traitlets.Enum((2, 4), 4).tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)

    _allowed = within(**LIMITS)


def planned(algorithm: str, p: int, q: int, size: int, pieces: int) -> Schedule:
    """The schedule that the widget shows."""
    in_grid = algorithm == "summa"
    grid = Grid(p, q) if in_grid else Grid(p * q)
    return schedule(algorithm, size, size, size, grid, pieces if in_grid else 1)


def times(
    algorithm: str, p: int, q: int, size: int, pieces: int,
    link: float, flops: float, itemsize: int,
) -> Prediction:  # fmt: skip
    """The times that the widget shows; parameters as of `ManyGpus`."""
    plan = planned(algorithm, p, q, size, pieces)
    return predict(plan, Machine(flops * 1e12, link * 1e9), itemsize)

"""How the error of a product grows with the length of its sums, by number format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from kernels.lab.plots.palette import PALETTE
from kernels.lab.plots.picture import figure

#: A line and a role of `PALETTE` for each curve, in order.
LOOKS = (("o-", "library"), ("s--", "C"), ("^-.", "B"), ("D:", "A"), ("v-", "thread"))


def error_growth(lengths: Sequence[int], errors: Mapping[str, Sequence[float]]) -> Figure:
    """One curve per way to multiply, on logarithmic axes.

    Parameters
    ----------
    lengths : sequence of int
        Products in each sum, K.
    errors : dict of str to sequence of float
        By what a curve is called: the largest relative error at each K. At most five.
    """
    fig, ax = figure(4.6, 3.4)
    looks = LOOKS[: len(errors)]
    for (name, found), (line, role) in zip(errors.items(), looks, strict=True):
        ax.loglog(lengths, found, line, color=PALETTE[role], label=name, markersize=5)
    ax.set_xscale("log", base=2)
    ax.set_xticks(lengths, lengths)
    ax.set_xlabel("K: products in each sum")
    ax.set_ylabel("largest relative error")
    ax.grid(True, which="major")
    fig.legend(fontsize=8.5, ncols=3, loc="outside upper center")
    return fig

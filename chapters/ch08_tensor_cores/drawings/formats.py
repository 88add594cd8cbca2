"""The bits of number formats: sign, exponent and fraction, one format below the other."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from kernels.lab.plots.drawings import canvas, cells

#: What each group of bits is, and its colour: a key of `PALETTE`.
ROLES = {"sign": "library", "exponent": "B", "fraction": "A"}
PITCH = 2.4  # from one format to the next, in bits


def bit_formats(formats: Mapping[str, tuple[int, int]]) -> Figure:
    """One row of boxes per format, aligned where the fraction begins.

    Parameters
    ----------
    formats : dict of str to (int, int)
        By the format's name: its bits of exponent and of fraction. Each has a sign besides.
    """
    start = 1 + max(exponent for exponent, _ in formats.values())
    end = start + max(fraction for _, fraction in formats.values())
    bottom = PITCH * len(formats)
    fig, ax = canvas(4.6, 0.125 * (bottom + 5), (-5.2, end + 0.4, bottom + 1.4, -2.6))
    for place, (name, (exponent, fraction)) in enumerate(formats.items()):
        y = PITCH * place
        ax.text(-0.6, y + 0.7, name, ha="right", va="center", fontsize=9, weight="bold")
        groups = (("sign", start - exponent - 1, 1), ("exponent", start - exponent, exponent),
                  ("fraction", start, fraction))  # fmt: skip
        for what, x, bits in groups:
            cells(ax, 1, bits, at=(x, y), role=ROLES[what], tint=0.25)
            if what != "sign":
                ax.text(x + bits / 2, y + 1.08, str(bits), ha="center", va="top", fontsize=8)
    for what, x in (("sign", 0), ("exponent", start / 2 + 1.6), ("fraction", start + 11)):
        ax.text(x, -1.0, what, fontsize=9, ha="left" if what == "sign" else "center")
    return fig

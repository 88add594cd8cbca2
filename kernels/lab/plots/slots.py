"""How many blocks an SM holds: what each of four resources would allow, and what runs."""

from __future__ import annotations

from matplotlib.figure import Figure

from kernels.lab.plots.drawings import boxes, canvas
from kernels.lab.plots.palette import LIBRARY, THREAD, TILE
from kernels.measure.occupancy import Occupancy

#: What a limit of the calculator is called here.
NAMES = {"threads": "warps", "blocks": "blocks"}
WIDE = 20.0


def slots(fits: Occupancy) -> Figure:
    """A strip per resource, cut into the blocks that it would allow; those that run are filled.

    Parameters
    ----------
    fits : Occupancy
        From `kernels.lab.occupancy`. The strip of its limiter is filled to the end.
    """
    fig, ax = canvas(4.6, 0.3 * len(fits.limits) + 0.05, (-9, WIDE + 5, 2.2 * len(fits.limits), 0))
    for place, (name, allowed) in enumerate(fits.limits.items()):
        y = 2.2 * place + 0.3
        each = WIDE / allowed
        frames = [(n * each + 0.06, y, each - 0.12, 1.5) for n in range(allowed)]
        decides = name == fits.limiter
        boxes(ax, frames[fits.blocks :], LIBRARY, tint=0)
        boxes(ax, frames[: fits.blocks], THREAD if decides else TILE, tint=0.4,
              hatch="////" if decides else "")  # fmt: skip
        weight = "bold" if decides else "normal"
        ax.text(-0.5, y + 0.75, NAMES.get(name, name), ha="right", va="center", fontsize=9,
                weight=weight)  # fmt: skip
        ax.text(WIDE + 0.5, y + 0.75, f"{fits.blocks} of {allowed}", va="center", fontsize=9,
                weight=weight)  # fmt: skip
    return fig

"""What the caches absorb: bytes that threads request, and what of them L2 and DRAM read."""

from __future__ import annotations

from matplotlib.figure import Figure

from kernels.basics.units import quantity
from kernels.lab.plots.charts import empty
from kernels.lab.plots.palette import INK, MEMORY
from kernels.lab.plots.picture import figure
from kernels.records import Record


def absorbed(record: Record, rung: str, engine: str, **options: int) -> Figure:
    """Bytes read for one product at three levels, as bars on one linear scale.

    Parameters
    ----------
    record : Record
        With a profile of the rung; without one, the picture says so.
    rung : str
        A rung whose threads each load two float32 per multiplication.
    engine : {"numba", "cpp"}
        Which of its twins.
    **options
        Of the rung, such as ``block=32``.

    Returns
    -------
    Figure
        From top to bottom: requested by threads, read from L2, read from DRAM.
    """
    where = {"rung": rung, "engine": engine, **options}
    rows = record.rows("profiles", **where) if "profiles" in record.tables else []
    if not rows or not {"l2_read_bytes", "dram_read_bytes"} <= rows[0].keys():
        return empty("This record holds no such counters.")
    row = rows[0]
    levels = {
        "requested by threads": ("L1", 2 * 4 * row.M * row.N * row.K),
        "read from L2": ("L2", row.l2_read_bytes),
        "read from DRAM": ("global", row.dram_read_bytes),
    }
    fig, ax = figure(4.6, 2.4)
    ax.set_axis_off()
    whole = max(size for _, size in levels.values())
    for place, (name, (level, size)) in enumerate(levels.items()):
        ax.barh(place, size, 0.42, color=MEMORY[level], ec=INK, lw=0.8)
        ax.text(0, place - 0.28, f"{name}: {quantity(size, 'B')}", fontsize=9, va="bottom")
    ax.set(xlim=(-0.005 * whole, 1.005 * whole), ylim=(len(levels) - 0.6, -0.75))
    return fig

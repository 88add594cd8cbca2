"""Which lane of a warp holds which element of the matrices that an ``mma`` multiplies."""

from __future__ import annotations

from matplotlib.figure import Figure

from kernels.lab.plots.drawings import canvas, cells, mark

#: Rows, columns and upper left corner of each matrix of m16n8k16: A left of C, B above it.
PLACES = {"A": (16, 16, (0, 18)), "B": (16, 8, (18, 0)), "C": (16, 8, (18, 18))}


def holder(matrix: str, row: int, col: int) -> int:
    """The lane that holds an element of A, B or C of m16n8k16."""
    if matrix == "B":
        row, col = col, row
    return row % 8 * 4 + col % 8 // 2


def fragments(lane: int) -> Figure:
    """A, B and C of m16n8k16 with the holder's number in each cell; one lane's cells are marked.

    Parameters
    ----------
    lane : int
        0 to 31.
    """
    if not 0 <= lane < 32:
        raise ValueError(f"lane {lane}: a warp has the lanes 0 to 31")
    fig, ax = canvas(4.6, 6.3, (-0.4, 26.4, 34.4, -1.8))
    for name, (rows, columns, at) in PLACES.items():
        cells(ax, rows, columns, at=at, role=name, title=f"{name}: {rows} × {columns}")
        for row in range(rows):
            for col in range(columns):
                number = holder(name, row, col)
                if number == lane:
                    mark(ax, (row, row + 1), (col, col + 1), at=at, role="thread")
                ax.text(at[0] + col + 0.5, at[1] + row + 0.53, str(number), fontsize=7.5,
                        ha="center", va="center")  # fmt: skip
    return fig

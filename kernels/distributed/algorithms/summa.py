"""SUMMA: blocks of A, B and C on a grid of p × q GPUs; panels of A and B move.

K is cut into panels. Columns of A and the same rows of B make up a panel; the ranks that hold it
send its part of A along their row of the grid and its part of B along their column, and every rank
adds the product of both to its block of C. Here each rank begins with another panel, so that in no
step a rank has to send one tile to many. On a square grid of P ranks each receives about 2/√P of a
matrix, where rows alone take a whole one.

Source: R. A. van de Geijn and J. Watts, *SUMMA: scalable universal matrix multiplication
algorithm*, Concurrency: Practice and Experience 9(4), 1997. The order of the panels is that of
L. E. Cannon, *A cellular computer to implement the Kalman filter algorithm*, 1969.
"""

from math import lcm

from kernels.distributed.grid import Grid, cut
from kernels.distributed.schedule import Move, Product, Schedule, Step, Tile


def summa(M: int, N: int, K: int, grid: Grid, pieces: int = 1) -> Schedule:
    """Blocks on p × q ranks, K cut into panels: the least number that fits, times `pieces`."""
    p, q = grid
    rows, cols = cut(M, p, "M"), cut(N, q, "N")
    panels = cut(K, lcm(p, q) * pieces, "K")
    holds: list[list[Tile]] = [[] for _ in range(grid.size)]
    steps = []
    for step in range(len(panels)):
        fetches, products = [], []
        for rank in range(grid.size):
            i, j = grid.place(rank)
            k = (step + i * len(panels) // p + j * len(panels) // q) % len(panels)
            a, b = Tile("A", rows[i], panels[k]), Tile("B", panels[k], cols[j])
            products.append(Product(rank, a, b))
            # Whose columns of A, and whose rows of B, the panel belongs to.
            column, row = k * q // len(panels), k * p // len(panels)
            for tile, owner in ((a, grid.rank(i, column)), (b, grid.rank(row, j))):
                if owner == rank:
                    holds[rank].append(tile)
                else:
                    fetches.append(Move(tile, owner, rank))
        steps.append(Step(tuple(fetches), tuple(products)))
    places = map(grid.place, range(grid.size))
    results = tuple(Tile("C", rows[i], cols[j]) for i, j in places)
    return Schedule("summa", grid, M, N, K, tuple(map(tuple, holds)), results, tuple(steps))

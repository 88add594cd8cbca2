"""SUMMA: blocks of A, B and C on a grid of p × q GPUs; panels of A and B move.

In step k, the ranks that hold panel k of A (some of its columns) send it along their row of the
grid, those that hold panel k of B (the same rows of B) send it along their column, and every rank
adds the product of both to its block of C. On a square grid of P ranks each receives about
2/√P of a matrix, where rows alone take a whole one.

Source: R. A. van de Geijn and J. Watts, *SUMMA: scalable universal matrix multiplication
algorithm*, Concurrency: Practice and Experience 9(4), 1997.
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
    for k, panel in enumerate(panels):
        # Whose columns of A, and whose rows of B, the panel belongs to.
        column, row = k * q // len(panels), k * p // len(panels)
        fetches, products = [], []
        for rank in range(grid.size):
            i, j = grid.place(rank)
            a, b = Tile("A", rows[i], panel), Tile("B", panel, cols[j])
            products.append(Product(rank, a, b))
            for tile, owner in ((a, grid.rank(i, column)), (b, grid.rank(row, j))):
                if owner == rank:
                    holds[rank].append(tile)
                else:
                    fetches.append(Move(tile, owner, rank))
        steps.append(Step(tuple(fetches), tuple(products)))
    places = map(grid.place, range(grid.size))
    results = tuple(Tile("C", rows[i], cols[j]) for i, j in places)
    return Schedule("summa", grid, M, N, K, tuple(map(tuple, holds)), results, tuple(steps))

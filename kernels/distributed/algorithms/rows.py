"""Rows of A and C on each GPU, and columns of B: B moves, one owner's columns after another.

Rank r multiplies its rows of A by its own columns of B while those of rank r + 1 arrive, then by
these while those of rank r + 2 arrive. In every step each rank sends to one rank and receives from
one, so that all links are in use. Nobody starts with more than a part of B, and two parts at a
time are enough: the one that is multiplied by, and the one that arrives.
"""

from kernels.distributed.grid import Grid, Span, cut
from kernels.distributed.schedule import Move, Product, Schedule, Step, Tile


def rows(M: int, N: int, K: int, grid: Grid, pieces: int = 1) -> Schedule:
    """Rows of A stay, columns of B come straight from their owner, each part in `pieces`."""
    ranks, ks = range(grid.size), Span(0, K)
    A = [Tile("A", span, ks) for span in cut(M, grid.size, "M")]
    B = [Tile("B", ks, span) for span in cut(N, grid.size * pieces, "N")]
    steps = []
    for ahead in ranks:
        for piece in range(pieces):
            wanted = {r: ((r + ahead) % grid.size, piece) for r in ranks}
            tiles = {r: B[owner * pieces + piece] for r, (owner, piece) in wanted.items()}
            fetches = [Move(tiles[r], wanted[r][0], r) for r in ranks if ahead]
            steps.append(Step(tuple(fetches), tuple(Product(r, A[r], tiles[r]) for r in ranks)))
    holds = [(A[r], *B[r * pieces : (r + 1) * pieces]) for r in ranks]
    results = [Tile("C", A[r].rows, Span(0, N)) for r in ranks]
    return Schedule("rows", grid, M, N, K, tuple(holds), tuple(results), tuple(steps))

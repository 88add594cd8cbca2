"""K cut over the GPUs: each has columns of A and the same rows of B; partial sums of C move.

In step s rank r computes its share of the block of C that belongs to rank r + 1 + s, and sends it
there to be added. A and B never move, so this is the way where K is much longer than M and N; what
moves is C, in float32, whatever A and B are.
"""

from kernels.distributed.grid import Grid, Span, cut
from kernels.distributed.schedule import Move, Product, Schedule, Step, Tile


def split_k(M: int, N: int, K: int, grid: Grid) -> Schedule:
    """Columns of A and rows of B stay, shares of C go to the rank whose rows they are."""
    p = grid.size
    rows, parts = cut(M, p, "M"), cut(K, p, "K")
    A = [[Tile("A", span, part) for span in rows] for part in parts]
    B = [Tile("B", part, Span(0, N)) for part in parts]
    C = [Tile("C", span, Span(0, N)) for span in rows]
    steps = []
    for step in range(p):
        owner = {r: (r + 1 + step) % p for r in range(p)}
        products = [Product(r, A[r][owner[r]], B[r]) for r in range(p)]
        sums = [Move(C[owner[r]], r, owner[r]) for r in range(p) if owner[r] != r]
        steps.append(Step((), tuple(products), tuple(sums)))
    holds = tuple((*A[r], B[r]) for r in range(p))
    return Schedule("split_k", grid, M, N, K, holds, tuple(C), tuple(steps))

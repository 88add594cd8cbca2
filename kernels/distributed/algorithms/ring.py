"""As `rows`, but B travels round a ring: each rank passes on what its neighbour passed to it.

The same bytes arrive everywhere; they only ever cross the link to one neighbour. That is the way
where GPUs are joined in a chain, or by a network that has no direct path between all of them.
"""

from kernels.distributed.grid import Grid, Span, cut
from kernels.distributed.schedule import Move, Product, Schedule, Step, Tile


def ring(M: int, N: int, K: int, grid: Grid) -> Schedule:
    """Rows of A stay, columns of B go from rank r + 1 to rank r in every step."""
    p, ks = grid.size, Span(0, K)
    A = [Tile("A", span, ks) for span in cut(M, p, "M")]
    B = [Tile("B", ks, span) for span in cut(N, p, "N")]
    steps = []
    for step in range(p):
        passed = [Move(B[(r + step) % p], (r + 1) % p, r) for r in range(p) if step]
        products = [Product(r, A[r], B[(r + step) % p]) for r in range(p)]
        steps.append(Step(tuple(passed), tuple(products)))
    holds = tuple((A[r], B[r]) for r in range(p))
    results = tuple(Tile("C", A[r].rows, Span(0, N)) for r in range(p))
    return Schedule("ring", grid, M, N, K, holds, results, tuple(steps))

"""Rows of A and C on each GPU, all of B on every GPU: nothing moves, B takes p times the memory.

This is what data parallelism does: the rows of A are the batch, and B is the layer's weights.
"""

from kernels.distributed.grid import Grid, Span, cut
from kernels.distributed.schedule import Product, Schedule, Step, Tile


def replicated(M: int, N: int, K: int, grid: Grid) -> Schedule:
    """Rows of A, and a B that every rank has had from the start."""
    B = Tile("B", Span(0, K), Span(0, N))
    A = [Tile("A", span, Span(0, K)) for span in cut(M, grid.size, "M")]
    step = Step((), tuple(Product(r, a, B) for r, a in enumerate(A)))
    results = tuple(Tile("C", a.rows, Span(0, N)) for a in A)
    return Schedule("replicated", grid, M, N, K, tuple((a, B) for a in A), results, (step,))

"""Launches of kernels that multiply matrices, and the wrong products that have a name."""

from collections.abc import Callable, Iterator

import numpy as np

from .arrays import Numbers, cdiv, poisoned, wide
from .exercise import FINE, MULTIPLE, ODD, SQUARE, Suspect, Trial
from .flaws import Flaw

#: Sizes M, N, K that no block divides, K = 33 one more than whole tiles; a square that each
#: divides; and other multiples.
SHAPES = (
    (37, 29, 23, ODD),
    (5, 18, 33, FINE),
    (32, 32, 32, SQUARE),
    (32, 64, 96, MULTIPLE),
)

#: How the sentence on a tile begins that is stored at [tx, ty], or read so.
TURNED = "every tile of"


def product_trials(
    block=(16, 16),
    tile=None,
    arguments: Callable | None = None,
    depth: int | tuple[int, ...] = 16,
    shapes=SHAPES,
    seed: int = 0,
    begin: str = "t * T",
) -> list[Trial]:
    """Launches of a kernel for C = A·B.

    Parameters
    ----------
    block : tuple of int
        Threads (x, y).
    tile : tuple of int, optional
        Elements of C a block owns, along x and y; one a thread if left out.
    arguments : callable, optional
        Takes A and B, returns the arguments before C by name; A and B themselves if left out.
    depth : int or tuple of int
        How far a step along K may go.
    seed : int
        For the numbers of A and B.
    begin : str
        Where along K a step begins, as the exercise writes it.
    """
    return list(_trials(block, tile or block, arguments, depth, shapes, seed, begin))


def _trials(block, tile, arguments, depth, shapes, seed, begin) -> Iterator[Trial]:
    for M, N, K, role in shapes:
        numbers = Numbers(role, seed, M, N, K)
        A, B = numbers(M, K), numbers(K, N)
        given = arguments(A, B) if arguments else {"A": A, "B": B}
        yield Trial(
            f"M, N, K = {M}, {N}, {K}",
            (cdiv(N, tile[0]), cdiv(M, tile[1])),
            block,
            given | {"C": poisoned(M, N)},
            {"C": wide(A) @ wide(B)},
            numbers.bounds("C", K, abs(A) @ abs(B)),
            suspects=_suspects(A, B, depth, begin if tile == block == (depth, depth) else ""),
            role=role,
        )


def _suspects(A, B, depth, begin):
    def suspects() -> Iterator[Suspect]:
        for step in (depth,) if isinstance(depth, int) else depth:
            for kind, sentence, product in wrong_products(A, B, step):
                if product.shape == (A.shape[0], B.shape[1]):
                    at = "" if kind is Flaw.TRANSPOSED else "sum"
                    at = "turned" if sentence.startswith(TURNED) else at
                    yield Suspect(kind, sentence, product, at)
        if begin:
            for kind, at, sentence, product in wrong_tiles(A, B, depth, begin):
                yield Suspect(kind, sentence, product, at)

    return suspects


def wrong_products(A, B, depth: int) -> Iterator[tuple[Flaw, str, np.ndarray]]:
    """Products that a known mistake makes, with its kind and what to tell."""
    K = A.shape[1]
    transposed = "this is the transpose of A·B: row and col are swapped"
    yield Flaw.TRANSPOSED, transposed, (A @ B).T
    for left, right, sentence in (
        (B, A, "this is B·A: the factors are swapped"),
        (A, B.T, "this is A·Bᵀ: rows of B were read as columns"),
        (A.T, B, "this is Aᵀ·B: columns of A were read as rows"),
        (A.T, B.T, "this is Aᵀ·Bᵀ: row and col are swapped in both loads"),
        (B.T, A, "this is Bᵀ·A: the factors are swapped, and an index in one of them"),
        (B, A.T, "this is B·Aᵀ: the factors are swapped, and an index in one of them"),
    ):
        if left.shape[1] == right.shape[0]:
            yield Flaw.SWAPPED, sentence, left @ right
    for kind, sentence, kept in (*_parts_of_steps(K, depth), *_parts(K)):
        if 0 < kept.sum() < K:
            yield kind, sentence, A[:, kept] @ B[kept]
    steps = cdiv(K, depth)
    if steps > 1 and depth > 1:
        often = f"every element is exactly {steps} times too large: each step adds all of K"
        yield Flaw.WRONG, often, steps * (A @ B)
    if depth > 1:
        place = "lies transposed: row ty, column tx belongs at [ty, tx]"
        yield Flaw.SWAPPED, f"{TURNED} A {place}", _turned(A, depth)[: len(A), :K] @ B
        yield Flaw.SWAPPED, f"{TURNED} B {place}", A @ _turned(B, depth)[:K, : B.shape[1]]
    yield Flaw.WRONG, "every element has the wrong sign", -(A @ B)
    yield Flaw.WRONG, "every element is one too large: a sum starts at 0", A @ B + 1


def wrong_tiles(A, B, T: int, begin: str) -> Iterator[tuple[Flaw, str, str, np.ndarray]]:
    """Products of a kernel with square tiles in shared memory that takes a wrong index somewhere.

    Each is what the threads compute with one mistake, elements beyond the edges being zero, and a
    step along K beginning at `begin`: its kind, where it is (`Suspect.at`), a sentence on it, the
    product.
    """
    (M, K), N = A.shape, B.shape[1]
    by, bx, t, ty, tx = np.ogrid[: cdiv(M, T), : cdiv(N, T), : cdiv(K, T), :T, :T]
    row, col, ka, kb = by * T + ty, bx * T + tx, t * T + tx, t * T + ty
    y, x = np.indices((T, T))
    swapped, same = Flaw.SWAPPED, Flaw.SAME_TILE

    def product(a=(row, ka), b=(kb, col), stored="[ty, tx]", read=(y, x)):
        """What threads load of A and B, where they store it, which row and column they multiply."""
        whole = (len(by), bx.size, t.size, T, T)
        sA, sB = (np.broadcast_to(_elements(*each), whole) for each in ((A, *a), (B, *b)))
        if stored == "[tx, ty]":
            sA, sB = sA.swapaxes(3, 4), sB.swapaxes(3, 4)
        sums = (sA @ sB).sum(axis=2)[:, :, read[0], read[1]]
        return sums.swapaxes(1, 2).reshape(len(by) * T, bx.size * T)[:M, :N]

    across, down = f"column {begin} + tx of A", f"row {begin} + ty of B"
    own_row, own_column = "row ty of sA is this thread's", "column tx of sB is this thread's"
    first = f"every step loads the first tile of {{}}: where is {begin} in the index?"
    crossed = product((row, kb), (ka, col), "[tx, ty]", (x, y))
    yield swapped, "A", "x and y are swapped: tx goes with col, ty with row", crossed
    turned = product(stored="[tx, ty]")
    place = "row ty, column tx belongs at [ty, tx]"
    yield swapped, "turned", f"both tiles lie transposed: {place}", turned
    turned = product(stored="[tx, ty]", read=(x, y))
    yield swapped, "turned", f"both tiles swap tx and ty, stored and read: {place}", turned
    own = "row is this thread's in A: ty is its row in the first block of rows alone"
    yield swapped, "A", own, product(a=(ty, ka))
    own = "col is this thread's in B: tx is its column in the first block of columns alone"
    yield swapped, "B", own, product(b=(kb, tx))
    yield swapped, "sum", f"{own_row}, and row tx is read", product(read=(x, x))
    yield swapped, "sum", f"{own_column}, and column ty is read", product(read=(y, y))
    both = f"{own_row}, and {own_column}: tx and ty are swapped there"
    yield swapped, "sum", both, product(read=(x, y))
    yield swapped, "A", f"A is loaded by ty: thread (tx, ty) loads {across}", product(a=(row, kb))
    yield swapped, "B", f"B is loaded by tx: thread (tx, ty) loads {down}", product(b=(ka, col))
    both = f"both loads swap tx and ty: it's {across}, {down}"
    yield swapped, "A", both, product((row, kb), (ka, col))
    yield same, "A", first.format("A"), product(a=(row, tx))
    yield same, "B", first.format("B"), product(b=(ty, col))
    yield same, "A", first.format("both"), product((row, tx), (ty, col))
    late = f"step t begins at {begin}, not at t"
    yield same, "A", late, product((row, t + tx), (t + ty, col))
    if M == N:
        other = product((bx * T + tx, ka), (kb, by * T + ty)).T
        yield swapped, "A", "row and col are swapped: x is the column, y the row", other


def _elements(X, row, col) -> np.ndarray:
    """The elements of X at some rows and columns; zero beyond its edges."""
    inside = (row < X.shape[0]) & (col < X.shape[1])
    return np.where(inside, X[np.minimum(row, X.shape[0] - 1), np.minimum(col, X.shape[1] - 1)], 0)


def _turned(X, side: int) -> np.ndarray:
    """X with each of its square tiles transposed, filled up with zeros to whole tiles."""
    down, across = (cdiv(n, side) for n in X.shape)
    padded = np.zeros((down * side, across * side), X.dtype)
    padded[: X.shape[0], : X.shape[1]] = X
    tiles = padded.reshape(down, side, across, side).transpose(0, 3, 2, 1)
    return tiles.reshape(padded.shape)


def _parts(K: int):
    """Dot products that lack a part, whatever the step: kind, sentence, the products kept."""
    k = np.arange(K)
    return (
        (Flaw.LOST_SUM, "only the last product is there: the sum is set where it should be added"
         " to", k == K - 1),
        (Flaw.WRONG, "the first product is missing: a loop over k begins at 0", k > 0),
        (Flaw.WRONG, "the last product is missing: range(K) ends at K - 1 by itself", k < K - 1),
    )  # fmt: skip


def _parts_of_steps(K: int, depth: int):
    """The same, where the loop over K goes in steps of `depth`."""
    k = np.arange(K)
    if depth == 1:
        return ()
    whole_steps, before_the_last = K // depth * depth, (cdiv(K, depth) - 1) * depth
    return (
        (Flaw.DROPPED_TILE, f"the last {K - whole_steps} of K = {K} products are missing: how many"
         " steps cover K when the tile does not divide it?", k < whole_steps),
        (Flaw.DROPPED_TILE, f"only the first {depth} of K = {K} products are there: where is the"
         " loop over the tiles?", k < depth),
        (Flaw.DROPPED_TILE, f"the first {depth} products are missing: at which tile does the loop"
         " begin?", k >= depth),
        (Flaw.DROPPED_TILE, "the last step is missing: how many steps cover K?",
         k < before_the_last),
        (Flaw.LOST_SUM, "only the products of the last step are there: the sum is set where it"
         " should be added to", k >= before_the_last),
        (Flaw.LOST_SUM, "only the last product of each step is there: where does the sum start"
         " again?", k % depth == depth - 1),
        (Flaw.WRONG, "the last product of every step is missing: range(T) ends at T - 1 by itself",
         k % depth != depth - 1),
        (Flaw.WRONG, "the first product of every step is missing", k % depth != 0),
    )  # fmt: skip

"""Decide whether a product is right, and say what a wrong one looks like."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from kernels.backend import cupy
from kernels.host import half

__all__ = [
    "SHAPES",
    "Verdict",
    "WrongResult",
    "check",
    "inputs",
    "numbers",
    "operands",
    "poisoned",
    "tolerance",
    "verify",
]

#: Shapes (M, N, K) that no tile of 8, 16 or 32 divides, and one that all do.
SHAPES = ((1, 1, 1), (17, 5, 31), (33, 47, 61), (64, 96, 128), (70, 101, 53))


class WrongResult(AssertionError):
    """A product that differs from the right one by more than rounding can explain."""


@dataclass(frozen=True)
class Verdict:
    """A product that is right.

    Attributes
    ----------
    M, N, K : int
        Sizes of the product.
    worst : float
        The largest error of an element, as a share of the tolerance of that element.
    dtype : str
        Number format of the inputs.
    """

    M: int
    N: int
    K: int
    worst: float
    dtype: str = "float32"

    def __repr__(self):
        return (
            f"right: all {self.M} × {self.N} elements are within the {self.dtype} tolerance"
            f" for K = {self.K}"
        )


def inputs(
    M: int, N: int, K: int, seed: int = 0, dtype: str = "float32"
) -> tuple[np.ndarray, np.ndarray]:
    """Return A (M×K) and B (K×N): random, so that no symmetry can hide a wrong index.

    `dtype` is "float32", "float16", "bfloat16" or "e4m3"; the last two come as their bits, in
    uint16 and uint8.
    """
    rng = np.random.default_rng(seed)
    return tuple(half.cast(numbers(rng, s, dtype), dtype) for s in ((M, K), (K, N)))


def numbers(rng: np.random.Generator, shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
    """Return random numbers, in float32, that suit a check of products in `dtype`.

    Of e4m3, tensor cores keep 14 bits of a sum: whole numbers from -4 to 4 need no more.
    """
    if dtype == half.E4M3:
        return rng.integers(-4, 5, shape, np.int8).astype(np.float32)
    return rng.standard_normal(shape, dtype=np.float32)


def operands(M: int, N: int, K: int, seed: int = 0, dtype: str = "float32") -> tuple:
    """Return `inputs` as CuPy arrays that kernels take without a copy: B of e4m3 by columns."""
    rng = np.random.default_rng(seed)
    A, B = (cupy.asarray(numbers(rng, s, dtype)) for s in ((M, K), (K, N)))
    A, B = half.cast(A, dtype), half.cast(B, dtype)
    return A, cupy.asfortranarray(B) if dtype == half.E4M3 else B


def poisoned(M: int, N: int, dtype: str = "float32") -> np.ndarray:
    """Return an M×N array of NaN, so that an element nobody writes is seen."""
    return half.cast(np.full((M, N), np.nan, np.float32), dtype)


def tolerance(A, B):
    """Return how far each element of a float32 product of A and B may lie from the exact one.

    A dot product of K products, each rounded, added in any order, fused or not, is off by at most
    ``K·u / (1 - K·u)`` times ``(|A|·|B|)[row, col]`` with ``u = 2**-24``.

    Products of 16-bit numbers are exact in float32, but tensor cores cut off instead of rounding,
    which doubles ``u``: a group of products (4 on Turing, more later) and the sum so far, each as
    it is brought to the largest exponent among them, and their sum. That is 6 for 4 products. (Of
    8-bit numbers they cut off much more: only sums that need no more than 14 bits are held to it.)

    Sources: N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd ed., section 3.1;
    M. Fasi, N. J. Higham, M. Mikaitis and S. Pranesh, *Numerical behavior of NVIDIA tensor cores*,
    PeerJ Computer Science 7:e330, 2021.
    """
    K = A.shape[1]
    u = 2.0**-24
    if half.dtype_of(A) in ("float16", "bfloat16"):
        K, u = 6 * -(-K // 4), 2 * u
    underflow = K * float(np.finfo(np.float32).smallest_subnormal)
    return K * u / (1 - K * u) * (abs(_exact(A)) @ abs(_exact(B))) + underflow


def check(C, A, B) -> Verdict:
    """Compare C with A·B computed in float64; raise where they differ by more than rounding.

    Parameters
    ----------
    C : array, shape (M, N)
        The result to judge: NumPy, CuPy or Numba. One of 16 bits may be off by its rounding, too.
    A, B : array of float32, float16, bfloat16 or e4m3, shapes (M, K) and (K, N)
        The inputs, of finite numbers; uint16 holds the bits of bfloat16, uint8 those of e4m3.

    Returns
    -------
    Verdict

    Raises
    ------
    WrongResult
        Shows the first wrong element, how many are wrong, and what the error looks like.
    ValueError
        If shapes do not match, or an input is not finite.
    """
    xp = cupy if any(_on_device(x) for x in (C, A, B)) else np
    C, A, B = (_array(x, xp) for x in (C, A, B))
    (M, K), (rows, N) = A.shape, B.shape
    if rows != K:
        raise ValueError(
            f"A is {M}×{K} and B is {rows}×{N}: B must have as many rows as A has columns"
        )
    if C.shape != (M, N):
        raise ValueError(f"C has shape {tuple(C.shape)}; A·B has {(M, N)}")
    for name, array in (("A", A), ("B", B)):
        if not bool(xp.isfinite(_exact(array)).all()):
            raise ValueError(f"{name} holds NaN or infinity: check needs finite inputs")
    want = _exact(A) @ _exact(B)
    bound = tolerance(A, B)
    bound = bound + _rounding(C, want, bound)
    error = abs(_exact(C) - want)
    right = error <= bound  # False for NaN
    if bool(right.all()):
        return Verdict(M, N, K, float((error / bound).max()), half.dtype_of(A))
    with np.errstate(invalid="ignore"):  # infinities in C
        raise WrongResult(_report(C, A, B, want, bound, right))


def verify(matmul: Callable, shapes: Iterable[tuple[int, int, int]] = SHAPES, seed: int = 0):
    """Run ``matmul(A, B, out=C)`` on random inputs and NaN-poisoned outputs, and check each C.

    Raises
    ------
    WrongResult
        From the first shape (M, N, K) whose product is wrong, with the shape in the message.
    """
    for M, N, K in shapes:
        A, B = inputs(M, N, K, seed)
        C = poisoned(M, N)
        matmul(A, B, out=C)
        try:
            check(C, A, B)
        except WrongResult as wrong:
            raise WrongResult(f"M, N, K = {M}, {N}, {K}: {wrong}") from None


def _on_device(array) -> bool:
    return isinstance(array, cupy.ndarray) or hasattr(array, "copy_to_host")


def _array(array, xp):
    """Return `array` as one of `xp`'s."""
    if xp is np:
        return np.asarray(array)
    if not isinstance(array, cupy.ndarray) and hasattr(array, "copy_to_host"):
        array = array.copy_to_host()
    return cupy.asarray(array)


def _exact(array):
    return (half.floats(array) if array.dtype.kind == "u" else array).astype(np.float64)


#: Of a 16-bit format: half of the distance from 1 to the next number, and of its smallest one.
_HALF_ROUNDING = {"float16": (2.0**-11, 2.0**-25), "bfloat16": (2.0**-8, 2.0**-134)}


def _rounding(C, want, bound):
    """Return how far the result may lie from the exact one because it is rounded to 16 bits."""
    relative, absolute = _HALF_ROUNDING.get(half.dtype_of(C), (0.0, 0.0))
    return relative * (abs(want) + bound) + absolute


# ------------------------------------------------------------------------------------ diagnosis


def _report(C, A, B, want, bound, right) -> str:
    """Say which element is wrong first, how many are, and what the error looks like."""
    wrong = cupy.asnumpy(~right)
    row, col = (int(i) for i in np.argwhere(wrong)[0])
    got, expected, allowed = (float(x[row, col]) for x in (C, want, bound))
    A, B, C = _exact(A), _exact(B), _exact(C)
    findings = (
        _unwritten(C),
        _misplaced(C, A, B, want, bound),
        _permuted(C, want, bound),
        _missing_products(C, A, B, want, bound),
        _scaled(C, want, bound),
        _edge(wrong),
        _imprecise(C, want, bound, wrong),
    )
    finding = next((text for text in findings if text), "no pattern recognised")
    return (
        f"C[{row}, {col}] is {got:.7g}, expected {expected:.7g} (within {allowed:.1g});"
        f" {int(wrong.sum())} of {wrong.size} elements are wrong: {finding}"
    )


def _same(C, other, bound) -> bool:
    """Whether C agrees with another candidate of its shape."""
    return C.shape == other.shape and bool((abs(C - other) <= bound).all())


def _span(indices: np.ndarray) -> str:
    """Name ascending indices: "12", "16 to 32", or the first and how many."""
    first, last = int(indices[0]), int(indices[-1])
    if len(indices) == 1:
        return f"{first}"
    if last - first + 1 == len(indices):
        return f"{first} to {last}"
    return f"{first}, … ({len(indices)} of them)"


def _unwritten(C) -> str:
    """NaN left over from a poisoned output."""
    nan = cupy.asnumpy(C != C)
    rows, cols = np.flatnonzero(nan.all(axis=1)), np.flatnonzero(nan.all(axis=0))
    if nan.all():
        return "nothing was written (NaN everywhere)"
    if len(rows) and nan.sum() == len(rows) * nan.shape[1]:
        return f"unwritten rows (NaN): {_span(rows)}"
    if len(cols) and nan.sum() == len(cols) * nan.shape[0]:
        return f"unwritten columns (NaN): {_span(cols)}"
    if nan.any():
        return f"{int(nan.sum())} elements are NaN: unwritten, or computed from unwritten ones"
    return ""


def _misplaced(C, A, B, want, bound) -> str:
    """A product of the wrong factors, or in the wrong place."""
    if _same(C, want.T, bound.T):
        return "this is the transpose of A·B: row and col are swapped in the store"
    candidates = (
        (B, A, "this is B·A: the factors are swapped"),
        (A, B.T, "this is A·Bᵀ: rows of B were read as columns"),
        (A.T, B, "this is Aᵀ·B: columns of A were read as rows"),
        (A.T, B.T, "this is Aᵀ·Bᵀ: row and col are swapped in both loads"),
    )
    for left, right, text in candidates:
        if left.shape[1] == right.shape[0] and _same(C, left @ right, tolerance(left, right)):
            return text
    return ""


def _permuted(C, want, bound) -> str:
    """Right rows, or right columns, that stand elsewhere."""
    C, want, bound = map(cupy.asnumpy, (C, want, bound))
    for name, turn in (("row", np.asarray), ("column", np.transpose)):
        got, lines, allowed = turn(C), turn(want), turn(bound)
        # Sums with a weight for each element tell lines apart.
        weights = 1 + np.arange(lines.shape[1], dtype=np.float64) ** 2
        sums, order = lines @ weights, np.argsort(lines @ weights)
        above = np.searchsorted(sums[order], got @ weights).clip(1, len(order) - 1)
        near = np.stack([order[above - 1], order[above]])
        source = near[abs(sums[near] - got @ weights).argmin(axis=0), np.arange(len(order))]
        if _same(got, lines[source], allowed[source]):
            line = int(np.flatnonzero(source != np.arange(len(source)))[0])
            return (
                f"right {name}s in wrong places: {name} {line} holds {name} {source[line]} of A·B"
            )
    return ""


def _missing_products(C, A, B, want, bound) -> str:
    """A dot product that stops early, or keeps only its last part."""
    K = A.shape[1]
    tiles = (4, 8, 16, 32, 64, 128)
    for r in sorted({1, *(K % t for t in tiles), *tiles}):
        if not 0 < r < K:
            continue
        tail = A[:, K - r :] @ B[K - r :]
        if _same(C, want - tail, bound):
            return f"the last {r} of K = {K} products are missing: K // tile where cdiv is needed?"
        if _same(C, tail, bound):
            return f"only the last {r} of K = {K} products are there: set instead of added to?"
    return ""


def _scaled(C, want, bound) -> str:
    """The right product times a factor."""
    factor = float((C * want).sum() / (want * want).sum())
    if not bool((C != 0).any()):
        return "every element is zero"
    if _same(C, factor * want, bound * max(1, abs(factor))):
        return f"every element is {factor:.4g} times the right one"
    return ""


def _edge(wrong: np.ndarray) -> str:
    """Errors in the last rows or columns only."""
    for axis, name in ((1, "rows"), (0, "columns")):
        lines = np.flatnonzero(wrong.any(axis=axis))
        if lines[0] > 0 and lines[-1] == wrong.shape[1 - axis] - 1 and np.all(np.diff(lines) == 1):
            return f"only the last {name} ({_span(lines)}) are wrong: the guard of the edge tile?"
    return ""


def _imprecise(C, want, bound, wrong: np.ndarray) -> str:
    """Small errors all over, as of a shorter format: half precision has 2**13 times the error."""
    if wrong.mean() > 0.5 and bool((abs(C - want) <= 2**13 * bound).all()):
        return "small errors, as of arithmetic in fewer than float32's 24 bits"
    return ""

"""The shapes and settings that every rung is tested with, on either engine."""

from itertools import product

import numpy as np

from kernels import LADDER, cupy, lab

#: Sizes around the tiles: alone, one less, equal, one more, several, and none that divides.
SIZES = (1, 2, 15, 16, 17, 31, 33, 64, 100, 130)
SHAPES = tuple(product(SIZES, repeat=3))

#: Every rung with every value of its option: ("tiled", {"tile": 8}), …
SETTINGS = tuple(
    (name, {option: value})
    for name, rung in LADDER.items()
    for option, values in rung.options.items()
    for value in values
)


def label(setting) -> str:
    """Name a setting in a test's id: "tiled-tile8"."""
    name, options = setting
    return name + "".join(f"-{k}{v}" for k, v in options.items())


def check_shapes(setting, engine, shapes, seed=1) -> int:
    """Check one rung on many shapes (M, N, K), on the device; return how many were checked."""
    name, options = setting
    rung = LADDER[name]
    rng = np.random.default_rng(seed)
    pool = cupy.asarray(rng.standard_normal(2 * max(SIZES) ** 2, dtype=np.float32))
    half = max(SIZES) ** 2
    for M, N, K in shapes:
        A = pool[: M * K].reshape(M, K)
        B = pool[half : half + K * N].reshape(K, N)
        C = cupy.full((M, N), np.nan, np.float32)
        assert rung.matmul(A, B, out=C, engine=engine, **options) is C
        try:
            lab.check(C, A, B)
        except lab.oracle.WrongResult as wrong:
            raise AssertionError(f"{label(setting)} {engine} {M, N, K}: {wrong}") from None
    return len(shapes)


def strided_inputs(M, N, K):
    """Yield (name, A, B, C): the same product in arrays of different strides, on the host."""
    A, B = lab.oracle.inputs(M, N, K, seed=7)
    wide = np.full((2 * M, 3 * N), np.nan, np.float32)
    columns = np.full((N, M), np.nan, np.float32).T
    yield "Fortran order", np.asfortranarray(A), np.asfortranarray(B), columns
    yield "every second", np.repeat(A, 2, 0)[::2], np.repeat(B, 3, 1)[:, ::3], wide[::2, ::3]
    yield "backwards", A[::-1, ::-1].copy()[::-1, ::-1], B[::-1].copy()[::-1], wide[:M, N : 2 * N]
    yield "one row for all", np.broadcast_to(A[0], (M, K)), B, np.full((M, N), np.nan, np.float32)

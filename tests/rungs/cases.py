"""The shapes and settings that every rung is tested with, on either backend."""

from itertools import product

import numpy as np
import pytest

from kernels import LADDER, cupy, lab
from kernels.host import half
from kernels.measure import oracle

#: Sizes around the tiles: alone, one less, equal, one more, several, and none that divides.
SIZES = (1, 2, 15, 16, 17, 31, 33, 64, 100, 130)
SHAPES = tuple(product(SIZES, repeat=3))
#: Around the large tiles, whose interpretation takes its time: one element, thin, whole 16 bytes in
#: each row or not, one tile and an edge, several.
FEW = (
    (1, 1, 1), (1, 130, 7), (131, 1, 5), (17, 5, 1), (64, 64, 32), (33, 47, 61), (40, 36, 24),
    (129, 132, 17), (70, 260, 12),
)  # fmt: skip
#: The rungs with one element of C a thread.
SMALL = ("swapped", "naive", "tiled")

#: Every Numba kernel in float32 with the options that it is tested and measured with:
#: ("tiled", {"tile": 8}).
SETTINGS = tuple(
    (name, options)
    for name, rung in LADDER.items()
    if rung.in_microscope
    for options in rung.chosen("numba")
)
#: Those settings for `parametrize`. The microscope runs a kernel of asynchronous copies warp by
#: warp, which takes forty times as long: of its three versions `make test` takes one.
SAMPLED = [
    pytest.param(setting, marks=pytest.mark.sampled(3) if setting[0] == "async_tiled" else ())
    for setting in SETTINGS
]
#: Every version of every rung: (name, engine, number format, options).
VERSIONS = tuple(
    (name, engine, dtype, options)
    for name, rung in LADDER.items()
    for dtype in rung.dtypes
    for engine, options in rung.versions()
)


def label(setting) -> str:
    """Name a setting in a test's id: "tiled-tile8"."""
    *names, options = setting
    return "-".join(names) + "".join(f"-{k}{v}" for k, v in options.items())


def random_shapes(count, seed, most=400):
    """Return shapes (M, N, K) from 1 to `most`, small sizes as likely as large ones."""
    rng = np.random.default_rng(seed)
    sizes = np.exp(rng.uniform(0, np.log(most + 1), (count, 3))).astype(int)
    return [tuple(int(size) for size in shape) for shape in sizes]


def check_shapes(setting, engine, shapes, seed=1, dtype="float32") -> int:
    """Check one rung on many shapes (M, N, K), on the device; return how many were checked."""
    *_, options = setting
    rung = LADDER[setting[0]]
    rng = np.random.default_rng(seed)
    most = max(max(M * K, K * N) for M, N, K in shapes)
    half_way = -(-most // 16) * 16  # B's memory begins at a multiple of 16 bytes, as A's does
    pool = half.cast(cupy.asarray(oracle.numbers(rng, (2 * half_way,), dtype)), dtype)
    for M, N, K in shapes:
        A = pool[: M * K].reshape(M, K)
        B = pool[half_way : half_way + K * N].reshape(K, N)
        C = cupy.full((M, N), np.nan, np.float32)
        assert rung.matmul(A, B, out=C, engine=engine, **options) is C
        try:
            lab.check(C, *exact(A, B))
        except oracle.WrongResult as wrong:
            raise AssertionError(f"{label(setting)} {engine} {M, N, K}: {wrong}") from None
    return len(shapes)


def exact(*matrices):
    """Return matrices as float32: those of fewer bits say what they were rounded to."""
    return tuple(x if x.dtype == np.float32 else half.floats(x) for x in matrices)


def strided_inputs(M, N, K):
    """Yield (name, A, B, C): the same product in arrays of different strides, on the host."""
    A, B = oracle.inputs(M, N, K, seed=7)
    wide = np.full((2 * M, 3 * N), np.nan, np.float32)
    columns = np.full((N, M), np.nan, np.float32).T
    yield "Fortran order", np.asfortranarray(A), np.asfortranarray(B), columns
    yield "every second", np.repeat(A, 2, 0)[::2], np.repeat(B, 3, 1)[:, ::3], wide[::2, ::3]
    yield "backwards", A[::-1, ::-1].copy()[::-1, ::-1], B[::-1].copy()[::-1], wide[:M, N : 2 * N]
    yield "one row for all", np.broadcast_to(A[0], (M, K)), B, np.full((M, N), np.nan, np.float32)
    yield "rows 16 bytes apart", *(padded(matrix) for matrix in (A, B, columns))


def padded(matrix):
    """Return a copy of a matrix whose rows begin at multiples of 16 bytes, with NaN between."""
    xp = cupy if isinstance(matrix, cupy.ndarray) else np
    rows, cols = matrix.shape
    wide = xp.full((rows, cols // 4 * 4 + 8), np.nan, matrix.dtype)
    wide[:, :cols] = matrix
    return wide[:, :cols]


def shifted(matrix):
    """Return a contiguous copy of a matrix that begins one element after a multiple of 16 bytes."""
    xp = cupy if isinstance(matrix, cupy.ndarray) else np
    memory = xp.empty(matrix.size + 32, matrix.dtype)
    address = memory.data.ptr if xp is not np else memory.ctypes.data
    first = -address % 16 // matrix.itemsize + 1
    view = memory[first : first + matrix.size].reshape(matrix.shape)
    view[...] = matrix
    return view

"""Launches of the course's own rungs, at sizes that divide and sizes that do not."""

import numpy as np

from kernels.patterns import vector_add
from kernels.rungs.order import LADDER
from tests.microscope.cases import Case, whole


def _add(name, kernel, n, grid, block):
    return Case(
        name,
        kernel,
        grid,
        block,
        lambda: (whole(n), whole(n, seed=2), np.full(n, np.nan, np.float32)),
        lambda a, b, c: {2: a + b},
    )


def _matmul(name, kernel, block, M, N, K, swapped=False):
    def make():
        C = np.full((M, N), np.nan, np.float32)
        return whole(M, K, seed=2), whole(K, N, seed=3), C

    across, down = (M, N) if swapped else (N, M)
    grid = (-(-across // block[0]), -(-down // block[1]))
    return Case(name, kernel, grid, block, make, lambda A, B, C: {2: A @ B})


def cases() -> list[Case]:
    """Every rung, each in at least two launches."""
    found = [
        _add("rung_vector_add", vector_add.vector_add, 1000, 4, 256),
        _add("rung_vector_add_grid_stride", vector_add.vector_add_grid_stride, 1000, 2, 128),
    ]
    naive, swapped = LADDER["naive"].kernel(), LADDER["swapped"].kernel()
    tiled = LADDER["tiled"].kernel
    for M, N, K in ((64, 64, 64), (37, 53, 41)):
        size = f"{M}x{N}x{K}"
        for block in ((16, 16), (32, 8)):
            shape = f"{block[0]}x{block[1]}"
            found += [
                _matmul(f"rung_naive_{size}_{shape}", naive, block, M, N, K),
                _matmul(f"rung_swapped_{size}_{shape}", swapped, block, M, N, K, True),
            ]
        found += [
            _matmul(f"rung_tiled_{tile}_{size}", tiled(tile=tile), (tile, tile), M, N, K)
            for tile in (8, 16, 32)
        ]
    return found

"""The predictions of the rungs, counted again thread by thread."""

import numpy as np
import pytest

from kernels import LADDER
from kernels.host.model import rows_of_warp
from kernels.patterns import vector_add


def count(rung, M, N, K, side):
    """Count requests and sectors of every warp from the index arithmetic alone."""
    grid, (bx, by) = LADDER[rung].launch(M, N, **{option: side for option in LADDER[rung].options})
    requests = dict.fromkeys("ABC", 0)
    sectors = dict.fromkeys("ABC", 0)

    def ask(array, elements):
        if elements:
            requests[array] += 1
            sectors[array] += len({e // 8 for e in elements})

    for block_y in range(grid[1]):
        for block_x in range(grid[0]):
            for first in range(0, bx * by, 32):
                lanes = range(first, min(first + 32, bx * by))
                x = [block_x * bx + t % bx for t in lanes]
                y = [block_y * by + t // bx for t in lanes]
                row, col = (x, y) if rung == "swapped" else (y, x)
                mine = [(i, j) for i, j in zip(row, col, strict=True) if i < M and j < N]
                ask("C", [i * N + j for i, j in mine])
                if rung != "tiled":
                    for k in range(K):
                        ask("A", [i * K + k for i, j in mine])
                        ask("B", [k * N + j for i, j in mine])
                    continue
                for k0 in range(0, K, side):
                    tx, ty = [t % bx for t in lanes], [t // bx for t in lanes]
                    a = zip(row, tx, strict=True)
                    b = zip(ty, col, strict=True)
                    ask("A", [i * K + k0 + t for i, t in a if i < M and k0 + t < K])
                    ask("B", [(k0 + t) * N + j for t, j in b if k0 + t < K and j < N])
    return requests, sectors


@pytest.mark.parametrize("side", (1, 2, 8, 16, 32))
@pytest.mark.parametrize("rung", ("swapped", "naive", "tiled"))
def test_requests_and_sectors_equal_a_count_of_every_warp(rung, side):
    rng = np.random.default_rng(side)
    shapes = [(1, 1, 1), (33, 3, 5), (7, 34, 2), (64, 32, 16), (50, 45, 70)]
    shapes += [tuple(int(n) for n in rng.integers(1, 40, 3)) for _ in range(8)]
    for M, N, K in shapes:
        model = LADDER[rung].model(M, N, K, **{option: side for option in LADDER[rung].options})
        assert (model.requests, model.sectors) == count(rung, M, N, K, side), (M, N, K)


def test_figures_of_the_hardware():
    """Requests and sectors that Nsight Compute counted on an H200."""
    naive, swapped, tiled = (LADDER[name].model for name in ("naive", "swapped", "tiled"))
    for model, loads, load_sectors, stores, store_sectors in (
        (naive(64, 64, 64), 16384, 40960, 128, 512),
        (naive(64, 64, 64, block=16), 16384, 32768, 128, 512),
        (swapped(64, 64, 64), 16384, 270336, 128, 4096),
        (naive(50, 45, 70, block=16), 10500, 24925, 75, 411),
        (tiled(64, 64, 64, tile=16), 1024, 4096, 128, 512),
        (tiled(64, 64, 64, tile=32), 512, 2048, 128, 512),
    ):
        assert model.requests["A"] + model.requests["B"] == loads
        assert model.sectors["A"] + model.sectors["B"] == load_sectors
        assert (model.requests["C"], model.sectors["C"]) == (stores, store_sectors)


def test_loads_bytes_and_intensity():
    model = LADDER["naive"].model(100, 130, 61)
    assert model.loads == {"A": 793_000, "B": 793_000} and model.stores == {"C": 13_000}
    assert model.flops == 2 * 793_000
    assert model.bytes_requested == 4 * (2 * 793_000 + 13_000)
    assert model.bytes_compulsory == 4 * (100 * 61 + 61 * 130 + 100 * 130)
    assert model.intensity == model.flops / model.bytes_requested
    tiled = LADDER["tiled"].model(100, 130, 61, tile=32)
    assert tiled.loads == {"A": 100 * 61 * 5, "B": 61 * 130 * 4}
    assert tiled.intensity > 20 * model.intensity


def test_vector_add():
    for n in (1, 7, 32, 33, 1000, 2**28 + 5):
        predicted = vector_add.model(n, block=64)
        assert predicted.loads == {"a": n, "b": n} and predicted.stores == {"c": n}
        assert predicted.requests == dict.fromkeys("abc", -(-n // 32))
        assert predicted.sectors == dict.fromkeys("abc", -(-n // 8))
        assert predicted.bytes_requested == predicted.bytes_compulsory == 12 * n
        assert predicted.intensity == 1 / 12
    assert vector_add.model(1000, block=100).requests == dict.fromkeys("abc")


def test_large_models_are_instant_and_exact():
    model = LADDER["tiled"].model(8192, 8192, 8192, tile=32)
    warps = 8192**2 // 32
    assert model.requests == {"A": warps * 256, "B": warps * 256, "C": warps}
    assert model.sectors == {"A": 4 * warps * 256, "B": 4 * warps * 256, "C": 4 * warps}


def test_a_tile_that_warps_do_not_cover_in_rows_has_loads_but_no_requests():
    model = LADDER["tiled"].model(25, 31, 14, tile=12)
    assert rows_of_warp(12) is None
    assert model.loads == {"A": 25 * 14 * 3, "B": 14 * 31 * 3}
    assert model.requests == model.sectors == {"A": None, "B": None, "C": None}

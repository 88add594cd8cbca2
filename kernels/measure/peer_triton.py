"""A matrix product in Triton, as its users write one: a block of the program for each tile of C.

Triton decides by itself how threads share the tile, how loads are staged in shared memory and
which instructions multiply. Its own search picks the tile sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl

#: Tile sizes for float32, where registers are scarce, and for 16 bits.
FLOAT32 = [(64, 64, 16, 4, 3), (128, 64, 16, 4, 3), (128, 128, 16, 8, 3)]
SIXTEEN = [(128, 256, 64, 8, 3), (128, 128, 64, 8, 3), (64, 128, 64, 4, 4)]


def _configurations(tiles: list[tuple[int, ...]]) -> list[Any]:
    return [
        triton.Config({"BM": BM, "BN": BN, "BK": BK}, num_warps=warps, num_stages=stages)
        for BM, BN, BK, warps, stages in tiles
    ]


@triton.jit
def _matmul(
    A, B, C, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
    IEEE: tl.constexpr,
):  # fmt: skip
    # Blocks that run together share tiles in L2: GROUP rows of tiles first.
    down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    block = tl.program_id(0)
    first = block // (GROUP * across) * GROUP
    height = min(down - first, GROUP)
    row0 = (first + block % (GROUP * across) % height) * BM
    col0 = block % (GROUP * across) // height * BN
    row, col, k = row0 + tl.arange(0, BM), col0 + tl.arange(0, BN), tl.arange(0, BK)
    # 64 bits from the first multiplication on: M·K may exceed 2³¹.
    a = A + row[:, None].to(tl.int64) * K + k[None, :]
    b = B + k[:, None].to(tl.int64) * N + col[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        left = tl.load(a, mask=(row[:, None] < M) & (k0 + k[None, :] < K), other=0.0)
        right = tl.load(b, mask=(k0 + k[:, None] < K) & (col[None, :] < N), other=0.0)
        if IEEE:
            acc = tl.dot(left, right, acc, input_precision="ieee")
        else:
            acc = tl.dot(left, right, acc)
        a += BK
        b += BK * N
    inside = (row[:, None] < M) & (col[None, :] < N)
    tl.store(C + row[:, None].to(tl.int64) * N + col[None, :], acc, mask=inside)


def _search(tiles: list[tuple[int, ...]]) -> Any:
    """The kernel with a search of its tiles for each shape: a short one, as they differ much."""
    shortly = partial(triton.testing.do_bench, warmup=2, rep=10)
    found = triton.autotune(_configurations(tiles), key=["M", "N", "K"], do_bench=shortly)
    return found(_matmul)


_searched = {True: _search(FLOAT32), False: _search(SIXTEEN)}


def _tensor(array: Any) -> Any:
    """A CuPy array as a tensor on the same memory; the bits of bfloat16 come as uint16."""
    if array.dtype == np.uint16:
        return torch.as_tensor(array.view(np.int16), device="cuda").view(torch.bfloat16)
    return torch.as_tensor(array, device="cuda")


def launch(A: Any, B: Any, C: Any) -> Callable[[], object]:
    """A launch on CuPy arrays, its tiles found; float32 is multiplied as float32 (no TF32)."""
    M, K = A.shape
    N = B.shape[1]
    arrays = [_tensor(array) for array in (A, B, C)]
    ieee = arrays[0].dtype == torch.float32

    def grid(tiles: dict[str, int]) -> tuple[int]:
        return (triton.cdiv(M, tiles["BM"]) * triton.cdiv(N, tiles["BN"]),)

    def run() -> None:
        _searched[ieee][grid](*arrays, M, N, K, GROUP=8, IEEE=ieee)

    run()
    torch.cuda.synchronize()
    return run

"""A matrix product in Triton, as its users write one: a block of the program for each tile of C.

Triton decides by itself how threads share the tile, how loads are staged in shared memory and
which instructions multiply. Its own search picks the tile sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import triton
import triton.language as tl

#: Tile sizes for float32, where registers are scarce, and for 16 bits.
FLOAT32 = [(64, 64, 16, 4, 3), (128, 64, 16, 4, 3), (128, 128, 16, 8, 3), (64, 32, 32, 4, 3)]
SIXTEEN = [(128, 128, 64, 4, 4), (128, 256, 64, 8, 3), (64, 128, 64, 4, 4), (64, 64, 64, 4, 4)]


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
    # Blocks that run at the same time shall share tiles in the L2 cache: GROUP rows of tiles first.
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


_searched = {
    ieee: triton.autotune(_configurations(FLOAT32 if ieee else SIXTEEN), key=["M", "N", "K"])(
        _matmul
    )
    for ieee in (True, False)
}


def launch(A: Any, B: Any, C: Any) -> Callable[[], object]:
    """A launch on CuPy arrays, its tiles found; float32 is multiplied as float32 (no TF32)."""
    M, K = A.shape
    N = B.shape[1]
    arrays = [torch.as_tensor(array, device="cuda") for array in (A, B, C)]
    # The bits of bfloat16 come in arrays of uint16.
    arrays = [x.view(torch.bfloat16) if x.dtype == torch.uint16 else x for x in arrays]
    ieee = arrays[0].dtype == torch.float32

    def grid(tiles: dict[str, int]) -> tuple[int]:
        return (triton.cdiv(M, tiles["BM"]) * triton.cdiv(N, tiles["BN"]),)

    def run() -> None:
        _searched[ieee][grid](*arrays, M, N, K, GROUP=8, IEEE=ieee)

    run()
    torch.cuda.synchronize()
    return run

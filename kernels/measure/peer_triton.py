"""The product in Triton, launched: its own search picks the tile sizes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
import triton

from kernels.measure.triton_product import FLOAT32, SIXTEEN, matmul


def _configurations(tiles: list[tuple[int, ...]]) -> list[Any]:
    return [
        triton.Config({"BM": BM, "BN": BN, "BK": BK}, num_warps=warps, num_stages=stages)
        for BM, BN, BK, warps, stages in tiles
    ]


def _search(tiles: list[tuple[int, ...]]) -> Any:
    """The kernel with a search of its tiles for each shape: a short one, as they differ much."""
    shortly = partial(triton.testing.do_bench, warmup=2, rep=10)
    found = triton.autotune(_configurations(tiles), key=["M", "N", "K"], do_bench=shortly)
    return found(matmul)


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

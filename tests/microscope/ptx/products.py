"""Matrices of small whole numbers for kernels of 16 bits: every product and sum is exact."""

import numpy as np

from microscope.ptx import TensorMap


def bfloat16(array):
    """The bits of whole numbers, which bfloat16 holds exactly."""
    return (array.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def matrices(M, N, K, seed=0):
    """A and B of small whole numbers, and C of NaN, all float32."""
    random = np.random.default_rng(seed)
    A, B = (random.integers(-4, 5, shape).astype(np.float32) for shape in ((M, K), (K, N)))
    return A, B, np.full((M, N), np.nan, np.float32)


def specialized_case(M, N, K, BM=128, BN=256, seed=0):
    """Grid, block and arguments of `hopper_kernels.specialized`, and what C should be."""
    A, B, C = matrices(M, N, K, seed)
    map_A = TensorMap(bfloat16(A), (BM, 64), "bfloat16")
    map_B = TensorMap(bfloat16(B), (64, 64), "bfloat16")
    grid = (-(-N // BN), -(-M // BM))
    return (grid, 128 * (1 + BM // 64), map_A, map_B, C, K), A @ B


def persistent_case(M, N, K, blocks=2, BM=64, seed=0):
    """Grid, block and arguments of `hopper_kernels.persistent`, and what C should be."""
    A, B, C = matrices(M, N, K, seed)
    map_A = TensorMap(bfloat16(A), (BM, 64), "bfloat16")
    map_B = TensorMap(bfloat16(B), (64, 64), "bfloat16")
    map_C = TensorMap(C, (64, 32), "float32")
    return (blocks, 256, map_A, map_B, map_C, M, N, K), A @ B


def copied_case(M, N, K, seed=0):
    """Grid, block and arguments of `hopper_kernels.copied`, and what C should be."""
    A, B, C = matrices(M, N, K, seed)
    bits = bfloat16(A), bfloat16(np.ascontiguousarray(B.T))
    return ((-(-N // 8), -(-M // 16)), 32, *bits, C, K), A @ B

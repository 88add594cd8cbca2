"""Random pipelines: stages, boxes, orders, formats, sizes that do not divide, clusters.

>>> pipelines(300, seed=1)  # what `hardware` runs on a GPU
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from microscope.ptx import TensorMap
from tests.microscope.ptx import hopper_kernels
from tests.microscope.ptx.products import bfloat16, matrices, persistent_case

MOST_SHARED = 227 * 1024


@dataclass(frozen=True)
class Pipeline:
    """One product: which kernel, made of what, and its sizes.

    Attributes
    ----------
    kernel : str
        A maker of `hopper_kernels`.
    options : tuple
        Its arguments.
    sizes : tuple of int
        M, N, K.
    blocks : int
        Of the grid, where the kernel takes any number.
    seed : int
    """

    kernel: str
    options: tuple
    sizes: tuple[int, int, int]
    blocks: int
    seed: int

    @property
    def made(self):
        """The kernel."""
        return getattr(hopper_kernels, self.kernel)(*self.options)

    def case(self):
        """Grid, block and arguments of a launch, and what C should be."""
        if self.kernel == "persistent":
            return persistent_case(*self.sizes, self.blocks, self.options[0], self.seed)
        M, N, K = self.sizes
        A, B, C = matrices(M, N, K, self.seed)
        if self.kernel == "copied":
            bits = bfloat16 if self.options[1] == "bfloat16" else _float16
            operands = bits(A), bits(np.ascontiguousarray(B.T))
            return ((N // 8, -(-M // 16)), 32, *operands, C, K), A @ B
        BM, BN, _, dtype, A_rows, B_rows, _ = self.options
        bits = bfloat16 if dtype == "bfloat16" else _float16
        maps = TensorMap(bits(A), (A_rows, 64), dtype), TensorMap(bits(B), (B_rows, 64), dtype)
        return ((-(-N // BN), -(-M // BM)), 128 * (1 + BM // 64), *maps, C, K), A @ B


def _float16(a):
    return a.astype(np.float16)


@cache
def pipelines(count: int, seed: int = 0, small: bool = False) -> tuple[Pipeline, ...]:
    """Some pipelines, the same each time; `small` ones take the interpreter little time."""
    random = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        kernel = ("specialized", "persistent", "copied")[len(found) % 3]
        M, N, K = (int(n) for n in random.integers(1, 130 if small else 300, 3))
        blocks = 0
        if kernel == "copied":
            options = (16, str(random.choice(["bfloat16", "float16"])))
            # A block of one warp computes 16×8: many blocks, so a small matrix.
            sizes = M % 80 + 1, N % 80 // 8 * 8 + 8, -(-K // 16) * 16
        else:
            sizes = M, -(-N // 8) * 8, -(-K // 8) * 8
            stages = int(random.integers(1, 6))
            if kernel == "specialized":
                dtype = str(random.choice(["bfloat16", "float16"]))
                stages = max(2, stages)
                consumers = int(random.integers(1, 4))
                widest = 3 if consumers == 3 else 4  # 512 threads have 128 registers each
                BN = 64 * min(widest, int(random.integers(1, 5)))
                rows = int(random.choice([64 * consumers, 64, 32])), int(random.choice([64, 32, 8]))
                options = (64 * consumers, BN, stages, dtype, *rows, bool(random.integers(2)))
            else:
                cluster = int(random.integers(1, 3))
                BN = 64 * cluster * int(random.integers(1, 3))
                options = (64, BN, max(2, stages), cluster, bool(random.integers(2)))
                blocks = cluster * int(random.integers(1, 4))
        one = Pipeline(kernel, options, sizes, blocks, int(random.integers(1 << 30)))
        if one.made.shared_bytes <= MOST_SHARED and one not in found:
            found.append(one)
    return tuple(found)

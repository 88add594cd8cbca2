"""A float32 product on tensor cores that know no float32: each number as three of bfloat16.

Tensor cores multiply bfloat16 more than ten times as fast as other units multiply float32. A
float32 number has 24 significant bits and a bfloat16 has 8, with the same range of exponents, so
three of them hold it exactly, and A·B is the sum of nine products of parts. Six of them already
reach the accuracy of float32; nine leave out nothing. Only in CUDA C++, for sm_90a; the loop is
that of `persistent`.

Rows of A and columns of B that hold an infinity or NaN, and products with K below 32, are computed
in plain float32, by a slow kernel. A result within 1 % of the largest float32 may come out
infinite, and so may a sum whose terms reach that far.

Sources: G. Henry, P. T. P. Tang and A. Heinecke, *Leveraging the bfloat16 Artificial Intelligence
Datatype For Higher-Precision Computations*, ARITH 2019; NVIDIA, *cuBLAS*, section on BF16x9.
"""

from dataclasses import dataclass

import numpy as np

from kernels import host
from kernels.engine import cupy
from kernels.host import cdiv, cpp, half, option, tensor_cores
from kernels.host.rung import Rung
from kernels.host.tensor_cores import BK, BM, HopperTiles, most_clusters
from kernels.host.tma import tensor_map
from kernels.rungs import async_tiled

CLUSTER = 2
#: Steps of BK after which the sums of the tensor cores are added to float32 sums that round.
PIECE = 4
#: Sums of fewer products are left to the plain kernel: tensor cores would gain nothing.
LEAST_K = 32


def parts(X):
    """Return the three parts of a matrix as the kernel writes them, each in bfloat16 (as uint16).

    Parameters
    ----------
    X : array of float32, NumPy or CuPy
        Of finite numbers.

    Returns
    -------
    list of three arrays of uint16
        With `kernels.host.half.floats` around each, X is exactly P0 + P1 / 2**8 + P2 / 2**16: the
        later parts are kept 2**8 and 2**16 times too large, so that they exist for tiny X too.
    """
    found, rest = [], X
    for _ in range(3):
        rounded, cut = half.bfloat16(rest), (rest.view(np.uint32) >> 16).astype(np.uint16)
        # Close to the largest float32, rounding up would lead to infinity.
        rounded = np.where(abs(half.floats(rounded)) == np.inf, cut, rounded)
        found.append(rounded)
        rest = (rest - half.floats(rounded)) * np.float32(256)
    return found


@dataclass(frozen=True)
class Options(HopperTiles):
    products: int = option(
        6, (6, 9), "6: products of parts that float32 can tell from 0; 9: all of them", only=True
    )
    BN: int = option(0, (0, 128, 192), "columns of C per tile; 0: what is done sooner", only=True)

    stages = {192: 5, 128: 6}
    boxes = 1

    @property
    def width(self):
        return self.BN or 192

    @property
    def macros(self):
        return {
            "BN": self.width, "STAGES": self.stages[self.width], "BOXES": self.boxes,
            "CLUSTER": CLUSTER, "GROUP": 8, "PIECE": PIECE, "PRODUCTS": self.products,
            "BF16": 1, "HALF_C": 0,
        }  # fmt: skip

    def fitted(self, M, N):
        """These options with the width by which all of C is done sooner, if none was chosen."""
        widths = (self.BN,) if self.BN else self.stages
        BN = min(widths, key=lambda BN: BN * rounds(M, N, BN)[0])
        return Options(self.products, BN)

    def grid_dim(self, M, N):
        times, tiles = rounds(M, N, self.fitted(M, N).BN)
        return (cdiv(tiles, times) * CLUSTER,)

    def model(self, M, N, K):
        """Every product of parts loads A and B once more.

        The operations are those of the float32 product; the tensor cores do `products` times as
        many.
        """
        down, across = cdiv(M, BM * CLUSTER), cdiv(N, self.fitted(M, N).BN)
        return half.half_model(M, N, K, self.products * down, self.products * across)


def rounds(M, N, BN):
    """Return how many tiles of C each cluster of blocks computes, and how many there are."""
    tiles = cdiv(M, BM * CLUSTER) * cdiv(N, BN)
    return cdiv(tiles, most_clusters(CLUSTER, tensor_cores.sms())), tiles


class Emulated(Rung):
    """A and B are split into parts, products of parts added, and what has no parts is mended."""

    def launcher(self, product, options):
        M, N, K = product.M, product.N, product.K
        options = options.fitted(M, N)
        padded_K, padded_N, pitch = cdiv(K, BK) * BK, cdiv(N, 8) * 8, cdiv(N, 4) * 4
        half.int32s(M, padded_N, 3 * padded_K)  # or ValueError, before memory is taken
        short = K < LEAST_K
        A, B, C, *_ = product.cpp_arguments()
        with host.memory_errors(6 * padded_K * (M + padded_N) + 4 * M * pitch):
            result = C if host.wide(C) else cupy.empty((M, pitch), np.float32)
            odd = cupy.zeros(M + N + 2, np.uint8)
            if not short:
                parts_A = cupy.empty((M, 3 * padded_K), np.uint16)
                parts_B = cupy.empty((3 * padded_K, padded_N), np.uint16)
        plain = self.load_function("plain", options)
        blocks = cdiv(M * N, 256)
        if not short:
            blocks = min(blocks, 8 * tensor_cores.sms())
        sizes = half.int32s(M, N, K)
        arguments = (A, B, result, *sizes, np.int32(result.shape[1]), odd, np.int32(short))
        steps = [] if short else self.steps(A, B, result, odd, parts_A, parts_B, sizes, options)
        steps.append(lambda: plain((blocks,), (256,), arguments))
        if result is not C:
            steps.append(lambda: cupy.copyto(C, result[:, :N]))

        def start():
            for step in steps:
                step()

        return start

    def load_function(self, name, options):
        """Return another kernel of the rung's C++ file."""
        return cpp.load(self.name, name, arch=self.arch, **options.macros)

    def steps(self, A, B, C, odd, parts_A, parts_B, sizes, options):
        """Return the launches that split A and B and add up the products of their parts."""
        M, N, _ = (int(size) for size in sizes)
        padded_K, padded_N = parts_A.shape[1] // 3, parts_B.shape[1]
        split = self.load_function("split", options)

        def splitting(X, parts, odd, shape, following, by_col):
            numbers = (*X.shape, *shape, parts.shape[1])
            arguments = (
                X, parts, odd, *half.int32s(*numbers), np.int64(following),
                np.int32(host.wide(X)), np.int32(by_col),
            )  # fmt: skip
            grid = (cdiv(shape[1], 4 * 32), min(cdiv(shape[0], 8), 65535))
            return lambda: split(grid, (32, 8), arguments)

        grid, block = options.launch(M, N)
        kernel = self.load(options)
        arguments = (
            tensor_map(parts_A, BM, BK, "bfloat16"),
            tensor_map(parts_B, BK // CLUSTER, 64, "bfloat16"),
            tensor_map(C, 64, 32, "float32"),
            *sizes,
        )
        return [
            lambda: odd.data.memset_async(0, odd.nbytes),
            splitting(A, parts_A, odd[1:], (M, padded_K), padded_K, 0),
            splitting(B, parts_B, odd[2 + M :], (padded_K, padded_N), padded_K * padded_N, 1),
            lambda: kernel(grid, block, arguments, shared_mem=options.shared_bytes),
        ]


RUNG = Emulated(
    name="emulated",
    title="fp32 as three bf16",
    chapter="08-tensor-cores",
    Options=Options,
    engines=("cpp",),
    choices={"cpp": ({}, {"products": 9})},
    dtypes=(half.PARTS,),
    needs=(9, 0),
    only="its instructions are Hopper's alone",
    instead=async_tiled.RUNG,
    dynamic_shared=True,
    arch="sm_90a",
)

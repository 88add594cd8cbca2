"""A product of numbers in 8 bits: half the bytes of 16 bits, and twice the products per cycle.

Only in CUDA C++, for sm_90a; the loop is that of `persistent`. A and B hold e4m3 with a scale each
(see `kernels.host.fp8`), and C is float32, or 16 bits where `out` holds them. The tensor cores keep
about 14 bits of a sum of such products; with ``promote=1`` sums in float32 take over after every
512 products.

Source: DeepSeek-AI, *DeepSeek-V3 Technical Report*, arXiv:2412.19437, section 3.3.2.
"""

from dataclasses import dataclass, replace

import numpy as np

from kernels import host
from kernels.host import cdiv, fp8, half, option
from kernels.host.tensor_cores import (
    BM,
    HopperRung,
    HopperTiles,
    map_of_result,
    most_clusters,
    sms,
)
from kernels.host.tma import tensor_map
from kernels.rungs import mma

BK = 128
#: Steps of BK after which float32 sums take over from those of the tensor cores.
PIECE = 4


@dataclass(frozen=True)
class Options(HopperTiles):
    promote: int = option(0, (0, 1), "1: add in float32 after every 512 products", only=True)
    group: int = option(8, (4, 8, 16), "rows of tiles that are computed together, to share L2")
    cluster: int = option(2, (1, 2), "blocks that share the columns of B", only=True)

    #: Pairs of tiles that fit into shared memory, by the width of B's.
    stages = {256: 4, 192: 5}
    boxes = 2

    @property
    def width(self):
        """Narrower where each thread holds its sums twice."""
        return 192 if self.promote else 256

    @property
    def block_tile(self):
        return BM, self.width, BK

    @property
    def shared_bytes(self):
        return self.stages[self.width] * BK * (BM + self.width) + 2 * self.boxes * 64 * 128

    @property
    def macros(self):
        return {
            "BN": self.width, "STAGES": self.stages[self.width], "BOXES": self.boxes,
            "CLUSTER": self.cluster, "GROUP": self.group, "PIECE": PIECE * self.promote,
        }  # fmt: skip

    def grid_dim(self, M, N):
        """As few blocks as need no more rounds than all SMs together would."""
        tiles = cdiv(M, BM * self.cluster) * cdiv(N, self.width)
        rounds = cdiv(tiles, most_clusters(self.cluster, sms()))
        return (cdiv(tiles, rounds) * self.cluster,)

    def model(self, M, N, K):
        """A is loaded once per column of tiles of C, B once per row of clusters."""
        return half.half_model(M, N, K, cdiv(M, BM * self.cluster), cdiv(N, self.width))

    def check(self):
        host.check_group(self.group, "group")


@dataclass(frozen=True, eq=False)
class Fp8Rung(HopperRung):
    """A rung whose A and B hold e4m3, and whose sums are multiplied by `scale`."""

    scale: float = 1.0

    def scaled(self, scale: float) -> "Fp8Rung":
        """Return this rung with another factor for its sums: the scale of A times that of B."""
        return replace(self, scale=float(scale))

    def operands(self, A, B, out, engine):
        return fp8.Fp8Product(A, B, out, engine)

    def check_resident(self, A, B, C):
        half.check_aligned(A=A, B=B.T, C=C)

    def arguments(self, product):
        A, B, C = product.cpp_arguments()
        map_A = tensor_map(A, BM, BK, "uint8")
        share = 256 if self._width == 256 else 96
        return map_A, tensor_map(B, share, BK, "uint8"), map_of_result(C)

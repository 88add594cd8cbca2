"""Blocks that stay: they share what they load, and load the next tile while C is stored.

Only in CUDA C++, for sm_90a. The blocks of a cluster own tiles below each other, and each loads a
part of the columns of B for all.
"""

from dataclasses import dataclass

from kernels.host import cdiv, check_group, half, option
from kernels.host.tensor_cores import (
    BM,
    HopperRung,
    HopperTiles,
    map_of_result,
    most_clusters,
    sms,
)
from kernels.rungs import mma


@dataclass(frozen=True)
class Options(HopperTiles):
    group: int = option(8, (4, 8, 16), "rows of tiles that are computed together, to share L2")
    cluster: int = option(2, (1, 2), "blocks that share the columns of B", only=True)

    BN = 256
    boxes = 2

    @property
    def macros(self):
        return super().macros | {"STAGES": self.stages[self.width], "BOXES": self.boxes}

    def grid_dim(self, M, N):
        """As few blocks as need no more rounds than all SMs together would.

        A round is one tile of C for each block. Blocks beyond would end a round earlier and gain
        nothing, but take power from the others.
        """
        tiles = cdiv(M, BM * self.cluster) * cdiv(N, self.width)
        rounds = cdiv(tiles, most_clusters(self.cluster, sms()))
        return (cdiv(tiles, rounds) * self.cluster,)

    def model(self, M, N, K):
        """A is loaded once per column of tiles of C, B once per row of clusters."""
        return half.half_model(M, N, K, cdiv(M, BM * self.cluster), cdiv(N, self.width))

    def check(self):
        check_group(self.group, "group")


class Persistent(HopperRung):
    """C leaves through shared memory, by TMA."""

    def arguments(self, product):
        map_A, map_B, C, *sizes = super().arguments(product)
        return map_A, map_B, map_of_result(C), *sizes


RUNG = Persistent(
    name="persistent",
    title="Persistent",
    chapter="08-tensor-cores",
    Options=Options,
    choices={"cpp": ({},)},
    instead=mma.RUNG,
)

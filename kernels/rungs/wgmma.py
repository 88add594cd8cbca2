"""Hopper's own instructions: TMA copies whole tiles, `wgmma` multiplies them from shared memory.

Only in CUDA C++, for sm_90a. Load a pair of tiles, multiply it, and load the next: nothing overlaps
yet.
"""

from dataclasses import dataclass

from kernels.host.tensor_cores import HopperRung, HopperTiles
from kernels.rungs import mma


@dataclass(frozen=True)
class Options(HopperTiles):
    """None: the kernel is written for one warpgroup per block, and 128 × 128 elements of C."""

    BN = 128
    stages = {128: 1}
    block_dim = (128,)


RUNG = HopperRung(
    name="wgmma",
    title="wgmma and TMA",
    chapter="08-tensor-cores",
    Options=Options,
    choices={"cpp": ({},)},
    instead=mma.RUNG,
    dynamic_shared=False,
)

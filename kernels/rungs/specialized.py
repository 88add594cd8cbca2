"""Warps with roles: one asks for tiles as long as there is room, eight multiply them.

Only in CUDA C++, for sm_90a.
"""

from dataclasses import dataclass

from kernels.host import option
from kernels.host.tensor_cores import HopperRung, HopperTiles
from kernels.rungs import mma


@dataclass(frozen=True)
class Options(HopperTiles):
    BN: int = option(256, (128, 256), "columns of C that a block computes", only=True)

    @property
    def macros(self):
        return {"BN": self.BN, "STAGES": self.stages[self.BN]}


RUNG = HopperRung(
    name="specialized",
    title="Specialised",
    chapter="08-tensor-cores",
    Options=Options,
    choices={"cpp": ({},)},
    instead=mma.RUNG,
)

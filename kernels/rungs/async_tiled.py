"""Asynchronous copies: tiles go to shared memory past the registers, several at a time.

Only in CUDA C++, for GPUs of compute capability 8.0 and above: Numba has no such copies.
"""

from dataclasses import dataclass

from kernels.host import option
from kernels.host.model import traffic
from kernels.rungs import split_k


@dataclass(frozen=True)
class Options(split_k.Options):
    BN: int = option(256, (64, 128, 256), "columns of C that a block computes")
    BK: int = option(8, (8, 16), "steps of K that a block copies at a time")
    TM: int = option(8, (8, 16), "rows of C that a thread computes")
    TN: int = option(16, (8, 16), "columns of C that a thread computes")
    stages: int = option(3, (2, 3, 4), "tiles of each matrix in shared memory")

    at_once = 1, 4  # a copy cannot turn four elements of a row of A on their side

    @property
    def buffers(self):
        return self.stages

    @property
    def held(self):
        return self.TM * self.TN + 2 * (self.TM + self.TN)

    @property
    def registers(self):
        return min(255, self.held + 40)

    def model(self, M, N, K):
        """The tiles' way into shared memory changes, not what is loaded."""
        return traffic(M, N, K, self.BM, self.BN, self.split)

    def check(self):
        if self.stages < 2:
            raise ValueError(f"stages={self.stages} leaves nothing to copy ahead: use 2, 3 or 4")
        if self.BK % 2:
            raise ValueError(
                f"BK={self.BK} is odd; two sets of registers take turns: use BK={self.BK + 1}"
            )
        super().check()


RUNG = split_k.SplitK(
    name="async_tiled",
    title="Async copies",
    chapter="07-register-tiling",
    Options=Options,
    engines=("cpp",),
    choices={"cpp": ({}, {"split": 4}, {"BN": 128, "WN": 32, "TN": 8, "split": 2})},
    needs=(8, 0),
    instead=split_k.RUNG,
    wide=True,
)

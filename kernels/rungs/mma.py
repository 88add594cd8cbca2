"""Tensor cores as Ampere has them: `mma`, fed by asynchronous copies several tiles ahead.

In CUDA C++ alone, so far; for GPUs from Ampere on.
"""

from dataclasses import dataclass

from kernels import host
from kernels.engine.device import device
from kernels.host import cdiv, half, option
from kernels.host.tensor_cores import HalfRung
from kernels.rungs import mma_sm75


def most_shared_bytes():
    """Return how much shared memory a block of this GPU may ask for."""
    here = device()
    # Without a GPU to ask, that of an H100 or H200.
    return here.shared_per_block_optin or (227 * 1024 if here.sms is None else 48 * 1024)


@dataclass(frozen=True)
class Options(host.Options):
    BM: int = option(128, (64, 128, 256), "rows of C that a block computes")
    BN: int = option(256, (64, 128, 256), "columns of C that a block computes")
    BK: int = option(64, (32, 64), "steps of K that a block loads at a time", only=True)
    WM: int = option(64, (32, 64), "rows of C that a warp computes")
    WN: int = option(64, (32, 64), "columns of C that a warp computes")
    stages: int = option(0, (0, 2, 3, 4), "pairs of tiles in shared memory; 0: as fit, up to 4")

    @property
    def block_dim(self):
        return (32 * (self.BM // self.WM) * (self.BN // self.WN),)

    @property
    def block_tile(self):
        return self.BM, self.BN, self.BK

    @property
    def stage_bytes(self):
        """Bytes of a pair of tiles."""
        return 2 * (self.BM + self.BN) * self.BK

    @property
    def depth(self):
        """Pairs of tiles in shared memory."""
        return self.stages or min(4, max(2, most_shared_bytes() // self.stage_bytes))

    @property
    def shared_bytes(self):
        return self.depth * self.stage_bytes

    @property
    def registers(self):
        """At least: sums, two sets of fragments of A and B, some 24 addresses and counters."""
        return self.WM * self.WN // 32 + 2 * (self.WM + self.WN) // 4 + 24

    @property
    def macros(self):
        return super().macros | {"STAGES": self.depth}

    def model(self, M, N, K):
        """A is loaded once per column of BM × BN tiles, B once per row of them."""
        return half.half_model(M, N, K, cdiv(M, self.BM), cdiv(N, self.BN))

    def check(self):
        BM, BN, BK = self.block_tile
        for name, warp in (("WM", self.WM), ("WN", self.WN)):
            if warp % 16:
                raise ValueError(f"{name}={warp} is not a multiple of 16: use 32 or 64")
        for name, tile, of, warp in (("BM", BM, "WM", self.WM), ("BN", BN, "WN", self.WN)):
            if tile % warp:
                raise ValueError(
                    f"{name}={tile} is not a multiple of {of}={warp}: use {of} 32 or 64"
                )
        if BN % 64:
            raise ValueError(f"BN={BN} is not a multiple of 64: use 64, 128 or 256")
        if self.stages == 1:
            raise ValueError(
                "stages=1 leaves no tile to load ahead: use 2 or more, or 0 for what fits"
            )
        limit, what = device().max_threads_per_block, f"mma {BM}×{BN}×{BK} in {self.depth} stages"
        if self.threads > limit:
            raise ValueError(
                f"{what} needs {self.threads} threads; a block of this GPU has {limit}:"
                " use larger WM or WN"
            )
        limit = most_shared_bytes()
        if self.shared_bytes > limit:
            raise ValueError(
                f"{what} needs {self.shared_bytes} bytes of shared memory; a block of this GPU has"
                f" {limit}: use fewer stages, or smaller BK"
            )
        at_once = 8 * self.threads  # elements: a thread copies 16 bytes, of several whole rows
        for name, rows, cols in (("A", BM, BK), ("B", BK, BN)):
            if at_once % cols or rows * cols % at_once:
                raise ValueError(
                    f"mma with {self.threads} threads copies {at_once} elements at once, of which"
                    f" the {rows}×{cols} tile of {name} is not a multiple in whole rows: use larger"
                    " WM or WN, and powers of two"
                )
        most = min(255, 65536 // self.threads)
        if self.registers > most:
            raise ValueError(
                f"mma with warp tiles of {self.WM}×{self.WN} needs {self.registers} registers per"
                f" thread; {self.threads} threads have {most} each: use smaller WM or WN"
            )


RUNG = HalfRung(
    name="mma",
    title="mma, sm_80",
    chapter="08-tensor-cores",
    Options=Options,
    choices={"cpp": ({},)},
    needs=(8, 0),
    instead=mma_sm75.RUNG,
    dynamic_shared=True,
)

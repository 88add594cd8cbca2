"""The rungs of the ladder, in the order in which the chapters climb them."""

from kernels.host.rung import ENGINE_TITLES, Rung
from kernels.rungs import (
    async_tiled,
    emulated,
    fp8,
    gemm_f16,
    gemm_f32,
    gemm_thin,
    mma,
    mma_sm75,
    naive,
    persistent,
    pipelined,
    serpentine,
    specialized,
    split_k,
    stream_k,
    swapped,
    swizzled,
    thread_tiled,
    thread_tiled_1d,
    tiled,
    unguarded,
    vectorized,
    warp_tiled,
    wgmma,
)

__all__ = ["ENGINE_TITLES", "GENERAL", "LADDER", "Rung", "UnknownRung"]


class UnknownRung(KeyError):
    """The name of no rung was asked for; the message lists those there are."""

    def __str__(self):
        return self.args[0]


class Ladder(dict):
    """The rungs by name, in order."""

    def __missing__(self, name):
        raise UnknownRung(f"no rung {name!r}: use one of {', '.join(self)}")


_ORDER = (
    swapped, naive, tiled,
    thread_tiled_1d, thread_tiled, vectorized, pipelined, warp_tiled,
    swizzled, unguarded, serpentine, split_k, async_tiled,
    mma_sm75, mma, wgmma, specialized, persistent, stream_k, emulated, fp8,
)  # fmt: skip
LADDER: dict[str, Rung] = Ladder((file.RUNG.name, file.RUNG) for file in _ORDER)
#: Kernels of the library beside the ladder: any layout, an epilogue, batches.
GENERAL: dict[str, Rung] = {file.RUNG.name: file.RUNG for file in (gemm_f32, gemm_f16, gemm_thin)}

"""Thread tiles in one dimension: TM results per thread, served by one element of B."""

from dataclasses import dataclass

import numpy as np

from kernels.backend import cuda, float32, uint32
from kernels.backend.vector import unrolled
from kernels.host import option
from kernels.host.rung import Rung
from kernels.host.tiles import Tiles, check_multiple


def make_thread_tiled_1d(BM, BN, BK, TM):
    THREADS = BM // TM * BN

    @cuda.jit
    def thread_tiled_1d(A, B, C):
        sA = cuda.shared.array((BM, BK), float32)
        sB = cuda.shared.array((BK, BN), float32)
        acc = cuda.local.array(TM, float32)
        t = uint32(cuda.threadIdx.x)
        # Neighbours in a warp own neighbours in a row of C.
        tx = t % uint32(BN)
        ty = t // uint32(BN)
        row0 = uint32(cuda.blockIdx.y * BM)
        col0 = uint32(cuda.blockIdx.x * BN)
        M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])

        for i in range(TM):
            acc[i] = float32(0)
        for k0 in range(uint32(0), K, uint32(BK)):
            # All threads load, side by side, as many elements as it takes.
            for first in range(0, BM * BK, THREADS):
                row = (t + uint32(first)) // uint32(BK)
                k = (t + uint32(first)) % uint32(BK)
                inside = row0 + row < M and k0 + k < K
                sA[row, k] = A[row0 + row, k0 + k] if inside else float32(0)
            for first in range(0, BK * BN, THREADS):
                k = (t + uint32(first)) // uint32(BN)
                col = (t + uint32(first)) % uint32(BN)
                inside = k0 + k < K and col0 + col < N
                sB[k, col] = B[k0 + k, col0 + col] if inside else float32(0)
            cuda.syncthreads()
            for k in range(BK):
                # One element of B serves TM results.
                b = sB[k, tx]
                for i in range(TM):
                    acc[i] += sA[ty * uint32(TM) + uint32(i), k] * b
            unrolled()  # the loop over k
            cuda.syncthreads()

        for i in range(TM):
            row = row0 + ty * uint32(TM) + uint32(i)
            if row < M and col0 + tx < N:
                C[row, col0 + tx] = acc[i]

    return thread_tiled_1d


@dataclass(frozen=True)
class Options(Tiles):
    BM: int = option(64, (32, 64, 128), "rows of C that a block computes")
    BN: int = option(64, (32, 64, 128), "columns of C that a block computes")
    TM: int = option(8, (4, 8, 16), "rows of C that a thread computes, in one column")

    @property
    def threads(self):
        return self.BM // self.TM * self.BN

    @property
    def held(self):
        return self.TM + 2

    def stores(self):
        t, i = np.arange(self.threads), np.arange(self.TM)[:, None]
        return t // self.BN * self.TM + i, t % self.BN

    def check(self):
        check_multiple(BM=self.BM, TM=self.TM)
        super().check()


RUNG = Rung(
    name="thread_tiled_1d",
    title="Thread tile, 1-D",
    chapter="07-register-tiling",
    Options=Options,
    make=make_thread_tiled_1d,
    choices={"numba": ({},), "cpp": ({"BK": 16},)},
)

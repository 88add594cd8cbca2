"""Tiled matrix product: the threads of a block share tiles of A and B through shared memory."""

from dataclasses import dataclass

from kernels import host
from kernels.backend import cuda, float32, uint32
from kernels.host.model import Access, Model, rows_of_warp
from kernels.host.rung import Rung


def make_tiled(tile):
    @cuda.jit
    def tiled(A, B, C):
        sA = cuda.shared.array((tile, tile), float32)
        sB = cuda.shared.array((tile, tile), float32)
        tx = uint32(cuda.threadIdx.x)
        ty = uint32(cuda.threadIdx.y)
        col = uint32(cuda.blockIdx.x * tile + tx)
        row = uint32(cuda.blockIdx.y * tile + ty)
        M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])

        acc = float32(0)
        # The tiles walk right along A and down along B; the last ones may reach past K.
        for k0 in range(uint32(0), K, uint32(tile)):
            # Zeros beyond the edges add nothing to any dot product.
            sA[ty, tx] = A[row, k0 + tx] if row < M and k0 + tx < K else float32(0)
            sB[ty, tx] = B[k0 + ty, col] if k0 + ty < K and col < N else float32(0)
            # No thread may read the tiles before every thread has written its part.
            cuda.syncthreads()
            for k in range(tile):
                acc += sA[ty, k] * sB[k, tx]
            # No thread may overwrite the tiles before every thread has read them.
            cuda.syncthreads()

        # Threads beyond the edges have helped to load, but own no element of C.
        if row < M and col < N:
            C[row, col] = acc

    return tiled


@dataclass(frozen=True)
class Options(host.Options):
    tile: int = host.option(
        16, (8, 16, 32), "side of the square tiles, and of the block of threads"
    )

    def check(self):
        host.check_tile(self.tile)

    @property
    def block_dim(self):
        return self.tile, self.tile

    @property
    def block_tile(self):
        return self.tile, self.tile, self.tile

    @property
    def shared_bytes(self):
        return 4 * self.tile * (self.tile + self.tile)

    def model(self, M, N, K):
        """A is loaded once per column of tiles of C, B once per row of them."""
        tile, rows = self.tile, rows_of_warp(self.tile)
        across, down = host.cdiv(N, tile), host.cdiv(M, tile)
        A = Access(M, K, readers=across, sweeps=across, height=rows, width=tile)
        B = Access(K, N, readers=down, sweeps=down, height=rows, width=tile)
        C = Access(M, N, readers=1, sweeps=1, height=rows, width=tile)
        return Model(flops=2 * M * N * K, reads={"A": A, "B": B}, writes={"C": C})


RUNG = Rung(
    name="tiled",
    title="Tiled in shared memory",
    chapter="04-tiled",
    Options=Options,
    make=make_tiled,
)

"""Naive matrix product: one thread computes one element of C, straight from global memory."""

from dataclasses import dataclass

from kernels import host
from kernels.backend import cuda, float32, uint32
from kernels.host.model import Access, Model, rows_of_warp
from kernels.host.rung import Rung


@cuda.jit
def naive(A, B, C):
    # Unsigned: a signed index may be negative, and would cost a test each time.
    col = uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
    row = uint32(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    # The last blocks reach past the edges of C.
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(uint32(A.shape[1])):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


@dataclass(frozen=True)
class Options(host.Options):
    block: int = host.option(32, (8, 16, 32), "side of the square block of threads")

    macros = {}  # nothing that the C++ counterpart has to know when it is compiled

    def check(self):
        host.check_tile(self.block, "block")

    @property
    def block_dim(self):
        return self.block, self.block

    @property
    def block_tile(self):
        return self.block, self.block, 1

    def grid_dim(self, M, N):
        return host.cdiv(N, self.block), host.cdiv(M, self.block)

    def model(self, M, N, K):
        """Every thread loads a row of A and a column of B; a warp runs along the rows."""
        side, rows = self.block, rows_of_warp(self.block)
        down = rows and host.cdiv(M, rows)
        A = Access(M, K, readers=N, sweeps=host.cdiv(N, side), height=rows, width=1)
        B = Access(K, N, readers=M, sweeps=down, height=1, width=side)
        C = Access(M, N, readers=1, sweeps=1, height=rows, width=side)
        return Model(flops=2 * M * N * K, reads={"A": A, "B": B}, writes={"C": C})


RUNG = Rung(
    name="naive",
    title="Naive",
    chapter="03-naive",
    Options=Options,
    make=lambda block: naive,  # it is the same for every block
)

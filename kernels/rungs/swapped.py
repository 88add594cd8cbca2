"""Naive matrix product with its indices swapped: x counts rows, so a warp runs down a column.

The same arithmetic and the same loads as `naive`; two lines say which index is the row.
"""

from dataclasses import dataclass

from kernels import host
from kernels.backend import cuda, float32, uint32
from kernels.host.model import Access, Model, rows_of_warp
from kernels.host.rung import Rung


@cuda.jit
def swapped(A, B, C):
    # Unsigned: a signed index may be negative, and would cost a test each time.
    row = uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
    col = uint32(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
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
        return host.cdiv(M, self.block), host.cdiv(N, self.block)

    def model(self, M, N, K):
        """Every thread loads a row of A and a column of B; a warp runs down the columns."""
        side, cols = self.block, rows_of_warp(self.block)
        across = cols and host.cdiv(N, cols)
        A = Access(M, K, readers=N, sweeps=across, height=side, width=1)
        B = Access(K, N, readers=M, sweeps=host.cdiv(M, side), height=1, width=cols)
        C = Access(M, N, readers=1, sweeps=1, height=side, width=cols)
        return Model(flops=2 * M * N * K, reads={"A": A, "B": B}, writes={"C": C})


RUNG = Rung(
    name="swapped",
    title="Naive, uncoalesced",
    chapter="03-naive",
    Options=Options,
    make=lambda block: swapped,  # it is the same for every block
)

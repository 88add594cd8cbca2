"""Tensor cores as Turing has them: `mma` lets a warp multiply small matrices in one instruction.

In CUDA C++ alone, so far; for GPUs from Turing on, such as the T4.
"""

from dataclasses import dataclass

from kernels import host
from kernels.host import cdiv, half
from kernels.host.tensor_cores import HalfRung


@dataclass(frozen=True)
class Options(host.Options):
    """None: the kernel is written for 8 warps per block, and 128 × 128 elements of C."""

    block_dim = (256,)
    block_tile = 128, 128, 32
    registers = 134
    shared_bytes = 18944

    def model(self, M, N, K):
        """A is loaded once per column of 128 × 128 tiles, B once per row of them."""
        return half.half_model(M, N, K, cdiv(M, 128), cdiv(N, 128))


RUNG = HalfRung(
    name="mma_sm75",
    title="mma, sm_75",
    chapter="08-tensor-cores",
    Options=Options,
    dtypes=("float16",),
    needs=(7, 5),
)

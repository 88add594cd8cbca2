"""A product of numbers in 8 bits: half the bytes of 16 bits, and twice the products per cycle.

A and B hold e4m3 (see `kernels.host.e4m3`), as uint8. A matrix in so short a format travels with a
scale, and ``LADDER["fp8"].scaled(scale_A * scale_B)`` multiplies every sum by both. C holds
float32, or the 16 bits of `out`.

The instruction, `wgmma`, wants the values of k side by side in A *and* in B. It transposes tiles of
16-bit numbers as it reads them, but none of bytes. So the kernel takes B by columns: of an array
``columns`` of shape (N, K), pass ``columns.T``. A B that lies by rows is copied first.

Tensor cores keep about 14 bits of a sum of such products. With ``promote=4`` a sum goes on in a
float32 register after every four steps of 128 products; that takes registers, so tiles are narrower
then.

Only in CUDA C++, for sm_90a; the loop is that of `persistent`.

Sources: NVIDIA, *PTX ISA*, section on wgmma (matrix-operand formats, transposition); DeepSeek-AI,
*DeepSeek-V3 Technical Report*, arXiv:2412.19437, section 3.3.2.
"""

from dataclasses import dataclass, replace

import numpy as np

from kernels.host import cdiv, fp8, half, option
from kernels.host.tensor_cores import BM, BOX_BYTES, HopperRung, map_of_result
from kernels.host.tma import tensor_map
from kernels.rungs import persistent

BK = 128
#: Bytes of shared memory for the ring of tiles and the boxes of C; the barriers take some, too.
SHARED = 226 * 1024


@dataclass(frozen=True)
class Options(persistent.Options):
    promote: int = option(
        0, (0, 4), "steps of 128 products after which sums go on in float32; 0: never"
    )
    stages: int = option(
        4,
        (3, 4),
        "pairs of tiles loaded ahead; fewer leave room for more of C on its way",
        only=True,
    )

    @property
    def width(self):
        """Narrower where each thread holds its sums twice."""
        return 192 if self.promote else 256

    @property
    def block_tile(self):
        return BM, self.width, BK

    @property
    def ring_bytes(self):
        """Bytes of the ring of tiles."""
        return self.stages * BK * (BM + self.width)

    @property
    def boxes(self):
        """As many boxes of C for each of two consumers as the ring leaves room for."""
        return (SHARED - self.ring_bytes) // (2 * BOX_BYTES)

    @property
    def shared_bytes(self):
        return self.ring_bytes + 2 * self.boxes * BOX_BYTES

    @property
    def macros(self):
        return {
            "BN": self.width, "STAGES": self.stages, "BOXES": self.boxes,
            "CLUSTER": self.cluster, "GROUP": self.group, "PROMOTE": self.promote,
        }  # fmt: skip

    def model(self, M, N, K):
        """As that of `persistent`, with one byte per element of A and B."""
        down, across = cdiv(M, BM * self.cluster), cdiv(N, self.width)
        return half.half_model(M, N, K, down, across, itemsize=1)


@dataclass(frozen=True, eq=False)
class Fp8Rung(HopperRung):
    """A rung whose A and B hold e4m3.

    Attributes
    ----------
    scale : float
        What every sum is multiplied by.
    """

    dtypes: tuple[str, ...] = (half.E4M3,)
    scale: float = 1.0

    def scaled(self, scale: float) -> "Fp8Rung":
        """Return this rung with another factor for its sums: the scale of A times that of B."""
        return replace(self, scale=float(scale))

    def operands(self, A, B, out, engine):
        return fp8.Fp8Product(A, B, out, engine)

    def check_resident(self, A, B, C):
        half.check_aligned(A=A, **{"B.T": B.T}, C=C)

    def launcher(self, product, options):
        A, columns, C = product.cpp_arguments()
        arguments = (
            tensor_map(A, BM, BK, "uint8"),
            tensor_map(columns, options.width // options.cluster, BK, "uint8"),
            map_of_result(C),
            *half.int32s(product.M, product.N, product.K),
            np.float32(self.scale),
        )
        grid, block = options.launch(product.M, product.N)
        twin, asked = self.load(options, product), options.shared_bytes
        return self.bound(twin, grid, block, arguments, asked, product)


RUNG = Fp8Rung(
    name="fp8",
    title="fp8",
    chapter="08-tensor-cores",
    Options=Options,
    choices={"cpp": ({}, {"promote": 4})},
)

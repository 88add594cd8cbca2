"""A matrix product in Triton, as its users write one: a block of the program for each tile of C.

Triton decides by itself how threads share the tile, how loads are staged in shared memory and
which instructions multiply. Compiling needs the package triton and no GPU; `peer_triton` launches.
"""

from __future__ import annotations

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from kernels.measure.described import described, store

#: Tile sizes BM×BN×BK, warps and stages: for float32, where registers are scarce, and for 16 bits.
FLOAT32 = [(64, 64, 16, 4, 3), (128, 64, 16, 4, 3), (128, 128, 16, 8, 3)]
SIXTEEN = [(128, 256, 64, 8, 3), (128, 128, 64, 8, 3), (64, 128, 64, 4, 4)]
#: The GPUs whose code is described: Ampere, Hopper.
GPUS = {"sm_80": 80, "sm_90": 90}


@triton.jit
def matmul(
    A, B, C, M, N, K,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
    IEEE: tl.constexpr,
):  # fmt: skip
    # Blocks that run together share tiles in L2: GROUP rows of tiles first.
    down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    block = tl.program_id(0)
    first = block // (GROUP * across) * GROUP
    height = min(down - first, GROUP)
    row0 = (first + block % (GROUP * across) % height) * BM
    col0 = block % (GROUP * across) // height * BN
    row, col, k = row0 + tl.arange(0, BM), col0 + tl.arange(0, BN), tl.arange(0, BK)
    # 64 bits from the first multiplication on: M·K may exceed 2³¹.
    a = A + row[:, None].to(tl.int64) * K + k[None, :]
    b = B + k[:, None].to(tl.int64) * N + col[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        left = tl.load(a, mask=(row[:, None] < M) & (k0 + k[None, :] < K), other=0.0)
        right = tl.load(b, mask=(k0 + k[:, None] < K) & (col[None, :] < N), other=0.0)
        if IEEE:
            acc = tl.dot(left, right, acc, input_precision="ieee")
        else:
            acc = tl.dot(left, right, acc)
        a += BK
        b += BK * N
    inside = (row[:, None] < M) & (col[None, :] < N)
    tl.store(C + row[:, None].to(tl.int64) * N + col[None, :], acc, mask=inside)


def compiled(tiles: tuple[int, ...], capability: int) -> tuple[str, int]:
    """The PTX of the product of two float16 matrices, and its bytes of shared memory."""
    BM, BN, BK, warps, stages = tiles
    constants = {"BM": BM, "BN": BN, "BK": BK, "GROUP": 8, "IEEE": False}
    numbers = {"A": "*fp16", "B": "*fp16", "C": "*fp32", "M": "i32", "N": "i32", "K": "i32"}
    source = ASTSource(
        fn=matmul,
        signature=numbers | dict.fromkeys(constants, "constexpr"),
        constexprs=constants,
        attrs={(place,): [["tt.divisibility", 16]] for place in range(len(numbers))},
    )
    options = {"num_warps": warps, "num_stages": stages}
    made = triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)
    return made.asm["ptx"], made.metadata.shared


if __name__ == "__main__":
    store("Triton", ("triton",), {
        gpu: described(*compiled(SIXTEEN[0], capability)) for gpu, capability in GPUS.items()
    })  # fmt: skip

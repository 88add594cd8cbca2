"""A matrix product in cuTile, as its users write one: a block of the program for each tile of C.

cuTile decides by itself how many threads share a tile, how loads are staged in shared memory and
which instructions multiply. This file needs the package cuda-tile with its compiler, and neither a
GPU nor the rest of the course: their packages of NVVM may differ, so give it an environment of its
own. `peer_cutile` launches what it writes. ::

    python -m venv cutile && cutile/bin/pip install cuda-tile==1.7.0 \\
        nvidia-cuda-tileiras==13.5.37 nvidia-cuda-nvcc==13.5.37 nvidia-nvvm==13.5.37
    cutile/bin/python -m kernels.measure.cutile_product sm_90
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import cuda.tile as ct
from cuda.tile.compilation import (
    ArrayConstraint,
    CallingConvention,
    KernelSignature,
    export_kernel,
)

from kernels.measure.described import described, store

#: Where the machine code goes: a folder for each GPU.
FOLDER = Path(__file__).resolve().parents[2] / "_build" / "cutile"
#: Tile sizes BM×BN×BK, and the warps that multiply: with fewer, sums would leave the registers.
FLOAT32 = [(64, 64, 16, 4), (128, 64, 16, 8), (128, 128, 8, 8)]
SIXTEEN = [(128, 256, 64, 8), (256, 128, 64, 8), (128, 128, 64, 4), (64, 128, 64, 4)]
TILES = {"float32": FLOAT32, "float16": SIXTEEN, "bfloat16": SIXTEEN}
#: The GPUs whose code is described: Ampere, Hopper, Blackwell.
GPUS = ("sm_80", "sm_90", "sm_100")

Size = ct.Constant[int]


def product(A, B, C, BM: Size, BN: Size, BK: Size, GROUP: Size):
    # Blocks that run together share tiles in L2: GROUP rows of tiles first.
    down, across = ct.num_tiles(C, 0, (BM, BN)), ct.num_tiles(C, 1, (BM, BN))
    block = ct.bid(0)
    first = block // (GROUP * across) * GROUP
    height = min(down - first, GROUP)
    row = first + block % (GROUP * across) % height
    col = block % (GROUP * across) // height
    zeros = ct.PaddingMode.ZERO
    acc = ct.zeros((BM, BN), ct.float32)
    for k in range(ct.num_tiles(A, 1, (BM, BK))):
        left = ct.load(A, (row, k), (BM, BK), padding_mode=zeros)
        right = ct.load(B, (k, col), (BK, BN), padding_mode=zeros)
        acc = ct.mma(left, right, acc)
    ct.store(C, (row, col), acc)


def compiled(dtype: str, tiles: tuple[int, ...], aligned: bool, gpu: str) -> bytes:
    """Return the machine code of the product for a GPU such as ``"sm_90"``; C holds float32.

    Parameters
    ----------
    dtype : str
        Of A and B: one of `TILES`.
    tiles : tuple of int
        BM, BN and BK, powers of two, and the warps that multiply.
    aligned : bool
        Whether all rows start on 16-byte boundaries, as the TMA unit needs it.
    """
    *sizes, warps = tiles
    matrices = [matrix(dtype, aligned), matrix(dtype, aligned), matrix("float32", aligned)]
    convention = CallingConvention.cutile_python_v1()
    signature = KernelSignature([*matrices, *sizes, 8], convention, "product")
    kernel, file = ct.kernel(product, num_worker_warps=warps), BytesIO()
    export_kernel(kernel, [signature], file, gpu_code=gpu, output_format="cubin")
    return file.getvalue()


def matrix(dtype: str, aligned: bool) -> ArrayConstraint:
    """A contiguous matrix, as cuTile is told of it ahead of time."""
    number: Any = getattr(ct, dtype)
    chunk = 128 // number.bitwidth if aligned else 1
    return ArrayConstraint(
        number,
        ndim=2,
        index_dtype=ct.int32,
        shape_divisible_by=(1, chunk),
        stride_divisible_by=(chunk, 1),
        stride_constant=(None, 1),
        stride_lower_bound_incl=0,
        base_addr_divisible_by=chunk * number.bitwidth // 8,
        alias_groups=(),
        may_alias_internally=False,
    )


def versions(gpu: str) -> Iterator[tuple[str, bytes]]:
    """Yield every version for a GPU: the name of its file, and its machine code."""
    for dtype, sizes in TILES.items():
        for tiles in sizes:
            *shape, warps = tiles
            for aligned, rows in ((True, "aligned"), (False, "any")):
                name = f"{dtype}-{'x'.join(map(str, shape))}-{warps}warps-{rows}.cubin"
                yield name, compiled(dtype, tiles, aligned, gpu)


def ptx_of(code: bytes) -> tuple[str, int]:
    """The PTX that lies in machine code, and its bytes of shared memory."""
    text = code.decode("latin-1").replace("\0", "\n")
    (shared,) = re.findall(r"^\.shared .* global_smem_product\[(\d+)\];", text, re.M)
    return text, int(shared)


def main(gpu: str) -> None:
    """Compile all versions for a GPU, or with ``"describe"`` say what they hold."""
    if gpu == "describe":
        codes = {gpu: compiled("float16", SIXTEEN[0], True, gpu) for gpu in GPUS}
        found = {gpu: described(*ptx_of(code)) for gpu, code in codes.items()}
        store("cuTile", ("cuda-tile", "nvidia-cuda-tileiras"), found)
        return
    folder = FOLDER / gpu
    folder.mkdir(parents=True, exist_ok=True)
    for name, code in versions(gpu):
        (folder / name).write_bytes(code)
        print(f"{folder.name}/{name}: {len(code)} bytes")


if __name__ == "__main__":
    main(sys.argv[1])

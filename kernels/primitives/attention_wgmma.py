"""Fused attention for Hopper: the TMA unit copies tiles, `wgmma` multiplies them.

Only in CUDA C++, for sm_90a. While the tensor cores work on one tile, a warpgroup weighs the scores
of the next: products and softmax overlap.

Sources: J. Shah and others, *FlashAttention-3: Fast and Accurate Attention with Asynchrony and
Low-precision*, arXiv:2407.08608; NVIDIA, *PTX ISA*, section on wgmma (register fragments).
"""

import math
from collections.abc import Callable

import numpy as np

from kernels.host import cpp
from kernels.host.tma import tensor_map

QUERIES = KEYS = 128  #: of a block, and of a tile of K or V
STAGES = 2  #: tiles of K, and of V, that a block has in shared memory
THREADS = 384  #: a producer and two consumers, each a warpgroup


def runs_on(capability: tuple[int, int] | None) -> bool:
    """Whether a GPU has the kernel's instructions: Hopper's alone, no later one has them."""
    return capability is not None and capability[0] == 9


def check_gpu(capability: tuple[int, int] | None) -> None:
    """Raise RuntimeError for a GPU without the kernel's instructions."""
    if capability is not None and not runs_on(capability):
        raise RuntimeError(
            f"attention_wgmma.cu needs sm_90, this GPU is sm_{capability[0]}{capability[1]}:"
            " use wgmma=0"
        )


def shared_bytes_of(D: int) -> int:
    """Return the bytes of shared memory that a block asks for: a tile of Q, and two rings."""
    return 2 * D * (QUERIES + 2 * STAGES * KEYS)


def launcher(operands, causal: bool, grid: tuple[int, int]) -> Callable[[], object]:
    """Return a function that launches the kernel on checked operands (`attention.Heads`)."""
    asked = shared_bytes_of(operands.D)
    macros = {"D": operands.D, "CAUSAL": int(causal), "HALF_C": 1}
    macros["BF16"] = int(operands.format == "bfloat16")
    twin = cpp.load("attention_wgmma", shared_bytes=asked, arch="sm_90a", **macros)
    *inputs, O = operands.cpp_arguments()  # noqa: E741
    maps = [tensor_map(array, KEYS, 64, operands.format) for array in inputs]
    scale = np.float32(math.log2(math.e) / math.sqrt(operands.D))
    arguments = (*maps, O, np.int32(operands.N), scale)
    # Tensor maps are bare addresses: `operands` keeps the arrays that lie there.
    return lambda held=operands: twin(grid, (THREADS,), arguments, shared_mem=asked)

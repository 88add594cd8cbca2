"""What an SM delivers in each cycle: of a GPU's data sheet, its driver, or its record."""

from __future__ import annotations

from math import log2

from kernels.basics import data_sheets
from kernels.budget.ceilings import SmRates

__all__ = ["WORD_BITS", "aligned", "of_gpu", "tensor_rate", "wavefront_rate"]

#: Bits of a number as the tensor cores take it.
WORD_BITS = {"float16": 16, "bfloat16": 16, "bfloat16x3": 16, "e4m3": 8}


def of_gpu(
    gpu: data_sheets.Gpu, dtype: str = "float32", clock: float = 0.0, shared: float = 0.0
) -> SmRates:
    """The limits of a GPU for products of one number format.

    Parameters
    ----------
    gpu : Gpu
        A data sheet, or what the driver says.
    dtype : str
    clock : float
        Cycles per second; by default the data sheet's boost.
    shared : float
        Bytes per second that all SMs read from shared memory, where that was measured.
    """
    clock = clock or 1e6 * gpu.boost_mhz
    return SmRates(
        fp32=gpu.cores_per_sm / 32,
        dram=gpu.bandwidth / gpu.sms / clock,
        wavefronts=wavefront_rate(gpu, shared) if shared else 1,
        tensor=tensor_rate(gpu, dtype),
    )


def aligned(N: int, K: int, dtype: str = "float32") -> bool:
    """Whether the rows of A (M×K) and B (K×N) begin on 16-byte boundaries."""
    word = 4 if dtype == "bfloat16x3" else WORD_BITS.get(dtype, 32) // 8
    return not (N * word % 16 or K * word % 16)


def tensor_rate(gpu: data_sheets.Gpu, dtype: str) -> float | None:
    """Multiply-adds that an SM's tensor cores start in each cycle; None without any.

    A data sheet has FLOP per second at a clock it does not name. In each cycle it is a power of
    two: the nearest, half the bits of a number giving twice as many.
    """
    if dtype not in WORD_BITS or not gpu.fp16_tensor_tflops:
        return None
    each = 1e12 * gpu.fp16_tensor_tflops / (2 * gpu.sms * 1e6 * gpu.boost_mhz)
    return 2.0 ** round(log2(each)) * 16 / WORD_BITS[dtype]


def wavefront_rate(gpu: data_sheets.Gpu, shared: float) -> float:
    """Wavefronts of 128 bytes that an SM delivers in each cycle: a power of two, the nearest.

    Parameters
    ----------
    gpu : Gpu
    shared : float
        Bytes per second that all SMs were measured to read from shared memory.
    """
    return 2.0 ** round(log2(shared / (128 * gpu.sms * 1e6 * gpu.boost_mhz)))

"""cuBLASLt's product of e4m3, as PyTorch calls it: by the algorithm that its heuristics put first.

Usually the library leaves sums to the tensor cores, which keep 14 bits of them (it calls that fast
accumulation), as `kernels.rungs.fp8` does; otherwise they go on in float32 now and then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch


def launch(A: Any, B: Any, C: Any, fast: bool = True) -> Callable[[], object]:
    """A launch of C = A·B.

    Parameters
    ----------
    A, B : CuPy arrays of e4m3 (as uint8), shapes (M, K) and (K, N)
        Contiguous, B by columns; K and N are multiples of 16.
    C : CuPy array, shape (M, N)
        Of float32, float16 or bfloat16 (as uint16).
    fast : bool
        Whether sums stay in the tensor cores.

    Raises
    ------
    RuntimeError
        What PyTorch says of sizes or a GPU that the library does not multiply e4m3 on.
    """
    left, right = _tensor(A), _tensor(B.T).t()
    result = _tensor(C)
    one = torch.ones((), device=result.device)

    def run() -> None:
        torch._scaled_mm(
            left, right, scale_a=one, scale_b=one, out_dtype=result.dtype,
            use_fast_accum=fast, out=result,
        )  # fmt: skip

    run()  # or the error, before anything is timed
    return run


def _tensor(array: Any) -> Any:
    """A CuPy array as a tensor on the same memory, its bits as what they stand for."""
    if array.dtype == np.uint8:
        return torch.as_tensor(array, device="cuda").view(torch.float8_e4m3fn)
    if array.dtype == np.uint16:
        return torch.as_tensor(array.view(np.int16), device="cuda").view(torch.bfloat16)
    return torch.as_tensor(array, device="cuda")

"""The ladder as a PyTorch operator: ``torch.ops.tile_by_tile.matmul(A, B, "tiled")``.

On a GPU the CUDA C++ twin of a rung runs, on PyTorch's current stream and on its memory; without
one, its Numba kernel runs in the interpreter, which is slow and made for small matrices.
"""

from __future__ import annotations

from typing import Any

try:
    import torch
except ImportError:
    raise ImportError(
        "kernels.frameworks.pytorch needs PyTorch: .venv/bin/pip install torch, "
        "or pip install torch in your own environment"
    ) from None

from kernels.engine import cupy
from kernels.frameworks.operands import check_product, rung_for

__all__ = ["matmul"]


@torch.library.custom_op("tile_by_tile::matmul", mutates_args=())
def matmul(A: torch.Tensor, B: torch.Tensor, rung: str = "tiled") -> torch.Tensor:
    """Return A·B, computed by a rung of the ladder.

    Parameters
    ----------
    A, B : torch.Tensor of float32, shapes (M, K) and (K, N)
        Both on one CUDA device, or both on the CPU. On a GPU, a tensor that is not contiguous is
        copied first. On meta, only the shape of C is computed.
    rung : str
        A rung that takes float32, such as ``"warp_tiled"``; on a CPU it needs a Numba kernel.

    Returns
    -------
    torch.Tensor of float32, shape (M, N)
        On the same device. It has gradients for A and B, of any order, by the same rung.

    Raises
    ------
    LookupError, TypeError, ValueError, RuntimeError
        One line that names the value and the way out.
    """
    if A.device.type not in ("cpu", "cuda"):
        raise ValueError(f"A is on {A.device}: the kernels run on cuda and cpu; move it, A.cpu()")
    chosen = rung_for(rung, "cpp" if A.is_cuda else "numba")
    _check(A, B)
    C = A.new_empty(A.shape[0], B.shape[1])
    if A.is_cuda:
        stream = cupy.cuda.ExternalStream(torch.cuda.current_stream(A.device).cuda_stream)
        with cupy.cuda.Device(A.device.index), stream:
            arrays = [cupy.from_dlpack(one.detach()) for one in (A.contiguous(), B.contiguous(), C)]
            chosen.prepare(*arrays, engine="cpp")()
    else:
        chosen.matmul(A.detach().numpy(), B.detach().numpy(), out=C.numpy())
    return C


@matmul.register_fake
def _shape(A: torch.Tensor, B: torch.Tensor, rung: str = "tiled") -> torch.Tensor:
    """What a compiler needs to know of the result: its shape, type and device."""
    _check(A, B)
    return A.new_empty(A.shape[0], B.shape[1])


def _remember(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    A, B, ctx.rung = inputs
    ctx.save_for_backward(A, B)


def _gradients(ctx: Any, G: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
    """With C = A·B and G the gradient of C: the gradients G·Bᵀ of A and Aᵀ·G of B."""
    A, B = ctx.saved_tensors
    of_A, of_B = ctx.needs_input_grad[:2]
    return (
        matmul(G, B.t(), ctx.rung) if of_A else None,
        matmul(A.t(), G, ctx.rung) if of_B else None,
        None,
    )


matmul.register_autograd(_gradients, setup_context=_remember)


def _check(A: torch.Tensor, B: torch.Tensor) -> None:
    check_product(tuple(A.shape), tuple(B.shape), str(A.dtype), str(B.dtype))
    if A.device != B.device:
        raise ValueError(f"A is on {A.device} and B on {B.device}: move one, B.to(A.device)")

"""The ladder as a PyTorch operator: ``torch.ops.tile_by_tile.matmul(A, B)``.

On a GPU the kernel that `kernels.matmul` chooses runs, on PyTorch's current stream and on its
memory, or the CUDA C++ twin of a rung that is named: ``matmul(A, B, "tiled")``. Without a GPU, a
Numba kernel runs in the interpreter, which is slow and made for small matrices.
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
from kernels.rungs.order import LADDER
from kernels.tuning import chooser

__all__ = ["matmul"]

#: Number formats that A and B may have, with the one of C.
FORMATS = {
    torch.float32: torch.float32,
    torch.float16: torch.float16,
    torch.bfloat16: torch.bfloat16,
    torch.float8_e4m3fn: torch.bfloat16,
}
#: Formats that CuPy lacks: it sees their bits.
BITS = {torch.bfloat16: torch.uint16, torch.float8_e4m3fn: torch.uint8}


@torch.library.custom_op("tile_by_tile::matmul", mutates_args=())
def matmul(A: torch.Tensor, B: torch.Tensor, rung: str = "") -> torch.Tensor:
    """Return A·B, computed by the kernel that suits the shape, or by a rung of the ladder.

    Parameters
    ----------
    A, B : torch.Tensor of float32, float16, bfloat16 or float8_e4m3fn, shapes (M, K) and (K, N)
        Both on one CUDA device, or both on the CPU. Of any strides, such as ``B.t()``. On meta,
        only the shape of C is computed.
    rung : str
        A rung that takes the format, such as ``"warp_tiled"``; on a CPU it needs a Numba kernel
        that takes float32, and numbers of 16 bits are converted. Empty: the one that suits the
        shape, on a CPU ``"tiled"``.

    Returns
    -------
    torch.Tensor of the format of A and B (bfloat16 for float8), shape (M, N)
        On the same device; sums are in float32. It has gradients for A and B, of any order, by the
        same rung (none for float8).

    Raises
    ------
    LookupError, TypeError, ValueError, RuntimeError
        One line that names the value and the way out.
    """
    if A.device.type not in ("cpu", "cuda"):
        raise ValueError(f"A is on {A.device}: the kernels run on cuda and cpu; move it, A.cpu()")
    if A.is_cuda and (not rung or A.dtype != torch.float32):
        return _planned(A, B, rung)
    if not A.is_cuda and A.dtype != torch.float32:
        _check(A, B)
        return matmul(A.float(), B.float(), rung).to(FORMATS[A.dtype])
    rung = rung or "tiled"
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
def _shape(A: torch.Tensor, B: torch.Tensor, rung: str = "") -> torch.Tensor:
    """What a compiler needs to know of the result: its shape, type and device."""
    _check(A, B)
    return A.new_empty(A.shape[0], B.shape[1], dtype=FORMATS[A.dtype])


#: Launches that CUDA graphs hold, with their memory: a graph outlives the call that it records.
_recorded: list[Any] = []


def _planned(A: torch.Tensor, B: torch.Tensor, rung: str) -> torch.Tensor:
    """A·B on a GPU, by a launch that is kept for these addresses, or by a named rung."""
    _check(A, B)
    C = A.new_empty(A.shape[0], B.shape[1], dtype=FORMATS[A.dtype])
    stream = cupy.cuda.ExternalStream(torch.cuda.current_stream(A.device).cuda_stream)
    with cupy.cuda.Device(A.device.index), stream:
        arrays = [
            cupy.from_dlpack(one.detach().view(BITS.get(one.dtype, one.dtype))) for one in (A, B, C)
        ]
        launch = None if rung else chooser.kept(*arrays, "", chooser.PLAIN)
        if launch is None:
            with cupy.cuda.using_allocator(_allocator.malloc):
                if rung:
                    engine = "cpp" if "cpp" in LADDER[rung].engines else "numba"
                    launch = LADDER[rung].prepare(*arrays, engine=engine, strided=True)
                else:
                    launch = chooser.plan(*arrays).launch
            if torch.cuda.is_current_stream_capturing():
                _recorded.append(launch)
        launch()
    return C


# While a graph is recorded, PyTorch alone may allocate: it knows whose memory that is.
_allocator = cupy.cuda.PythonFunctionAllocator(
    lambda size, device: torch.cuda.caching_allocator_alloc(size, device),
    lambda address, device: torch.cuda.caching_allocator_delete(address),
) if torch.cuda.is_available() else None  # fmt: skip


def _remember(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    A, B, ctx.rung = inputs
    ctx.save_for_backward(A, B)


def _gradients(ctx: Any, G: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
    """With C = A·B and G the gradient of C: the gradients G·Bᵀ of A and Aᵀ·G of B."""
    A, B = ctx.saved_tensors
    of_A, of_B = ctx.needs_input_grad[:2]
    if A.dtype != FORMATS[A.dtype]:
        raise TypeError(f"a product of {A.dtype} has no gradient: multiply in bfloat16")
    return (
        matmul(G, B.t(), ctx.rung) if of_A else None,
        matmul(A.t(), G, ctx.rung) if of_B else None,
        None,
    )


matmul.register_autograd(_gradients, setup_context=_remember)


def _check(A: torch.Tensor, B: torch.Tensor) -> None:
    takes = tuple(str(dtype).removeprefix("torch.") for dtype in FORMATS)
    check_product(tuple(A.shape), tuple(B.shape), str(A.dtype), str(B.dtype), takes)
    if A.device != B.device:
        raise ValueError(f"A is on {A.device} and B on {B.device}: move one, B.to(A.device)")

"""The course's kernels as PyTorch operators, ``torch.ops.tile_by_tile.matmul`` and ``.attention``.

On a GPU the kernel that `kernels.matmul` chooses runs, on PyTorch's current stream and on its
memory, or a named rung's CUDA C++ counterpart: ``matmul(A, B, "tiled")``. Without a GPU, a
Numba kernel runs in the interpreter, which is slow and made for small matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Any

try:
    import torch
except ImportError:
    raise ImportError(
        "kernels.frameworks.pytorch needs PyTorch: .venv/bin/pip install torch, "
        "or pip install torch in your own environment"
    ) from None

from kernels.backend import cupy
from kernels.frameworks.operands import check_product, rung_for
from kernels.host import tuned
from kernels.host.movable import Movable, prepared_and_launched
from kernels.host.plans import Plans, unowned
from kernels.primitives import attention as fused
from kernels.primitives import attention_backward
from kernels.rungs.order import LADDER
from kernels.tuning import chooser

__all__ = ["attention", "attention_lse", "matmul"]

#: Number formats that A and B may have, with the one of C.
FORMATS = {
    torch.float32: torch.float32,
    torch.float16: torch.float16,
    torch.bfloat16: torch.bfloat16,
    torch.float8_e4m3fn: torch.bfloat16,
}
#: Formats that CuPy lacks: it sees their bits.
BITS = {torch.bfloat16: torch.uint16, torch.float8_e4m3fn: torch.uint8}


#: The operators are defined with as little around them as PyTorch allows: what wraps a
#: ``torch.library.custom_op`` costs the host as much as a launch.
_library = torch.library.Library("tile_by_tile", "FRAGMENT")
_library.define("matmul(Tensor A, Tensor B, str rung='') -> Tensor")


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
    return torch.ops.tile_by_tile.matmul(A, B, rung)


def _on_cpu(A: torch.Tensor, B: torch.Tensor, rung: str = "") -> torch.Tensor:
    """A·B in the interpreter."""
    if A.dtype != torch.float32:
        _check(A, B)
        return _on_cpu(A.float(), B.float(), rung).to(FORMATS[A.dtype])
    chosen = rung_for(rung or "tiled", "numba")
    _check(A, B)
    C = A.new_empty(A.shape[0], B.shape[1])
    chosen.matmul(A.detach().numpy(), B.detach().numpy(), out=C.numpy())
    return C


def _shape(A: torch.Tensor, B: torch.Tensor, rung: str = "") -> torch.Tensor:
    """What a compiler needs to know of the result: its shape, type and device."""
    _check(A, B)
    return A.new_empty(A.shape[0], B.shape[1], dtype=FORMATS[A.dtype])


class _Kind:
    """Products of one shape, layout and format, checked once: what launches have in common."""

    __slots__ = ("dtype", "rung", "shape")

    def __init__(self, A: torch.Tensor, B: torch.Tensor, rung: str) -> None:
        if rung and A.dtype == torch.float32:
            rung_for(rung, "cpp")
        _check(A, B)
        self.shape, self.dtype, self.rung = (A.shape[0], B.shape[1]), FORMATS[A.dtype], rung

    def make(self, *arrays: Any) -> Callable[[], object]:
        """Return the launch on CuPy arrays A, B and C."""
        if not self.rung:
            return chooser.plan(*arrays).launch
        engine = "cpp" if "cpp" in LADDER[self.rung].engines else "numba"
        return LADDER[self.rung].prepare(*arrays, engine=engine, strided=True)


#: The kinds met so far, by all that they depend on.
_kinds: dict[Hashable, _Kind] = {}


def _on_gpu(A: torch.Tensor, B: torch.Tensor, rung: str = "") -> torch.Tensor:
    """A·B on a GPU, by the kernel that suits the shape, or by a named rung."""
    key = (
        rung, tuned.stamp(), A.get_device(), B.get_device(), A.dtype, B.dtype,
        A.shape, A.stride(), B.shape, B.stride(),
    )  # fmt: skip
    kind = _kinds.get(key)
    if kind is None:
        if len(_kinds) >= _kept.most:
            _kinds.clear()
        kind = _kinds[key] = _Kind(A, B, rung)
    C = A.new_empty(kind.shape, dtype=kind.dtype)
    _launch(kind, (A, B, C), kind.make)
    return C


class _Product(torch.autograd.Function):
    """A·B, and its gradients."""

    @staticmethod
    def forward(ctx: Any, A: torch.Tensor, B: torch.Tensor, rung: str) -> torch.Tensor:
        ctx.rung = rung
        ctx.save_for_backward(A, B)
        return _below_autograd(A, B, rung)

    @staticmethod
    def backward(ctx: Any, G: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """With G the gradient of C: the gradients G·Bᵀ of A and Aᵀ·G of B, as A and B lie."""
        A, B = ctx.saved_tensors
        of_A, of_B = ctx.needs_input_grad[:2]
        if A.dtype != FORMATS[A.dtype]:
            raise TypeError(f"a product of {A.dtype} has no gradient: multiply in bfloat16")
        return (
            _lying_as(A, G, B.t(), ctx.rung) if of_A else None,
            _lying_as(B, A.t(), G, ctx.rung) if of_B else None,
            None,
        )


def _lying_as(X: torch.Tensor, A: torch.Tensor, B: torch.Tensor, rung: str) -> torch.Tensor:
    """A·B, by columns where X lies by columns: what adds it to X would have to turn it round."""
    if X.stride(0) == 1 < X.stride(1):
        return matmul(B.t(), A.t(), rung).t()
    return matmul(A, B, rung)


def _with_gradients(A: torch.Tensor, B: torch.Tensor, rung: str = "") -> torch.Tensor:
    if torch.is_grad_enabled() and (A.requires_grad or B.requires_grad):
        return _Product.apply(A, B, rung)
    return _below_autograd(A, B, rung)


def _below_autograd(A: torch.Tensor, B: torch.Tensor, rung: str) -> torch.Tensor:
    """A·B by whatever comes next: at once by a kernel, where nobody watches or transforms."""
    plain = type(A) in PLAIN and type(B) in PLAIN and A.is_cuda
    if plain and not torch._C._len_torch_dispatch_stack():
        if torch._C._functorch.peek_interpreter_stack() is None:
            return _on_gpu(A, B, rung)
    with torch._C._AutoDispatchBelowAutograd():
        return torch.ops.tile_by_tile.matmul(A, B, rung)


#: Tensors that are what they seem; others stand for something.
PLAIN = torch.Tensor, torch.nn.Parameter

torch.library.register_fake("tile_by_tile::matmul", _shape)
for _where, _does in (("CPU", _on_cpu), ("CUDA", _on_gpu), ("Autograd", _with_gradients)):
    _library.impl("matmul", _does, _where)


#: Launches that are kept, for tensors wherever they lie, and for those of certain addresses; they
#: do not keep them alive.
_kept, _fixed = Plans(4096), Plans(4096)
#: Launches that CUDA graphs hold, with their memory: a graph outlives the call that it records.
_recorded: list[Callable[[], object]] = []


def _launch(
    kind: Hashable, tensors: tuple[torch.Tensor, ...], make: Callable[..., Callable[[], object]]
) -> None:
    """Launch what `make` returns for CuPy arrays on the memory of tensors, on PyTorch's stream.

    `kind` is all that a launch depends on besides their addresses and the stream.
    """
    device = tensors[0].get_device()
    stream = torch._C._cuda_getCurrentRawStream(device)
    places = tuple([tensor.data_ptr() for tensor in tensors])
    # Besides, whether 16 bytes may be read at once, and which tensors are one.
    key = kind, stream, tuple([at & 15 for at in places]), tuple(map(places.index, places))
    launch = _kept.get(key)
    if launch is None:
        launch = _fixed.get((key, places))
    # The default stream, 0, cannot be captured.
    if launch is None or (stream and torch.cuda.is_current_stream_capturing()):
        with cupy.cuda.Device(device), _stream_of(stream):
            _first(tensors, make, key, places)
    elif cupy.cuda.get_current_stream().ptr == stream and cupy.cuda.runtime.getDevice() == device:
        launch(places)
    else:
        with cupy.cuda.Device(device), _stream_of(stream):
            launch(places)


@lru_cache(maxsize=64)
def _stream_of(pointer: int) -> Any:
    """CuPy's name for a stream of PyTorch's."""
    return cupy.cuda.ExternalStream(pointer)


def _first(
    tensors: tuple[torch.Tensor, ...], make: Callable[..., Callable[[], object]], key: Hashable,
    places: tuple[int, ...],
) -> None:  # fmt: skip
    """Launch what `make` returns, and keep it, or leave it with the graph that is recorded."""
    if torch.cuda.is_current_stream_capturing():
        launch = _beside_a_capture(tensors, make)
        _recorded.append(launch)
        launch()
        return
    pool = cupy.get_default_memory_pool()
    before = pool.used_bytes()
    launch = prepared_and_launched(make, list(map(_array, tensors)))
    taken = max(0, pool.used_bytes() - before)
    if isinstance(launch, Movable):
        _kept.keep(key, launch, taken)
    else:
        _fixed.keep((key, places), lambda _: launch(), taken)


def _array(tensor: torch.Tensor) -> Any:
    """A CuPy array on the memory of a tensor, which it does not keep alive."""
    dtype = BITS.get(tensor.dtype, tensor.dtype)
    strides = tuple(tensor.element_size() * step for step in tensor.stride())
    name = str(dtype).removeprefix("torch.")
    return unowned(tensor.data_ptr(), tuple(tensor.shape), strides, name, tensor.device.index)


def _beside_a_capture(
    tensors: tuple[torch.Tensor, ...], make: Callable[..., Callable[[], object]]
) -> Callable[[], object]:
    """Prepare a launch while a graph is recorded, which sees nothing of what that takes.

    Workspaces are filled on another stream; they are CuPy's and belong to the launch.
    """
    from cuda.bindings import driver

    relaxed = driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    _, before = driver.cuThreadExchangeStreamCaptureMode(relaxed)
    try:
        with cupy.cuda.Stream(non_blocking=True) as beside:
            launch = make(*map(_array, tensors))
            beside.synchronize()
    finally:
        driver.cuThreadExchangeStreamCaptureMode(before)
    return launch


def _check(A: torch.Tensor, B: torch.Tensor) -> None:
    takes = tuple(str(dtype).removeprefix("torch.") for dtype in FORMATS)
    check_product(tuple(A.shape), tuple(B.shape), str(A.dtype), str(B.dtype), takes)
    if A.device != B.device:
        raise ValueError(f"A is on {A.device} and B on {B.device}: move one, B.to(A.device)")


# --------------------------------------------------------------------------------- attention


def attention(
    Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, causal: bool = False
) -> torch.Tensor:
    """Return softmax(Q·Kᵀ/√D)·V for each head, without storing the matrix of scores.

    Parameters
    ----------
    Q : torch.Tensor of float32, float16 or bfloat16, shape (…, heads, M, D)
        On a CUDA device or the CPU. D is 64 or 128; in float32 16 to 128.
    K, V : torch.Tensor, shape (…, kv_heads, N, D)
        `heads` is a multiple of `kv_heads`: consecutive heads of Q share one of theirs. N may be
        another number than M in 16 bits on Hopper.
    causal : bool
        Whether query i sees only keys 0 to i + N - M.

    Returns
    -------
    torch.Tensor of the format and shape of Q
        On the same device. It has gradients for Q, K and V where M = N, which are computed in
        float32.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        One line that names the value and the way out.
    """
    return attention_lse(Q, K, V, causal)[0]


@torch.library.custom_op("tile_by_tile::attention_lse", mutates_args=())
def attention_lse(
    Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, causal: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return what `attention` does, and for each query the logarithm of its sum of exponentials.

    The latter is float32 of shape (…, heads, M) and has no gradient: with it, attentions over parts
    of the keys can be merged.
    """
    _check_heads(Q, K, V, causal)
    out = torch.empty_like(Q, memory_format=torch.contiguous_format)
    lse = Q.new_empty(Q.shape[:-1], dtype=torch.float32)
    q, k, v = _rows_of_heads(Q, K, V)
    if not Q.is_cuda:
        found = fused.attention(*(x.float().numpy() for x in (q, k, v)), causal=causal, lse=True)
        for to, array in zip((out, lse), found, strict=True):
            to.copy_(torch.from_numpy(array).view(to.shape))
        return out, lse
    engine = "numba" if _in_numba(Q) else "cpp"
    if engine == "cpp":
        lse.fill_(float("nan"))  # that kernel keeps none

    def make(*arrays: Any) -> Callable[[], object]:
        *operands, sums = arrays
        return fused.launcher(fused.Heads(*operands, engine, sums), causal)

    kind = causal, tuned.stamp(), Q.dtype, q.shape, k.shape
    _launch(kind, (q, k, v, out.view(q.shape), lse.view(q.shape[:-1])), make)
    return out, lse


@attention_lse.register_fake
def _shape_of_heads(
    Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, causal: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    _check_heads(Q, K, V, causal)
    out = torch.empty_like(Q, memory_format=torch.contiguous_format)
    return out, Q.new_empty(Q.shape[:-1], dtype=torch.float32)


_library.define("attention(Tensor Q, Tensor K, Tensor V, bool causal=False) -> Tensor")
_library.impl("attention", attention, "CompositeImplicitAutograd")


@torch.library.custom_op("tile_by_tile::attention_backward", mutates_args=())
def _attention_backward(
    Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, G: torch.Tensor, causal: bool
) -> torch.Tensor:
    """The gradients of Q, K and V, in float32, one after the other; as many heads of each."""
    arrays = [x.detach().float().contiguous() for x in (Q, K, V, G)]
    if not Q.is_cuda:
        found = attention_backward.gradients(*(x.numpy() for x in arrays), causal=causal)
        return torch.from_numpy(found)
    found = Q.new_empty((3, *Q.shape), dtype=torch.float32)

    def make(*arrays: Any) -> Callable[[], object]:
        operands = attention_backward.Gradients(*arrays[:-1], out=arrays[-1])
        return operands.launcher(causal)

    _launch(("backward", causal, Q.shape), (*arrays, found), make)
    return found


@_attention_backward.register_fake
def _shape_of_gradients(
    Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, G: torch.Tensor, causal: bool
) -> torch.Tensor:
    return Q.new_empty((3, *Q.shape), dtype=torch.float32)


def _remember_heads(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
    Q, K, V, ctx.causal = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(Q, K, V)


def _gradients_of_heads(ctx: Any, G: torch.Tensor, _: Any) -> tuple[torch.Tensor | None, ...]:
    """Heads that share K and V add up their gradients."""
    Q, K, V = ctx.saved_tensors
    if Q.shape[-2] != K.shape[-2]:
        raise ValueError(
            f"{Q.shape[-2]} queries and {K.shape[-2]} keys: gradients need as many keys as queries"
        )
    q, k, v = _rows_of_heads(Q, K, V, alike=True)
    of_Q, of_K, of_V = torch.ops.tile_by_tile.attention_backward(
        q, k, v, G.reshape(q.shape), ctx.causal
    )
    shared = (*K.shape[:-2], -1, *K.shape[-2:])
    return (
        of_Q.view(Q.shape).to(Q.dtype),
        of_K.view(shared).sum(-3).to(K.dtype),
        of_V.view(shared).sum(-3).to(V.dtype),
        None,
    )


attention_lse.register_autograd(_gradients_of_heads, setup_context=_remember_heads)


def _rows_of_heads(
    Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, alike: bool = False
) -> list[torch.Tensor]:
    """Q, K and V with one axis of heads; K and V with as many as Q where kernels need it."""
    each = Q.shape[-3] // K.shape[-3]
    if each > 1 and (alike or Q.is_cuda and not _in_numba(Q)):
        K, V = (x.repeat_interleave(each, dim=-3) for x in (K, V))
    return [x.detach().reshape(-1, *x.shape[-2:]).contiguous() for x in (Q, K, V)]


def _in_numba(Q: torch.Tensor) -> bool:
    return Q.dtype == torch.float32 or torch.cuda.get_device_capability(Q.device)[0] == 9


def _check_heads(Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, causal: bool) -> None:
    for name, one in (("Q", Q), ("K", K), ("V", V)):
        if one.dtype not in (torch.float32, torch.float16, torch.bfloat16):
            raise TypeError(f"{name} holds {one.dtype}: convert it to float32, float16 or bfloat16")
        if one.dim() < 3 or 0 in one.shape:
            raise ValueError(f"{name} has shape {tuple(one.shape)}; expected (…, heads, N, D)")
        if one.dtype != Q.dtype or one.device != Q.device:
            raise ValueError(
                f"Q holds {Q.dtype} on {Q.device} and {name} {one.dtype} on {one.device}:"
                " make them the same"
            )
    same = K.shape == V.shape and Q.shape[:-3] == K.shape[:-3] and Q.shape[-1] == K.shape[-1]
    lengths = Q.shape[-2], K.shape[-2]
    same &= lengths[0] == lengths[1] or Q.is_cuda and Q.dtype != torch.float32 and _in_numba(Q)
    if not same or Q.shape[-3] % K.shape[-3] or causal and lengths[0] > lengths[1]:
        shapes = ", ".join(
            f"{name} {tuple(x.shape)}" for name, x in zip("QKV", (Q, K, V), strict=True)
        )
        raise ValueError(
            f"{shapes}: K and V need Q's shape, or a divisor of its heads; as many keys as queries,"
            " or in 16 bits on Hopper others, under a causal mask more"
        )
    sizes = fused.SIZES[Q.element_size()]
    if Q.shape[-1] not in sizes:
        raise ValueError(
            f"head size {Q.shape[-1]} is not supported: {fused.WAYS_OUT[Q.element_size()]}"
        )

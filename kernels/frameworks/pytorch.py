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
from kernels.primitives import attention_backward, attention_backward_wgmma
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
    if _at_once(A, B):
        return _with_gradients(A, B, rung, True)
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

    __slots__ = ("dtype", "rung", "shape", "strides", "turned")

    def __init__(
        self, A: torch.Tensor, B: torch.Tensor, rung: str, turned: tuple[bool, bool, bool]
    ) -> None:
        if rung and A.dtype == torch.float32:
            rung_for(rung, "cpp")
        A, B = (x.t() if turn else x for x, turn in zip((A, B), turned, strict=False))
        _check(A, B)
        M, N = self.shape = A.shape[0], B.shape[1]
        self.strides = (1, M) if turned[2] else (N, 1)
        self.dtype, self.rung, self.turned = FORMATS[A.dtype], rung, turned

    def make(self, *arrays: Any) -> Callable[[], object]:
        """Return the launch on CuPy arrays A, B and C."""
        A, B, C = (x.T if turn else x for x, turn in zip(arrays, self.turned, strict=True))
        if self.turned[2]:  # C by columns is its transpose by rows
            A, B = B.T, A.T
        if not self.rung:
            return chooser.plan(A, B, C).launch
        engine = "cpp" if "cpp" in LADDER[self.rung].engines else "numba"
        return LADDER[self.rung].prepare(A, B, C, engine=engine, strided=True)


#: The kinds met so far, by all that they depend on.
_kinds: dict[Hashable, Any] = {}
NOT_TURNED = False, False, False


def _on_gpu(
    A: torch.Tensor, B: torch.Tensor, rung: str = "", turned: tuple[bool, bool, bool] = NOT_TURNED
) -> torch.Tensor:
    """A·B on a GPU, by the kernel that suits the shape, or by a named rung.

    `turned` says whether A and B are transposed for that, and whether C is to lie by columns:
    without views of them, which would take longer to make than to look up.
    """
    key = (
        rung, turned, tuned.stamp(), A.get_device(), B.get_device(), A.dtype, B.dtype,
        A.shape, A.stride(), B.shape, B.stride(),
    )  # fmt: skip
    kind = _kinds.get(key) or _known(key, _Kind(A, B, rung, turned))
    C = _empty(A, kind.shape, kind.strides, kind.dtype)
    _launch(kind, (A, B, C), kind.make)
    return C


def _known(key: Hashable, kind: Any) -> Any:
    if len(_kinds) >= _kept.most:
        _kinds.clear()
    _kinds[key] = kind
    return kind


def _empty(
    beside: torch.Tensor, shape: tuple[int, ...], strides: tuple[int, ...], dtype: torch.dtype
) -> torch.Tensor:
    """A new tensor beside another one: as the code of PyTorch's compiler makes it, at once."""
    if beside.get_device() == torch._C._cuda_getDevice():
        return torch._C._dynamo.guards._empty_strided_cuda(shape, strides, dtype)
    return beside.new_empty_strided(shape, strides, dtype=dtype)


class _Product(torch.autograd.Function):
    """A·B, and its gradients."""

    @staticmethod
    def forward(
        ctx: Any, A: torch.Tensor, B: torch.Tensor, rung: str, at_once: bool
    ) -> torch.Tensor:
        ctx.rung = rung
        ctx.save_for_backward(A, B)
        return _on_gpu(A, B, rung) if at_once else _below_autograd(A, B, rung)

    @staticmethod
    def backward(ctx: Any, G: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """With G the gradient of C: the gradients G·Bᵀ of A and Aᵀ·G of B, as A and B lie."""
        A, B = ctx.saved_tensors
        of_A, of_B, *_ = ctx.needs_input_grad
        if A.dtype != FORMATS[A.dtype]:
            raise TypeError(f"a product of {A.dtype} has no gradient: multiply in bfloat16")
        return (
            _turned_product(G, B, ctx.rung, (False, True, _by_columns(A))) if of_A else None,
            _turned_product(A, G, ctx.rung, (True, False, _by_columns(B))) if of_B else None,
            None,
            None,
        )


def _by_columns(X: torch.Tensor) -> bool:
    """Whether a matrix lies by columns: what adds its gradient by rows would have to turn it."""
    rows, columns = X.stride()
    return rows == 1 < columns


def _turned_product(
    A: torch.Tensor, B: torch.Tensor, rung: str, turned: tuple[bool, bool, bool]
) -> torch.Tensor:
    if _at_once(A, B) and not torch.is_grad_enabled():
        return _on_gpu(A, B, rung, turned)
    A, B = (x.t() if turn else x for x, turn in zip((A, B), turned, strict=False))
    return matmul(B.t(), A.t(), rung).t() if turned[2] else matmul(A, B, rung)


def _with_gradients(
    A: torch.Tensor, B: torch.Tensor, rung: str = "", at_once: bool = False
) -> torch.Tensor:
    at_once = at_once or _at_once(A, B)
    if torch.is_grad_enabled() and (A.requires_grad or B.requires_grad):
        return _Product.apply(A, B, rung, at_once)
    return _on_gpu(A, B, rung) if at_once else _below_autograd(A, B, rung)


def _below_autograd(A: torch.Tensor, B: torch.Tensor, rung: str) -> torch.Tensor:
    """A·B by whatever comes next in PyTorch's dispatcher."""
    with torch._C._AutoDispatchBelowAutograd():
        return torch.ops.tile_by_tile.matmul(A, B, rung)


def _at_once(*tensors: torch.Tensor) -> bool:
    """Whether a kernel may be launched without PyTorch's dispatcher: nobody watches or transforms.

    The dispatcher takes as long as the rest of a call.
    """
    for tensor in tensors:
        if type(tensor) not in PLAIN or not tensor.is_cuda:
            return False
    return not (
        torch._C._len_torch_dispatch_stack()
        or torch._C._are_functorch_transforms_active()
        or torch.compiler.is_compiling()
    )


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
    low = 0
    for place in places:
        low |= place
    how: tuple[int, ...] = ()
    if low & 15 or len(set(places)) < len(places):
        how = *(place & 15 for place in places), *map(places.index, places)
    key = kind, stream, how
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
        On the same device. It has gradients for Q, K and V: in 16 bits on Hopper, elsewhere in
        float32 and where M = N.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        One line that names the value and the way out.
    """
    return attention_lse(Q, K, V, causal)[0]


def attention_lse(
    Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, causal: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return what `attention` does, and for each query the logarithm of its sum of exponentials.

    The latter is float32 of shape (…, heads, M) and has no gradient: with it, attentions over parts
    of the keys can be merged.
    """
    if _at_once(Q, K, V):
        return _heads_with_gradients(Q, K, V, causal)
    return torch.ops.tile_by_tile.attention_lse(Q, K, V, causal)


def _heads_on_cpu(
    Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, causal: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    out, lse = _shape_of_heads(Q, K, V, causal)
    arrays = (x.float().numpy() for x in _rows_of_heads(Q, K, V))
    found = fused.attention(*arrays, causal=causal, lse=True)
    for to, array in zip((out, lse), found, strict=True):
        to.copy_(torch.from_numpy(array).view(to.shape))
    return out, lse


class _Attended:
    """Attention of one shape, layout and format, checked once: what launches have in common."""

    __slots__ = ("causal", "each", "engine", "gradients", "like", "lse", "out")

    def __init__(self, Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, causal: bool) -> None:
        _check_heads(Q, K, V, causal)
        self.engine = "numba" if _in_numba(Q) else "cpp"
        self.gradients = Q.dtype != torch.float32 and self.engine == "numba"  # in 16 bits
        self.each = Q.shape[-3] // K.shape[-3]
        self.causal = causal
        self.out, self.lse = (
            (tuple(x.shape), x.stride(), x.dtype) for x in _shape_of_heads(Q, K, V, causal)
        )
        found = _shape_of_gradients(Q, K, V)
        self.like = [(tuple(x.shape), x.stride(), x.dtype) for x in found]

    def make(self, *arrays: Any) -> Callable[[], object]:
        """Return the launch on CuPy arrays Q, K, V, O and the logarithms of the sums."""
        *operands, sums = arrays
        given = (x.reshape(-1, *x.shape[-2:]) for x in operands)
        sums = sums.reshape(-1, sums.shape[-1])
        return fused.launcher(fused.Heads(*given, self.engine, sums), self.causal)

    def make_gradients(self, *arrays: Any) -> Callable[[], object]:
        """Return the launch on CuPy arrays Q, K, V, dO, O, two of sums, dQ, dK and dV."""
        given = [x.reshape(-1, *x.shape[-2:]) for x in arrays]
        given[5:7] = (x.reshape(-1, x.shape[-1]) for x in arrays[5:7])
        return attention_backward_wgmma.launcher(*given, self.causal)


def _lying(*tensors: torch.Tensor) -> list[torch.Tensor]:
    """The tensors as the kernels take them."""
    return [x.clone() if x.data_ptr() & 15 else x for x in (y.contiguous() for y in tensors)]


def _attended(Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, causal: bool) -> _Attended:
    key = (
        causal, tuned.stamp(), Q.get_device(), K.get_device(), V.get_device(), Q.dtype, K.dtype,
        V.dtype, Q.shape, Q.stride(), K.shape, K.stride(), V.shape, V.stride(),
    )  # fmt: skip
    return _kinds.get(key) or _known(key, _Attended(Q, K, V, causal))


def _heads_on_gpu(
    Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, causal: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    kind = _attended(Q, K, V, causal)
    out, lse = _empty(Q, *kind.out), _empty(Q, *kind.lse)
    if kind.engine == "cpp":
        lse.fill_(float("nan"))  # that kernel keeps none
        if kind.each > 1:  # and takes as many heads of each
            K, V = (x.repeat_interleave(kind.each, dim=-3) for x in (K, V))
    Q, K, V = _lying(Q, K, V)
    _launch(kind, (Q, K, V, out, lse), kind.make)
    return out, lse


def _shape_of_heads(
    Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, causal: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    _check_heads(Q, K, V, causal)
    out = torch.empty_like(Q, memory_format=torch.contiguous_format)
    return out, Q.new_empty(Q.shape[:-1], dtype=torch.float32)


class _Heads(torch.autograd.Function):
    """Attention, and its gradients."""

    @staticmethod
    def forward(
        ctx: Any, Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, causal: bool
    ) -> tuple[torch.Tensor, torch.Tensor]:
        out, lse = _heads_below_autograd(Q, K, V, causal)
        ctx.causal = causal
        ctx.save_for_backward(Q, K, V, out, lse)
        ctx.mark_non_differentiable(lse)
        return out, lse

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, G: torch.Tensor, _: Any) -> tuple[torch.Tensor | None, ...]:
        """With G the gradient of the result."""
        given = *ctx.saved_tensors, G, ctx.causal
        if _at_once(*given[:-1]):
            return *_gradients_on_gpu(*given), None
        return *torch.ops.tile_by_tile.attention_backward(*given), None


def _heads_with_gradients(
    Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, causal: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    if torch.is_grad_enabled() and (Q.requires_grad or K.requires_grad or V.requires_grad):
        return _Heads.apply(Q, K, V, causal)
    return _heads_below_autograd(Q, K, V, causal)


def _heads_below_autograd(
    Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, causal: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    if _at_once(Q, K, V):
        return _heads_on_gpu(Q, K, V, causal)
    with torch._C._AutoDispatchBelowAutograd():
        return torch.ops.tile_by_tile.attention_lse(Q, K, V, causal)


#: Q, K, V, the result, the logarithms of its sums, and the result's gradient.
Saved = tuple[torch.Tensor, ...]


def _gradients_on_gpu(*given: Any) -> Saved:
    Q, K, V, out, lse, G, causal = given
    kind = _attended(Q, K, V, causal)
    if not kind.gradients:
        return _gradients_in_float32(*given)
    found = [_empty(Q, *like) for like in kind.like]
    tensors = *_lying(Q, K, V, G, out), lse, _empty(Q, *kind.lse), *found
    _launch((kind, "gradients"), tensors, kind.make_gradients)
    return tuple(found)


def _gradients_in_float32(*given: Any) -> Saved:
    """The gradients of Q, K and V, by kernels that take as many heads of each."""
    Q, K, V, _, _, G, causal = given
    if Q.shape[-2] != K.shape[-2]:
        raise ValueError(
            f"{Q.shape[-2]} queries and {K.shape[-2]} keys: here gradients need as many keys as"
            " queries; in 16 bits on Hopper they don't"
        )
    q, k, v = _rows_of_heads(Q, K, V, alike=True)
    arrays = [x.detach().float().contiguous() for x in (q, k, v, G.reshape(q.shape))]
    if Q.is_cuda:
        found = q.new_empty((3, *q.shape), dtype=torch.float32)

        def make(*arrays: Any) -> Callable[[], object]:
            operands = attention_backward.Gradients(*arrays[:-1], out=arrays[-1])
            return operands.launcher(causal)

        _launch(("backward", causal, q.shape), (*arrays, found), make)
    else:
        gradients = attention_backward.gradients(*(x.numpy() for x in arrays), causal=causal)
        found = torch.from_numpy(gradients)
    shared = (*K.shape[:-2], -1, *K.shape[-2:])  # heads that share K and V add up their gradients
    sums = found[0].view(Q.shape), *(x.view(shared).sum(-3) for x in found[1:])
    return tuple(x.copy_(of) for x, of in zip(_shape_of_gradients(Q, K, V), sums, strict=True))


def _shape_of_gradients(*given: Any) -> Saved:
    return tuple(torch.empty_like(x, memory_format=torch.contiguous_format) for x in given[:3])


for _schema, _shapes, _does in (
    (
        "attention_lse(Tensor Q, Tensor K, Tensor V, bool causal=False) -> (Tensor, Tensor)",
        _shape_of_heads,
        {"CPU": _heads_on_cpu, "CUDA": _heads_on_gpu, "Autograd": _heads_with_gradients},
    ),
    (
        "attention_backward(Tensor Q, Tensor K, Tensor V, Tensor O, Tensor lse, Tensor dO,"
        " bool causal) -> (Tensor, Tensor, Tensor)",
        _shape_of_gradients,
        {"CPU": _gradients_in_float32, "CUDA": _gradients_on_gpu},
    ),
):
    _library.define(_schema)
    _name = _schema.partition("(")[0]
    torch.library.register_fake(f"tile_by_tile::{_name}", _shapes)
    for _where, _function in _does.items():
        _library.impl(_name, _function, _where)
_library.define("attention(Tensor Q, Tensor K, Tensor V, bool causal=False) -> Tensor")
_library.impl("attention", attention, "CompositeImplicitAutograd")


def _rows_of_heads(
    Q: torch.Tensor, K: torch.Tensor, V: torch.Tensor, alike: bool = False
) -> list[torch.Tensor]:
    """Q, K and V with one axis of heads; K and V with as many as Q where kernels need it."""
    each = Q.shape[-3] // K.shape[-3]
    if each > 1 and (alike or Q.is_cuda and not _in_numba(Q)):
        K, V = (x.repeat_interleave(each, dim=-3) for x in (K, V))
    return [x.detach().contiguous().view(-1, *x.shape[-2:]) for x in (Q, K, V)]


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

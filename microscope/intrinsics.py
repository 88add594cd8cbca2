"""The functions of ``cuda`` inside a kernel.

One function a name. Each gets the runner, the call's node and the mask of active lanes.
"""

from __future__ import annotations

import ast
import math

import numpy as np

from . import bfloat16, groups, half, hints, memory, names, values, vectors, warps, xoroshiro
from .atomics import atomic
from .errors import KernelError, StopRun, Unsupported
from .functions import math_function
from .memory import Array
from .ptx.blocks import KEY
from .sites import WARP, Kind, Problem

BARRIERS = {
    "syncthreads": None,
    "syncthreads_count": "count",
    "syncthreads_and": "and",
    "syncthreads_or": "or",
}
LOCAL_LIMIT = 512 * 1024  # bytes of local memory a thread may have on any GPU
LOCAL_LIMIT_TOGETHER = 1 << 30  # bytes the interpreter holds at once


def coordinate(run, c: names.Coordinate):
    """The value of ``cuda.threadIdx.x`` and its like: an int32."""
    if c.name == "threadIdx":
        v = run.lanes.thread_idx[c.axis]
    elif c.name == "blockIdx":
        v = run.lanes.block_idx[c.axis]
    elif c.name == "laneid":
        v = run.lanes.thread % WARP
    elif c.name == "warpsize":
        v = WARP
    else:
        extents = {"blockDim": run.session.block, "gridDim": run.session.grid}
        v = extents[c.name][c.axis]
    return v.astype(np.int32) if isinstance(v, np.ndarray) else np.int32(v)


def call(run, name: str, n: ast.Call, m):
    """Call an intrinsic by its name below ``cuda``."""
    if name.startswith("atomic."):
        return atomic(run, name.removeprefix("atomic."), n, m)
    if name.startswith("fp16."):
        return half.call(run, name.removeprefix("fp16."), n, m)
    if name == "bfloat16":
        return bfloat16.make(run.exactly(n, m, 1)[0], n)
    if name.startswith("bf16."):
        return bfloat16.call(run, name.removeprefix("bf16."), n, m)
    if name.startswith("random."):
        return xoroshiro.draw(run, name.removeprefix("random."), n, m)
    return INTRINSICS[name](run, n, m)


# -- where am I


def grid(run, n, m):
    """``cuda.grid(d)``: position in the whole grid."""
    lanes, block = run.lanes, run.session.block
    axes = [lanes.block_idx[d] * np.int64(block[d]) + lanes.thread_idx[d] for d in range(3)]
    return _first_axes(run, n, m, axes)


def gridsize(run, n, m):
    """``cuda.gridsize(d)``: threads of the whole grid."""
    s = run.session
    return _first_axes(run, n, m, [np.int64(s.grid[d] * s.block[d]) for d in range(3)])


def _first_axes(run, n, m, axes):
    (ndim,) = run.exactly(n, m, 1)
    run.must_be_known(ndim, n.args[0])
    if isinstance(ndim, np.ndarray) or int(ndim) not in (1, 2, 3):
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: the argument is 1, 2 or 3")
    return axes[0] if ndim == 1 else tuple(axes[: int(ndim)])


# -- memory


def shared_array(run, n, m):
    """``cuda.shared.array(shape, dtype)``; shape 0 is the launch's dynamic shared memory."""
    array = run.shared.get(n)
    if array is None:
        shape, dtype, alignment = _declaration(run, n, m)
        if shape == (0,):
            run.session.alignment = max(run.session.alignment, alignment)
            array = _dynamic(run, dtype)
        else:
            array = _static(run, n, shape, dtype, alignment)
        run.shared[n] = array
    return array


def _static(run, n, shape, dtype, alignment) -> Array:
    s = run.session
    base = s.layout.get(n)
    if base is None:
        base = -(-s.static_bytes // alignment) * alignment
        s.layout[n] = base
        s.static_bytes = base + math.prod(shape) * dtype.itemsize
        _check_shared(run, n)
    array = run.memory.shared_array(shape, dtype, base)
    if KEY in run.shared:
        block = run.shared[KEY]
        block.place(base, array.buffer)
    if run.tracer is not None:
        run.tracer.watch(array.buffer, s.warps_per_block)
        if KEY in run.shared:
            run.shared[KEY].watch(run.tracer, array.buffer)
    return array


def _dynamic(run, dtype) -> Array:
    """A view of the launch's dynamic shared memory: all such declarations are one memory."""
    s, key = run.session, ("dynamic", dtype)
    if key in run.shared:
        return run.shared[key]
    padded = -(-max(s.dynamic_bytes, 1) // 16) * 16
    raw = run.shared.setdefault("dynamic", np.full(padded * run.lanes.blocks, 0xFF, np.uint8))
    n = s.dynamic_bytes // dtype.itemsize
    buffer = memory.Buffer(
        None, "shared", dtype, padded // dtype.itemsize, raw.view(dtype), 0, (n,), (1,)
    )
    array = run.shared[key] = Array(buffer, 0, (n,), (1,))
    if KEY in run.shared:
        run.shared[KEY].arrays.setdefault(run.shared[KEY].start, buffer)
    if run.tracer is not None:
        views = [k for k in run.shared if isinstance(k, tuple) and k[0] == "dynamic"]
        run.tracer.watch(buffer, s.warps_per_block)
        if len(views) > 1:
            run.tracer.watch_together([run.shared[k].buffer for k in views], s.warps_per_block)
        if KEY in run.shared:
            for k in views:
                run.shared[KEY].watch(run.tracer, run.shared[k].buffer)
    return array


def _check_shared(run, n) -> None:
    s = run.session
    total, limit = s.static_bytes + s.dynamic_bytes, s.limits.shared_bytes
    if total > limit:
        message = (
            f"a block asks for {total} bytes of shared memory; the limit is {limit}: "
            "use a smaller tile or a smaller type"
        )
        problem = Problem(Kind.SHARED_LIMIT, line=n.lineno, message=message)
        run.problem((Kind.SHARED_LIMIT, n), problem, s.block[0] * s.block[1] * s.block[2])
        raise StopRun


def local_array(run, n, m):
    """``cuda.local.array(shape, dtype)``: private to each thread, and to each call under way."""
    key = n, run.lanes.warp, run.depth
    array = run.shared.get(key)
    if array is None:
        shape, dtype, _ = _declaration(run, n, m)
        size = math.prod(shape) * dtype.itemsize
        if size > LOCAL_LIMIT or size * run.lanes.count > LOCAL_LIMIT_TOGETHER:
            raise KernelError(
                f"line {n.lineno}: {ast.unparse(n)} takes {size} bytes per thread; the limit is "
                f"{min(LOCAL_LIMIT, LOCAL_LIMIT_TOGETHER // run.lanes.count)} for "
                f"{run.lanes.count} threads at once: use a smaller shape"
            )
        run.session.local_bytes[n] = size
        array = run.memory.local_array(shape, dtype)
        run.shared[key] = array
        if run.tracer is not None:
            run.tracer.watch_blank(array.buffer)
    return array


def constant_array(run, n, m):
    """``cuda.const.array_like(a)``: a global array in constant memory."""
    (a,) = run.exactly(n, m, 1)
    if not isinstance(a, Array) or a.buffer.space != "constant":
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: takes a global NumPy array")
    return a


def _declaration(run, n, m):
    """Shape, type and alignment (in bytes) of an array declaration."""
    given = dict(zip(("shape", "dtype", "alignment"), n.args, strict=False))
    given |= {k.arg: k.value for k in n.keywords}
    if not {"shape", "dtype"} <= set(given):
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: needs a shape and a dtype")
    shape = run.evaluate(given["shape"], m)
    run.must_be_known(shape, given["shape"])
    shape = shape if isinstance(shape, tuple) else (shape,)
    if not all(isinstance(s, np.integer) and s >= 0 for s in shape):
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: the shape must be whole numbers")
    kind = run.evaluate(given["dtype"], m)
    if any(kind is t for t in (bool, int, float, complex)):  # NumPy's types equal Python's
        names = {bool: "bool_", int: "int64", float: "float64", complex: "complex128"}
        raise Unsupported(
            n.lineno,
            f"{ast.unparse(n)}: {kind.__name__} is Python's type: say np.{names[kind]}, or "
            "a shorter one",
        )
    dtype = values.dtype_of(kind)
    if dtype is None or dtype.kind not in "biufc" and not dtype.names:
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: the dtype must be a type like float32")
    alignment = dtype.itemsize
    asked = run.evaluate(given["alignment"], m) if "alignment" in given else None
    if asked is not None:
        whole = isinstance(asked, (np.integer, int)) and asked > 0
        if not whole or int(asked) & (int(asked) - 1):
            raise Unsupported(n.lineno, f"{ast.unparse(n)}: the alignment must be a power of two")
        alignment = max(alignment, int(asked))
    return tuple(int(s) for s in shape), dtype, alignment


# -- barriers and fences


def barrier_arguments(run, name: str, n: ast.Call, m) -> list:
    """The arguments of a barrier: none, or a condition."""
    reduce = BARRIERS[name]
    arguments = run.exactly(n, m, 1 if reduce else 0)
    if reduce and not (values.is_value(arguments[0]) and arguments[0].dtype.kind in "iu"):
        raise Unsupported(
            n.lineno, f"{ast.unparse(n)}: takes an integer, such as int32(...) of a condition"
        )
    return arguments


def nothing(run, n, m):
    """What has nothing to do here: a nap, or a fence inside a block."""
    run.arguments(n, m)


def threadfence(run, n, m):
    """``cuda.threadfence()``: memory is always in order here, but the tracer wants to know."""
    run.exactly(n, m, 0)
    if run.tracer is not None:
        run.tracer.fence(m, run.lanes)


# -- arithmetic


def fma(run, n, m):
    """``cuda.fma(a, b, c)``: two operations."""
    numbers = run.exactly(n, m, 3)
    small = all(v.dtype.name in (*values.FITS_FLOAT32, "float32") for v in numbers)
    d = values.FLOAT32 if small else values.FLOAT64
    a, b, c = (values.cast(d, v) for v in numbers)
    if run.tracer is not None:
        run.tracer.count_flops(d.name, 2 * m.n, n.lineno)
    return values.fused(a, b, c)


def select(run, n, m):
    """``cuda.selp(condition, a, b)``: two numbers of one type."""
    condition, a, b = run.exactly(n, m, 3)
    if a.dtype != b.dtype or a.dtype.kind == "b" or a.dtype.itemsize == 1:
        raise Unsupported(
            n.lineno,
            f"{ast.unparse(n)}: takes two numbers of one type (16 bits or more), not "
            f"{a.dtype.name} and {b.dtype.name}",
        )
    condition = values.truth(condition)
    return (
        np.where(condition, a, b) if isinstance(condition, np.ndarray) else (a if condition else b)
    )


def cbrt(run, n, m):
    """``cuda.cbrt(x)``."""
    return math_function(run, "cbrt", run.exactly(n, m, 1), n, m)


def _bits(v):
    """The bits of an integer; Numba makes an int8 of anything else."""
    v = v if v.dtype.kind in "iu" else values.cast(np.dtype(np.int8), v)
    return v.dtype, v.view(f"u{v.dtype.itemsize}")


def popc(run, n, m):
    """``cuda.popc(x)``: bits that are set."""
    d, v = _bits(*run.exactly(n, m, 1))
    return np.bitwise_count(v).astype(d)


def brev(run, n, m):
    """``cuda.brev(x)``: the bits of a uint64 in reverse; anything else becomes a uint32."""
    (v,) = run.exactly(n, m, 1)
    v = v if v.dtype == np.uint64 else values.cast(np.dtype(np.uint32), v)
    out, one = np.zeros_like(v), v.dtype.type(1)
    for _ in range(v.dtype.itemsize * 8):
        out = (out << one) | (v & one)
        v = v >> one
    return out


def clz(run, n, m):
    """``cuda.clz(x)``: zero bits in front."""
    d, v = _bits(*run.exactly(n, m, 1))
    return _count_zeros(v, range(v.dtype.itemsize * 8 - 1, -1, -1)).astype(d)


def ffs(run, n, m):
    """``cuda.ffs(x)``: place of the lowest set bit, from 1; 0 if there is none."""
    d, v = _bits(*run.exactly(n, m, 1))
    if d.itemsize < 4:
        raise Unsupported(n.lineno, f"{ast.unparse(n)}: takes integers of 32 or 64 bits")
    zeros = _count_zeros(v, range(v.dtype.itemsize * 8))
    return np.where(v == 0, 0, zeros + 1)[()].astype(np.uint32)


def _count_zeros(v, places):
    count, found = np.zeros_like(v, np.int64), np.zeros_like(v, bool)
    for place in places:
        found = found | ((v >> v.dtype.type(place)) & v.dtype.type(1) != 0)
        count = count + ~found
    return count


INTRINSICS = {
    **warps.FUNCTIONS,
    **vectors.FUNCTIONS,
    **hints.FUNCTIONS,
    "cg.this_grid": groups.this_grid,
    "grid": grid,
    "gridsize": gridsize,
    "shared.array": shared_array,
    "local.array": local_array,
    "const.array_like": constant_array,
    "threadfence": threadfence,
    "threadfence_block": nothing,
    "threadfence_system": threadfence,
    "nanosleep": nothing,
    "fma": fma,
    "selp": select,
    "cbrt": cbrt,
    "popc": popc,
    "brev": brev,
    "clz": clz,
    "ffs": ffs,
}

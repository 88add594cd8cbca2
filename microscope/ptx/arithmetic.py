"""Arithmetic that NumPy has another word for: packed numbers, dot products of bytes."""

from __future__ import annotations

import numpy as np

from .. import bfloat16 as numbers
from .. import values
from ..sites import WARP


def bfloat16(v):
    """The bits of float32 rounded to bfloat16: to nearest, ties to even."""
    v = np.asarray(v, np.float32)
    bits = v.view(np.uint32)
    rounded = (bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)
    return np.where(np.isnan(v), np.uint32(0x7FFF), rounded)


def float16(v):
    """The bits of float32 rounded to float16."""
    return np.asarray(v, np.float32).astype(np.float16).view(np.uint16).astype(np.uint32)


def pair(rounded):
    """``cvt_rn_bf16x2(first, second)`` and its like."""

    def convert(run, n, m, first, second):
        return (rounded(first) | rounded(second) << np.uint32(16))[()].astype(np.uint32)

    return convert


def halves(run, n, m, bits):
    """``cvt_f32_f16x2(bits)``."""
    bits = np.asarray(bits, np.uint32)
    low, high = bits & np.uint32(0xFFFF), bits >> np.uint32(16)
    return tuple(
        word.astype(np.uint16).view(np.float16).astype(np.float32)[()] for word in (low, high)
    )


def dp4a(run, n, m, a, b, c):
    """``dp4a(a, b, c)``."""
    total = c
    for shift in (0, 8, 16, 24):
        bytes_ = [
            (values.cast(np.dtype(np.int32), v) >> np.int32(shift)).astype(np.int8) for v in (a, b)
        ]
        total = total + bytes_[0].astype(np.int32) * bytes_[1].astype(np.int32)
    return total


def redux(function, blank: int):
    """``redux_sync_add(members, value)`` and its like."""

    def reduce(run, n, m, members, value):
        lanes = run.lanes
        rows = lanes.rows(lanes.full(value).astype(np.int64), 0)
        named = lanes.rows(lanes.full(members).astype(np.int64), 0)
        here = lanes.rows(lanes.full(run.array_of(m)), False)
        first = np.take_along_axis(named, np.argmax(here, axis=2)[:, :, None], axis=2)
        chosen = here & (first >> np.arange(WARP) & 1 == 1)
        result = function.reduce(np.where(chosen, rows, blank), axis=2)
        return lanes.from_rows(np.broadcast_to(result[:, :, None], rows.shape)).astype(np.int32)

    return reduce


def ex2(run, n, m, x):
    """``ex2_approx(x)``."""
    if run.tracer is not None:
        run.tracer.special += m.n
    return np.exp2(x)


def rcp(run, n, m, x):
    """``rcp_approx(x)``."""
    if run.tracer is not None:
        run.tracer.special += m.n
    with np.errstate(divide="ignore"):
        return np.float32(1) / np.asarray(x, np.float32)


def float_as_uint(run, n, m, x):
    """``float_as_uint(x)``: the same bits."""
    return np.asarray(x, np.float32).view(np.uint32)[()]


def uint_as_float(run, n, m, bits):
    """``uint_as_float(bits)``: the same bits."""
    return np.asarray(bits, np.uint32).view(np.float32)[()]


def fma_bf16x2(run, n, m, a, b, c):
    """``fma_rn_bf16x2(a, b, c)``."""
    if run.tracer is not None:
        run.tracer.count_flops("bfloat16", 4 * m.n, n.lineno)
    words = [np.asarray(word, np.uint32) for word in (a, b, c)]
    lower = [(word << np.uint32(16)).view(np.float32) for word in words]
    upper = [(word & np.uint32(0xFFFF0000)).view(np.float32) for word in words]
    # float64 holds the product, and the sum nearly always.
    found = [bfloat16(numbers.rounded(a.astype(np.float64) * b + c)) for a, b, c in (lower, upper)]
    return (found[0] | found[1] << np.uint32(16))[()]


def prmt(run, n, m, a, b, selector):
    """``prmt(a, b, selector)``."""
    both = np.asarray(a, np.uint64) | np.asarray(b, np.uint64) << np.uint64(32)
    found = np.uint64(0)
    for place in range(0, 32, 8):
        digit = np.asarray(selector, np.uint64) >> np.uint64(place // 2) & np.uint64(7)
        byte = both >> digit * np.uint64(8) & np.uint64(255)
        found = found | byte << np.uint64(place)
    return found.astype(np.uint32)[()]


FUNCTIONS = {
    "cvt_f32_f16x2": halves,
    "cvt_rn_bf16x2": pair(bfloat16),
    "cvt_rn_f16x2": pair(float16),
    "dp4a": dp4a,
    "redux_sync_add": redux(np.add, 0),
    "redux_sync_max": redux(np.maximum, -(1 << 31)),
    "redux_sync_min": redux(np.minimum, (1 << 31) - 1),
    "ex2_approx": ex2,
    "rcp_approx": rcp,
    "float_as_uint": float_as_uint,
    "fma_rn_bf16x2": fma_bf16x2,
    "prmt": prmt,
    "uint_as_float": uint_as_float,
}

"""Dynamic shared arrays are views of one memory, whatever their types."""

import numpy as np
import pytest
from numpy import int8

from kernels.backend import cuda, float32, float64, int32
from microscope import KernelError, Kind, trace

THREADS = 64


@cuda.jit
def same_size(out, barrier):
    f = cuda.shared.array(0, float32)
    k = cuda.shared.array(0, int32)
    t = cuda.threadIdx.x
    f[t] = 1.0
    if barrier:
        cuda.syncthreads()
    out[t] = k[THREADS - 1 - t]


@cuda.jit
def halves(out, barrier):
    d = cuda.shared.array(0, float64)
    f = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    f[2 * ((t + 1) % THREADS) + 1] = t
    if barrier:
        cuda.syncthreads()
    d[t] = 0.0


@cuda.jit
def bytes_of_its_own(out, barrier):
    f = cuda.shared.array(0, float32)
    b = cuda.shared.array(0, int8)
    t = cuda.threadIdx.x
    f[t] = 1.0
    out[t] = b[4 * t + 3]


@cuda.jit
def side_by_side(out, barrier):
    f = cuda.shared.array(0, float32)
    k = cuda.shared.array(0, int32)
    t = cuda.threadIdx.x
    f[t] = 1.0
    k[THREADS + t // 2 * 2] = f[t]
    out[t] = f[t]


def kinds(kernel, barrier: bool) -> list[str]:
    seen = trace(kernel, 1, THREADS, np.zeros(THREADS), barrier, shared_bytes=THREADS * 8)
    return [p.kind for p in seen.problems]


@pytest.mark.parametrize(
    "kernel, found",
    [
        (same_size, [Kind.READ_AFTER_WRITE]),
        (halves, [Kind.WRITE_AFTER_WRITE]),
        (bytes_of_its_own, []),
        (side_by_side, [Kind.WRITE_AFTER_WRITE]),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_a_race_between_views_of_two_types_is_seen(kernel, found):
    assert kinds(kernel, barrier=False) == found


@pytest.mark.parametrize("kernel", (same_size, halves), ids=lambda k: k.__name__)
def test_a_barrier_orders_what_two_views_do(kernel):
    assert kinds(kernel, barrier=True) == []


@cuda.jit
def reinterpreted(x, out, barrier):
    s = cuda.shared.array(THREADS, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    if barrier:
        cuda.syncthreads()
    out[t] = s.view(int32)[THREADS - 1 - t]
    out[t] += s.view(int8)[4 * (THREADS - 1 - t) + 3]


def test_a_view_of_another_type_shows_the_same_bytes_and_races():
    x, out = np.arange(THREADS).astype(np.float32), np.zeros(THREADS, np.int64)
    seen = trace(reinterpreted, 1, THREADS, x, out, True)
    assert seen.problems == []
    want = x.view(np.int32)[::-1].astype(np.int64) + x.view(np.int8)[3::4][::-1]
    np.testing.assert_array_equal(seen.outputs["out"], want)
    kinds = {p.kind for p in trace(reinterpreted, 1, THREADS, x, out, False).problems}
    assert kinds and kinds <= {Kind.READ_AFTER_WRITE, Kind.WRITE_AFTER_READ}


@cuda.jit
def of_bytes(a, start, out):
    out[0] = a[start : start + 8].view(int32)[1]


def test_a_view_of_bytes_begins_where_its_elements_may():
    a, out = np.arange(64, dtype=np.uint8), np.zeros(1, np.int32)
    of_bytes[1, 1](a, 12, out)
    assert out[0] == a[12:20].view(np.int32)[1]
    with pytest.raises(KernelError, match="no multiple of 4"):
        of_bytes[1, 1](a, 13, out)

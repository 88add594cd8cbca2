"""Loops that never end are told from those that others will end."""

import numpy as np
import pytest

from kernels.engine.microscope import KernelError, Kind, trace
from kernels.engine.microscope import api as cuda


@cuda.jit
def forever(out):
    while True:
        out[0] += 1


@cuda.jit
def without_progress(out):
    t = cuda.grid(1)
    k = 0
    while t < 32:
        k += 1
    out[t] = k


@pytest.mark.parametrize("kernel", (forever, without_progress))
def test_a_loop_that_nothing_can_end_is_called_endless_soon(kernel):
    kinds = [p.kind for p in trace(kernel, 1, 32, np.zeros(32)).problems]
    assert Kind.ENDLESS_LOOP in kinds
    with pytest.raises(KernelError, match="run 12000 times"):
        kernel[1, 32](np.zeros(32))


@cuda.jit(device=True)
def acquire(lock):
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:
        pass


@cuda.jit
def in_turn(lock, out):
    acquire(lock)
    out[0] += 1
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


@pytest.mark.parametrize("schedule", ("lockstep", "warps", "warps-reversed"))
def test_blocks_of_one_thread_wait_for_a_lock(schedule):
    t = trace(in_turn, 8, 1, np.zeros(1, np.int32), np.zeros(1), schedule=schedule)
    assert Kind.ENDLESS_LOOP not in [p.kind for p in t.problems]
    assert t.outputs["out"][0] == 8
    lock, out = np.zeros(1, np.int32), np.zeros(1)
    in_turn[8, 1](lock, out)
    assert out[0] == 8


@cuda.jit
def long_but_finite(a, out):
    k = 0
    total = 0.0
    while k < a.size:
        total += a[k]
        k += 1
    out[0] = total


def test_a_long_loop_is_not_endless():
    out = np.zeros(1)
    long_but_finite[1, 1](np.ones(20_000), out)
    assert out[0] == 20_000

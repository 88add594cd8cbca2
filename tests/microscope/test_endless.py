"""Loops that never end are told from those that others will end."""

import re

import numpy as np
import pytest

from microscope import KernelError, Kind, trace
from microscope import api as cuda

REPEATED = 66  # iterations after which a loop of one state is found out


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
    times = {forever: 12000, without_progress: REPEATED}[kernel]
    with pytest.raises(KernelError, match=f"run {times} times"):
        kernel[1, 32](np.zeros(32))


@cuda.jit
def waits(flag, out):
    while flag[0] == 0:
        pass
    out[0] = 1


@cuda.jit
def waits_and_counts(flag, out):
    turns = 0
    twice = 0
    while flag[0] == 0:
        turns += 1
        twice = 2 * turns
    out[0] = twice


@cuda.jit
def never_released(flag, out):
    while cuda.atomic.cas(flag, 1, 0, 1) != 0:
        cuda.nanosleep(100)
    while cuda.atomic.cas(flag, 1, 0, 1) != 0:
        cuda.nanosleep(100)
    out[0] = 1


@cuda.jit
def takes_and_gives_back(flag, out):
    tile = cuda.shared.array(1, np.int32)
    if cuda.threadIdx.x == 0:
        tile[0] = 1
    cuda.syncthreads()
    while True:
        if cuda.atomic.exch(flag, 1, 1) == 0:
            if tile[0] == 0:
                break
            cuda.atomic.exch(flag, 1, 0)


@cuda.jit
def waits_together(flag, out):
    ready = 0
    while ready == 0:
        cuda.syncthreads()
        ready = flag[0]
    out[0] = ready


@cuda.jit
def sways(flag, out):
    k = 0
    while flag[0] == 0:
        k = (k + 1) % 50
        out[0] = k


WAITING = (waits, waits_and_counts, never_released, takes_and_gives_back, waits_together, sways)


@pytest.mark.parametrize("schedule", ("lockstep", "warps"))
@pytest.mark.parametrize("kernel", WAITING)
def test_a_loop_that_only_memory_could_end_is_called_endless_soon(kernel, schedule):
    t = trace(kernel, 2, 32, np.zeros(2, np.int32), np.zeros(1), schedule=schedule)
    (problem,) = [p for p in t.problems if p.kind is Kind.ENDLESS_LOOP]
    times = int(re.search(r"has run (\d+) times, nothing that it depends on", problem.message)[1])
    assert times < 4 * REPEATED
    with pytest.raises(KernelError, match=f"run {times} times"):
        kernel[2, 32](np.zeros(2, np.int32), np.zeros(1))


@cuda.jit
def counts_in_memory(left, out):
    while left[0] > 0:
        left[0] -= 1


@cuda.jit
def counts_in_registers(left, out):
    k, rest = 0, 0
    while rest < 1:
        k += 1
        rest = k // 1000


@cuda.jit
def counts_in_shared_memory(left, out):
    tile = cuda.shared.array(4, np.int64)
    tile[3] = left[0]
    while tile[3] > 0:
        tile[3] -= 1


@cuda.jit(device=True)
def taken(left):
    left[1] = left[0]
    left[0] -= 1
    return left[1]


@cuda.jit
def counts_in_a_function(left, out):
    while taken(left) > 0:
        pass


@cuda.jit
def walks(left, out):
    rows = left.reshape(2, 1)
    row = rows[0]
    while row[0] > 0:
        row[0] -= 1
        row = rows[row[0] % 2 * 0]


@cuda.jit
def others_come_to_the_barrier(left, out):
    if cuda.threadIdx.x < 32:
        for _ in range(900):
            cuda.syncthreads()
        left[1] = 0
        cuda.syncthreads()
    else:
        while left[1] > 0:
            cuda.syncthreads()


FINITE = (
    counts_in_memory,
    counts_in_registers,
    counts_in_shared_memory,
    counts_in_a_function,
    walks,
    others_come_to_the_barrier,
)


@pytest.mark.parametrize("kernel", FINITE)
def test_a_loop_that_some_progress_ends_is_not_endless(kernel):
    threads = 64 if kernel is others_come_to_the_barrier else 1
    t = trace(kernel, 1, threads, np.full(2, 1000), np.zeros(1), schedule="warps")
    assert Kind.ENDLESS_LOOP not in [p.kind for p in t.problems]


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

"""The stopwatch and the device page on a GPU."""

import time as clock

import numpy as np
import pytest

from kernels import LADDER, cupy, lab, on_gpu

pytestmark = pytest.mark.gpu


def test_the_gpu_is_what_the_runtime_says():
    device = lab.device()
    assert on_gpu and device.sms > 0 and device.warp_size == 32
    assert device.max_threads_per_block == 1024 and device.shared_per_block == 48 * 1024
    assert device.shared_per_sm >= device.shared_per_block
    assert 1e9 < device.clock < 5e9
    assert device.bandwidth_peak > 1e11 and device.fp32_peak > 1e12


def test_time_follows_the_work():
    def seconds(n):
        A = cupy.ones((n, n), cupy.float32)
        C = cupy.empty_like(A)
        return lab.time(lambda: LADDER["tiled"].matmul(A, A, out=C, tile=32), repeat=5)

    small, large = seconds(1024), seconds(2048)
    assert small.on_gpu and small.flushed and small.n == 5
    assert small.q1 <= small.median <= small.q3
    assert 4 < large.median / small.median < 16


def test_short_kernels_are_timed_in_batches_when_the_cache_stays_warm():
    x = cupy.zeros(1024, np.float32)
    timing = lab.time(lambda: cupy.add(x, x, out=x), flush_l2=False)
    assert timing.batch > 10 and not timing.flushed
    assert timing.median < 1e-4
    assert f"batches of {timing.batch} launches" in repr(timing)


CHASE = """
extern "C" __global__ void chase(const int *next, int steps, int *last)
{
    int i = 0;
    for (int k = 0; k < steps; ++k)
        i = next[i];
    *last = i;
}"""


def test_flushing_empties_the_cache():
    steps, stride = 1024, 1024
    chain = (cupy.arange(steps * stride, dtype=np.int32) + stride) % (steps * stride)
    last = cupy.zeros(1, np.int32)
    chase = cupy.RawKernel(CHASE, "chase")

    def launch():
        chase((1,), (1,), (chain, np.int32(steps), last))

    cold, warm = lab.time(launch), lab.time(launch, flush_l2=False)
    assert cold.flushed and not warm.flushed
    assert cold.median > 1.3 * warm.median


def test_the_time_of_the_host_is_not_the_kernels():
    x = cupy.zeros(32, np.float32)

    def slow_host():
        clock.sleep(2e-4)
        cupy.add(x, x, out=x)

    assert lab.time(slow_host).median < 1e-4

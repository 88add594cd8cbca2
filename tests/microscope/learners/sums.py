"""Sums, scans, histograms, compaction."""

import numpy as np

from kernels import cuda, float32, int32
from tests.microscope.learners.cases import learner, whole

N = 64


@learner(2, N)
def sum_with_one_atomic_each():
    @cuda.jit
    def kernel(data, total):
        i = cuda.grid(1)
        if i < data.shape[0]:
            cuda.atomic.add(total, 0, data[i])

    data = whole(100)
    return kernel, [data, np.zeros(1, np.float32)], {1: np.array([data.sum()])}


@learner(2, N)
def sum_with_one_atomic_per_block():
    @cuda.jit
    def kernel(data, total):
        partial = cuda.shared.array(1, float32)
        if cuda.threadIdx.x == 0:
            partial[0] = 0
        cuda.syncthreads()
        i = cuda.grid(1)
        if i < data.size:
            cuda.atomic.add(partial, 0, data[i])
        cuda.syncthreads()
        if cuda.threadIdx.x == 0:
            cuda.atomic.add(total, 0, partial[0])

    data = whole(100)
    return kernel, [data, np.zeros(1, np.float32)], {1: np.array([data.sum()])}


@learner(1, N)
def sum_by_shuffles():
    @cuda.jit
    def kernel(data, out):
        warp_sums = cuda.shared.array(2, float32)
        t = cuda.threadIdx.x
        v = data[t]
        offset = 16
        while offset:
            v += cuda.shfl_down_sync(0xFFFFFFFF, v, offset)
            offset >>= 1
        if t % 32 == 0:
            warp_sums[t // 32] = v
        cuda.syncthreads()
        if t == 0:
            out[0] = warp_sums[0] + warp_sums[1]

    data = whole(N)
    return kernel, [data, np.zeros(1, np.float32)], {1: np.array([data.sum()])}


@learner(1, N)
def largest_and_its_place():
    @cuda.jit
    def kernel(data, best, place):
        values = cuda.shared.array(N, float32)
        places = cuda.shared.array(N, int32)
        t = cuda.threadIdx.x
        values[t] = data[t]
        places[t] = t
        cuda.syncthreads()
        half = N // 2
        while half >= 1:
            if t < half:
                if values[t + half] > values[t]:
                    values[t] = values[t + half]
                    places[t] = places[t + half]
            cuda.syncthreads()
            half //= 2
        if t == 0:
            best[0] = values[0]
            place[0] = places[0]

    data = np.random.default_rng(3).permutation(N).astype(np.float32)
    wanted = {1: np.array([data.max()]), 2: np.array([data.argmax()])}
    return kernel, [data, np.zeros(1, np.float32), np.zeros(1, np.int32)], wanted


@learner(1, N)
def running_sum_of_hillis_and_steele():
    @cuda.jit
    def kernel(data, out):
        a = cuda.shared.array(N, float32)
        b = cuda.shared.array(N, float32)
        t = cuda.threadIdx.x
        a[t] = data[t]
        cuda.syncthreads()
        d = 1
        while d < N:
            if t >= d:
                b[t] = a[t] + a[t - d]
            else:
                b[t] = a[t]
            cuda.syncthreads()
            a[t] = b[t]
            cuda.syncthreads()
            d = d * 2
        out[t] = a[t]

    data = whole(N)
    return kernel, [data, np.zeros(N, np.float32)], {1: np.cumsum(data)}


@learner(1, N // 2)
def running_sum_of_blelloch():
    @cuda.jit
    def kernel(data, out):
        s = cuda.shared.array(N, float32)
        t = cuda.threadIdx.x
        s[2 * t], s[2 * t + 1] = data[2 * t], data[2 * t + 1]
        offset = 1
        d = N // 2
        while d > 0:
            cuda.syncthreads()
            if t < d:
                ai = offset * (2 * t + 1) - 1
                bi = offset * (2 * t + 2) - 1
                s[bi] += s[ai]
            offset *= 2
            d //= 2
        if t == 0:
            s[N - 1] = 0
        d = 1
        while d < N:
            offset //= 2
            cuda.syncthreads()
            if t < d:
                ai = offset * (2 * t + 1) - 1
                bi = offset * (2 * t + 2) - 1
                tmp = s[ai]
                s[ai] = s[bi]
                s[bi] += tmp
            d *= 2
        cuda.syncthreads()
        out[2 * t] = s[2 * t]
        out[2 * t + 1] = s[2 * t + 1]

    data = whole(N)
    return kernel, [data, np.zeros(N, np.float32)], {1: np.cumsum(data) - data}


@learner(4, 32)
def histogram_in_global_memory():
    @cuda.jit
    def kernel(data, low, high, bins):
        start = cuda.grid(1)
        stride = cuda.gridsize(1)
        width = (high - low) / bins.shape[0]
        for i in range(start, data.shape[0], stride):
            where = np.int32((data[i] - low) / width)
            if where >= 0 and where < bins.shape[0]:
                cuda.atomic.add(bins, where, 1)

    data = np.random.default_rng(4).integers(0, 80, 300) / 8 + 0.0625
    wanted, _ = np.histogram(data, bins=10, range=(0.0, 10.0))
    return kernel, [data, 0.0, 10.0, np.zeros(10, np.int32)], {3: wanted}


@learner(4, 32)
def histogram_in_shared_memory():
    @cuda.jit
    def kernel(data, bins):
        own = cuda.shared.array(16, int32)
        t = cuda.threadIdx.x
        if t < 16:
            own[t] = 0
        cuda.syncthreads()
        i = cuda.grid(1)
        if i < data.size:
            cuda.atomic.add(own, data[i], 1)
        cuda.syncthreads()
        if t < 16:
            cuda.atomic.add(bins, t, own[t])

    data = np.random.default_rng(5).integers(0, 16, 120).astype(np.uint8)
    return kernel, [data, np.zeros(16, np.int32)], {1: np.bincount(data, minlength=16)}


@learner(1, N)
def keep_the_positive_ones_in_order():
    @cuda.jit
    def kernel(data, out, count):
        keep = cuda.shared.array(N, int32)
        t = cuda.threadIdx.x
        keep[t] = 1 if data[t] > 0 else 0
        cuda.syncthreads()
        before = 0
        for k in range(t):
            before += keep[k]
        if data[t] > 0:
            out[before] = data[t]
        if t == N - 1:
            count[0] = before + keep[t]

    data = whole(N)
    kept = data[data > 0]
    wanted = np.zeros(N)
    wanted[: kept.size] = kept
    given = [data, np.zeros(N, np.float32), np.zeros(1, np.int32)]
    return kernel, given, {1: wanted, 2: np.array([kept.size])}


@learner(2, 32)
def keep_the_even_ones_in_any_order():
    @cuda.jit
    def kernel(data, seen, counter):
        i = cuda.grid(1)
        if i < data.size and data[i] % 2 == 0:
            place = cuda.atomic.add(counter, 0, 1)
            if place < seen.size:
                cuda.atomic.add(seen, data[i], 1)

    data = np.arange(50, dtype=np.int32)[::-1].copy()
    wanted = (np.arange(50) % 2 == 0).astype(int)
    given = [data, np.zeros(50, np.int32), np.zeros(1, np.int32)]
    return kernel, given, {1: wanted, 2: np.array([25])}


@learner(1, 32)
def votes_and_counts_of_a_warp():
    @cuda.jit
    def kernel(data, out):
        t = cuda.threadIdx.x
        positive = cuda.ballot_sync(0xFFFFFFFF, data[t] > 0)
        mine = cuda.popc(positive & ((1 << t) - 1))
        everyone = cuda.all_sync(0xFFFFFFFF, data[t] > -100)
        out[t] = mine if everyone else -1

    data = whole(32)
    positive = (data > 0).astype(int)
    return kernel, [data, np.zeros(32, np.int32)], {1: np.cumsum(positive) - positive}


@learner(2, 32)
def mean_and_variance_of_rows():
    @cuda.jit
    def kernel(m, mean, variance):
        row = cuda.grid(1)
        if row < m.shape[0]:
            total, squares = 0.0, 0.0
            for v in m[row]:
                total += v
                squares += v * v
            n = m.shape[1]
            mean[row] = total / n
            variance[row] = squares / n - (total / n) ** 2

    m = whole(40, 7)
    given = [m, np.zeros(40), np.zeros(40)]
    m = m.astype(float)
    return kernel, given, {1: m.mean(axis=1), 2: m.var(axis=1)}

"""What Numba's pages show: addition, heat, a reduction, sessions, an integral, a NumPy function."""

import math

import numpy as np

from kernels import cuda, float32, float64, int32
from microscope import xoroshiro
from tests.microscope.learners.cases import learner, whole


@learner(4, 32)
def vector_addition():
    @cuda.jit
    def kernel(first, second, result):
        position = cuda.grid(1)
        if position < len(result):
            result[position] = first[position] + second[position]

    a, b = whole(100), whole(100, low=0)
    return kernel, [a, b, np.zeros_like(a)], {2: a + b}


@learner(2, 16)
def vector_addition_with_a_stride():
    @cuda.jit
    def kernel(a, b, c):
        start = cuda.grid(1)
        stride = cuda.gridsize(1)
        for i in range(start, c.shape[0], stride):
            c[i] = a[i] + b[i]

    a, b = whole(100), whole(100, low=0)
    return kernel, [a, b, np.zeros_like(a)], {2: a + b}


@learner(4, 16)
def heat_in_a_rod_with_the_whole_grid():
    @cuda.jit
    def kernel(old, new, steps):
        i = cuda.grid(1)
        n = old.size
        grid = cuda.cg.this_grid()
        for step in range(steps):
            if step % 2 == 0:
                data, after = old, new
            else:
                data, after = new, old
            if 0 < i < n - 1:
                after[i] = data[i] + 0.25 * (data[i - 1] - 2 * data[i] + data[i + 1])
            grid.sync()

    def heated(u, steps):
        for _ in range(steps):
            u = np.concatenate([[0], u[1:-1] + 0.25 * np.diff(u, 2), [0]])
        return u

    u = np.zeros(60)
    u[30] = 64
    return kernel, [u, np.zeros(60), 10], {0: heated(u, 10), 1: heated(u, 9)}


@learner(3, 32)
def heat_in_a_rod_shorter_than_the_grid():
    @cuda.jit
    def kernel(rod, steps):
        i = cuda.grid(1)
        inside = 0 < i < rod.shape[1] - 1  # and nobody returns: all must come to the barrier
        for step in range(steps):
            before, after = step % 2, (step + 1) % 2
            if inside:
                around = rod[before, i - 1] + rod[before, i + 1]
                rod[after, i] = 0.5 * rod[before, i] + 0.25 * around
            cuda.cg.this_grid().sync()

    rod = np.zeros((2, 70))
    rod[:, 0] = rod[:, -1] = 8
    wanted = rod.copy()
    for step in range(6):
        before, after = step % 2, (step + 1) % 2
        u = wanted[before]
        wanted[after, 1:-1] = 0.5 * u[1:-1] + 0.25 * (u[:-2] + u[2:])
    return kernel, [rod, 6], {0: wanted}


@learner(2, 32)
def sessions_in_two_steps_of_the_grid():
    gap = 3600

    @cuda.jit
    def kernel(users, times, session):
        i = cuda.grid(1)
        here = i < users.size
        first = False
        if here:
            first = i == 0 or users[i] != users[i - 1] or times[i] - times[i - 1] > gap
            session[i] = i if first else -1
        cuda.cg.this_grid().sync()  # now every session has its first click
        mine = i
        if here:
            while session[mine] < 0:
                mine -= 1
        cuda.cg.this_grid().sync()
        if here:
            session[i] = mine

    users = np.repeat([1, 2, 3, 4], [6, 3, 20, 11])
    steps = np.random.default_rng(3).choice([5, 900, 4000], 40)
    times = np.cumsum(steps)
    new = np.r_[True, (np.diff(users) != 0) | (np.diff(times) > gap)]
    wanted = np.maximum.accumulate(np.where(new, np.arange(40), 0))
    return kernel, [users, times, np.full(40, -2, np.int64)], {2: wanted}


@learner(1, 64)
def reduction_that_folds_upwards():
    size = 64

    @cuda.jit
    def kernel(data):
        tid = cuda.threadIdx.x
        shr = cuda.shared.array(size, int32)
        if tid < len(data):
            shr[tid] = data[tid]
        else:
            shr[tid] = 0
        cuda.syncthreads()
        s = 1
        while s < cuda.blockDim.x:
            if tid % (2 * s) == 0:
                shr[tid] += shr[tid + s]
            s *= 2
            cuda.syncthreads()
        if tid == 0:
            data[tid] = shr[tid]

    data = np.arange(50, dtype=np.int32)
    wanted = data.copy()
    wanted[0] = data.sum()
    return kernel, [data], {0: wanted}


@learner(1, 32)
def sessions_of_clicks():
    @cuda.jit
    def kernel(users, times, session):
        i = cuda.grid(1)
        if i >= len(users):
            return
        new = False
        if i == 0:
            new = True
        elif users[i] != users[i - 1]:
            new = True
        elif times[i] - times[i - 1] > 3600:
            new = True
        if new:
            session[i] = i
            k = i + 1
            while k < len(users):
                if users[k] != users[i] or times[k] - times[k - 1] > 3600:
                    break
                session[k] = i
                k += 1

    users = np.array([1, 1, 1, 1, 2, 2, 2, 3], np.int64)
    times = np.array([0, 100, 5000, 5100, 10, 20, 9000, 50], np.int64)
    wanted = np.array([0, 0, 2, 2, 4, 4, 6, 7])
    return kernel, [users, times, np.full(8, -1, np.int64)], {2: wanted}


@learner(2, 32)
def integral_of_a_square_by_chance():
    @cuda.jit
    def kernel(numbers, low, high, out):
        i = cuda.grid(1)
        if i < out.size:
            x = low + numbers[i] * (high - low)
            out[i] = x**2

    numbers = np.random.default_rng(0).random(50)
    return kernel, [numbers, 1.0, 3.0, np.zeros(50)], {3: (1 + 2 * numbers) ** 2}


@learner(2, 32)
def pi_by_chance():
    from numba.cuda.random import xoroshiro128p_uniform_float32 as uniform

    @cuda.jit
    def kernel(states, throws, out):
        i = cuda.grid(1)
        inside = 0
        for _ in range(throws):
            x = uniform(states, i)
            y = uniform(states, i)
            if x * x + y * y <= float32(1):
                inside += 1
        out[i] = 4 * inside / throws

    states = xoroshiro.states(64, seed=1)
    return kernel, [states, 100, np.zeros(64)], {2: _pi(states.copy(), 100)}


def _pi(states: np.ndarray, throws: int) -> np.ndarray:
    """The same with NumPy's integers, by the generator's definition: xoroshiro128+."""
    s0, s1 = states["s0"], states["s1"]
    turned = lambda v, k: (v << np.uint64(k)) | (v >> np.uint64(64 - k))  # noqa: E731
    inside = np.zeros(len(states))
    for _ in range(throws):
        numbers = []
        for _ in range(2):
            drawn = s0 + s1
            s1 = s0 ^ s1
            s0, s1 = turned(s0, 55) ^ s1 ^ (s1 << np.uint64(14)), turned(s1, 36)
            half = (drawn >> np.uint64(11)).astype(np.float64) * 2.0**-53
            numbers.append(half.astype(np.float32))
        x, y = numbers
        inside += x * x + y * y <= np.float32(1)
    return 4 * inside / throws


@learner(1, 1)
def numpy_function_of_a_whole_array():
    @cuda.jit
    def kernel(x, r):
        np.sin(x, r)

    x = np.arange(10, dtype=np.float32) - 5
    return kernel, [x, np.zeros_like(x)], {1: np.sin(x)}


@learner(1, 16)
def function_shared_with_the_host():
    @cuda.jit(device=True)
    def business(x, y, z):
        return 4 * z * (2 * x - (4 * y) / 2 * math.pi)

    @cuda.jit
    def kernel(res, xarr, yarr, zarr):
        tid = cuda.grid(1)
        if tid < len(xarr):
            res[tid] = business(xarr[tid], yarr[tid], zarr[tid])

    x, y, z = (np.linspace(k, k + 1, 10) for k in range(3))
    wanted = 4 * z * (2 * x - (4 * y) / 2 * math.pi)
    return kernel, [np.zeros(10), x, y, z], {0: wanted}


@learner((2, 2, 2), (2, 2, 2))
def maximum_over_three_axes():
    @cuda.jit
    def kernel(result, values):
        i, j, k = cuda.grid(3)
        cuda.atomic.max(result, (0, 1, 2), values[i, j, k])

    values = np.random.default_rng(1).random((4, 4, 4))
    wanted = np.zeros((3, 3, 3))
    wanted[0, 1, 2] = values.max()
    return kernel, [np.zeros((3, 3, 3)), values], {0: wanted}


@learner(1, 32)
def rows_written_after_each_other_by_the_grid():
    @cuda.jit
    def kernel(m):
        col = cuda.grid(1)
        g = cuda.cg.this_grid()
        for row in range(1, m.shape[0]):
            opposite = m.shape[1] - col - 1
            m[row, col] = m[row - 1, opposite] + 1
            g.sync()

    m = np.zeros((5, 32), np.int32)
    m[0] = np.arange(32)
    wanted = m.copy()
    for row in range(1, 5):
        wanted[row] = wanted[row - 1, ::-1] + 1
    return kernel, [m], {0: wanted}


@learner(2, 16)
def polynomial_with_constants_outside():
    coefficients = (1.0, -2.0, 0.5)

    @cuda.jit
    def kernel(x, y):
        i = cuda.grid(1)
        if i < x.size:
            total = 0.0
            for c in coefficients:
                total = total * x[i] + c
            y[i] = total

    x = np.linspace(-1, 1, 30)
    return kernel, [x, np.zeros(30)], {1: np.polyval(coefficients, x)}


@learner(1, 32)
def constant_table_of_weights():
    table = np.array([1.0, 4.0, 6.0, 4.0, 1.0]) / 16

    @cuda.jit
    def kernel(x, y):
        weights = cuda.const.array_like(table)
        i = cuda.grid(1)
        if i < y.size:
            acc = 0.0
            for k in range(5):
                acc += weights[k] * x[i + k]
            y[i] = acc

    x = np.arange(24.0) ** 2
    wanted = np.array([table @ x[i : i + 5] for i in range(20)])
    return kernel, [x, np.zeros(20)], {1: wanted}


@learner(1, 16)
def local_array_as_a_window():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        window = cuda.local.array(3, float64)
        if i < out.size:
            for k in range(3):
                window[k] = x[i + k]
            if window[0] > window[1]:
                window[0], window[1] = window[1], window[0]
            if window[1] > window[2]:
                window[1], window[2] = window[2], window[1]
            if window[0] > window[1]:
                window[0], window[1] = window[1], window[0]
            out[i] = window[1]

    x = np.random.default_rng(2).random(18)
    wanted = np.array([np.median(x[i : i + 3]) for i in range(16)])
    return kernel, [x, np.zeros(16)], {1: wanted}


@learner(2, 32, shared_bytes=256)
def dynamic_shared_memory_cut_in_two():
    @cuda.jit
    def kernel(a, out):
        everything = cuda.shared.array(0, dtype=float32)
        n = cuda.blockDim.x
        left = everything[:n]
        right = everything[n : 2 * n]
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        left[t] = a[i]
        right[t] = 2 * a[i]
        cuda.syncthreads()
        out[i] = left[n - 1 - t] + right[t]

    a = whole(64)
    turned = a.reshape(2, 32)[:, ::-1].reshape(-1)
    return kernel, [a, np.zeros(64, np.float32)], {1: turned + 2 * a}

"""Short puzzles: map, zip, guards, broadcasting, blocks, shared memory, pooling, prefix sums."""

import numpy as np

from kernels import cuda, float32
from tests.microscope.learners.cases import learner, whole

TPB = 8


@learner(1, 6)
def add_ten_to_each():
    @cuda.jit
    def kernel(out, a):
        me = cuda.threadIdx.x
        out[me] = a[me] + 10

    a = whole(6)
    return kernel, [np.zeros(6, np.float32), a], {0: a + 10}


@learner(1, 6)
def zip_two_vectors():
    @cuda.jit
    def kernel(out, a, b):
        local_i = cuda.threadIdx.x
        x = a[local_i]
        y = b[local_i]
        z = x + y
        out[local_i] = z

    a, b = whole(6), whole(6, low=0)
    return kernel, [np.zeros(6, np.float32), a, b], {0: a + b}


@learner(1, 8)
def guard_with_if_else_pass():
    @cuda.jit
    def kernel(out, a, size):
        i = cuda.threadIdx.x
        if i < size:
            out[i] = a[i] + 10
        else:
            pass

    a = whole(5)
    return kernel, [np.zeros(5, np.float32), a, 5], {0: a + 10}


@learner(1, 8)
def guard_by_returning():
    @cuda.jit
    def kernel(out, a, size):
        i = cuda.threadIdx.x
        if i >= size:
            return
        out[i] = a[i] * a[i]

    a = whole(5)
    return kernel, [np.zeros(5, np.float32), a, 5], {0: a * a}


@learner(1, (3, 3))
def map_in_two_dimensions():
    @cuda.jit
    def kernel(out, a, size):
        local_i = cuda.threadIdx.x
        local_j = cuda.threadIdx.y
        if local_i < size and local_j < size:
            out[local_i, local_j] = a[local_i, local_j] + 10

    a = whole(2, 2)
    return kernel, [np.zeros((2, 2), np.float32), a, 2], {0: a + 10}


@learner(1, (3, 3))
def broadcast_a_column_and_a_row():
    @cuda.jit
    def kernel(out, a, b, size):
        i = cuda.threadIdx.x
        j = cuda.threadIdx.y
        if i < size:
            if j < size:
                out[i, j] = a[i, 0] + b[0, j]

    a, b = whole(2, 1), whole(1, 2)
    return kernel, [np.zeros((2, 2), np.float32), a, b, 2], {0: a + b}


@learner(3, 4)
def more_positions_than_threads_in_a_block():
    @cuda.jit
    def kernel(out, a, size):
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        if not i >= size:
            out[i] = a[i] + 10

    a = whole(9)
    return kernel, [np.zeros(9, np.float32), a, 9], {0: a + 10}


@learner((2, 2), (3, 3))
def blocks_in_two_dimensions():
    @cuda.jit
    def kernel(out, a, size):
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        j = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
        if (i < size) & (j < size):
            out[i][j] = a[i][j] + 10

    a = whole(5, 5)
    return kernel, [np.zeros((5, 5), np.float32), a, 5], {0: a + 10}


@learner(2, 4)
def through_shared_memory_without_need():
    @cuda.jit
    def kernel(out, a, size):
        shared = cuda.shared.array(4, float32)
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        local_i = cuda.threadIdx.x
        if i < size:
            shared[local_i] = a[i]
            cuda.syncwarp()
        if i < size:
            out[i] = shared[local_i] + 10

    a = whole(8)
    return kernel, [np.zeros(8, np.float32), a, 8], {0: a + 10}


@learner(1, TPB)
def pooling_of_the_last_three():
    @cuda.jit
    def kernel(out, a, size):
        shared = cuda.shared.array(TPB, float32)
        i = cuda.grid(1)
        t = cuda.threadIdx.x
        if i < size:
            shared[t] = a[i]
        cuda.syncthreads()
        if i == 0:
            out[i] = shared[0]
        elif i == 1:
            out[i] = shared[0] + shared[1]
        elif i < size:
            out[i] = shared[t - 2] + shared[t - 1] + shared[t]

    a = whole(8)
    wanted = np.array([a[max(0, i - 2) : i + 1].sum() for i in range(8)])
    return kernel, [np.zeros(8, np.float32), a, 8], {0: wanted}


@learner(1, TPB)
def dot_product_by_thread_zero():
    @cuda.jit
    def kernel(out, a, b, size):
        shared = cuda.shared.array(TPB, float32)
        i = cuda.grid(1)
        local_i = cuda.threadIdx.x
        if i < size:
            shared[local_i] = a[i] * b[i]
        cuda.syncthreads()
        if local_i == 0:
            total = 0
            for k in range(size):
                total += shared[k]
            out[0] = total

    a, b = whole(8), whole(8, low=0)
    return kernel, [np.zeros(1, np.float32), a, b, 8], {0: np.array([a @ b])}


@learner(2, TPB)
def convolution_with_a_halo():
    most_taps = 4
    with_halo = TPB + most_taps

    @cuda.jit
    def kernel(out, a, b, a_size, b_size):
        i = cuda.grid(1)
        local_i = cuda.threadIdx.x
        sa = cuda.shared.array(with_halo, float32)
        sb = cuda.shared.array(most_taps, float32)
        sa[local_i] = a[i] if i < a_size else 0
        if local_i < b_size:
            sb[local_i] = b[local_i]
            other = i + TPB
            if other < a_size:
                sa[local_i + TPB] = a[other]
            else:
                sa[local_i + TPB] = 0
        cuda.syncthreads()
        acc = 0
        for k in range(b_size):
            acc += sa[local_i + k] * sb[k]
        if i < a_size:
            out[i] = acc

    a, b = whole(15), whole(4)
    padded = np.concatenate([a, np.zeros(4)])
    wanted = np.array([padded[i : i + 4] @ b for i in range(15)])
    return kernel, [np.zeros(15, np.float32), a, b, 15, 4], {0: wanted}


@learner(2, TPB)
def block_sums_by_doubling():
    @cuda.jit
    def kernel(out, a, size):
        cache = cuda.shared.array(TPB, float32)
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        local_i = cuda.threadIdx.x
        if i < size:
            cache[local_i] = a[i]
        else:
            cache[local_i] = 0
        cuda.syncthreads()
        for k in range(3):
            p = 2**k
            if local_i % (p * 2) == 0:
                cache[local_i] = cache[local_i] + cache[local_i + p]
            cuda.syncthreads()
        if local_i == 0:
            out[cuda.blockIdx.x] = cache[0]

    a = whole(14)
    return kernel, [np.zeros(2, np.float32), a, 14], {0: np.array([a[:8].sum(), a[8:].sum()])}


@learner((1, 3), TPB)
def sum_along_an_axis():
    @cuda.jit
    def kernel(out, a, size):
        cache = cuda.shared.array(TPB, float32)
        i = cuda.grid(1)
        local_i = cuda.threadIdx.x
        batch = cuda.blockIdx.y
        cache[local_i] = a[batch, i] if i < size else 0.0
        cuda.syncthreads()
        step = TPB // 2
        while step > 0:
            if local_i < step:
                cache[local_i] += cache[local_i + step]
            cuda.syncthreads()
            step //= 2
        if local_i == 0:
            out[batch, 0] = cache[0]

    a = whole(3, 6)
    return kernel, [np.zeros((3, 1), np.float32), a, 6], {0: a.sum(axis=1, keepdims=True)}


@learner((3, 3), (3, 3))
def matmul_of_tiles_of_three():
    tile = 3

    @cuda.jit
    def kernel(out, a, b, size):
        a_shared = cuda.shared.array((tile, tile), float32)
        b_shared = cuda.shared.array((tile, tile), float32)
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        j = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
        local_i, local_j = cuda.threadIdx.x, cuda.threadIdx.y
        acc = 0.0
        for k in range(0, size, tile):
            a_shared[local_i, local_j] = 0
            b_shared[local_i, local_j] = 0
            if i < size and k + local_j < size:
                a_shared[local_i, local_j] = a[i, k + local_j]
            if j < size and k + local_i < size:
                b_shared[local_i, local_j] = b[k + local_i, j]
            cuda.syncthreads()
            for kk in range(min(tile, size - k)):
                acc += a_shared[local_i, kk] * b_shared[kk, local_j]
            cuda.syncthreads()
        if i < size and j < size:
            out[i, j] = acc

    a, b = whole(8, 8), whole(8, 8, low=0)
    return kernel, [np.zeros((8, 8), np.float32), a, b, 8], {0: a @ b}

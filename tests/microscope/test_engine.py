"""The engine runs every construct a course kernel uses, and gives what Numba gives."""

import math
from fractions import Fraction

import numpy as np
import pytest

from microscope import KernelError, launch, trace
from microscope import api as cuda

F, I32, U32 = np.float32, np.int32, np.uint32
TILE = 8
TABLE = np.array([3, 1, 4, 1, 5, 9], np.int32)
PAIR = (4, 6)


def run(kernel, grid, block, *arrays, shared_bytes=0):
    """Launch under every schedule and plainly; all must agree. Returns the last array."""
    plain = [a.copy() if isinstance(a, np.ndarray) else a for a in arrays]
    kernel[grid, block, 0, shared_bytes](*plain)
    for schedule in ("lockstep", "warps", "warps-reversed"):
        t = trace(kernel, grid, block, *arrays, schedule=schedule, shared_bytes=shared_bytes)
        assert not t.problems, [str(p) for p in t.problems]
        name = list(t.outputs)[-1]
        np.testing.assert_array_equal(t.outputs[name], plain[-1], err_msg=schedule)
    return plain[-1]


# -- where am I


@cuda.jit
def where_am_i(out):
    x, y, z = cuda.grid(3)
    nx, ny, nz = cuda.gridsize(3)
    if x < out.shape[2] and y < out.shape[1] and z < out.shape[0]:
        out[z, y, x] = (z * ny + y) * nx + x


def test_three_dimensional_grid():
    out = run(where_am_i, (2, 3, 2), (5, 3, 2), np.zeros((4, 9, 10), np.int64))
    np.testing.assert_array_equal(out.ravel(), np.arange(360))


@cuda.jit
def dims(out):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    out[i, 0] = cuda.gridDim.x
    out[i, 1] = cuda.blockDim.x
    out[i, 2] = cuda.laneid
    out[i, 3] = cuda.warpsize
    t = cuda.threadIdx
    out[i, 4] = t.x


def test_coordinates():
    out = run(dims, 3, 40, np.zeros((120, 5), np.int64))
    i = np.arange(120) % 40
    np.testing.assert_array_equal(out, np.stack([i * 0 + 3, i * 0 + 40, i % 32, i * 0 + 32, i], 1))


# -- control flow


@cuda.jit
def collatz(n, out):
    i = cuda.grid(1)
    if i >= n.size:
        return
    steps = 0
    x = n[i]
    while x != 1:
        if x % 2 == 0:
            x //= 2
        else:
            x = 3 * x + 1
        steps += 1
    out[i] = steps


def test_while_with_different_trip_counts():
    def reference(x):
        steps = 0
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            steps += 1
        return steps

    n = np.arange(1, 101)
    out = run(collatz, 2, 64, n, np.zeros(100, np.int64))
    np.testing.assert_array_equal(out, [reference(int(x)) for x in n])


@cuda.jit
def jumps(out):
    i = cuda.grid(1)
    total = 0
    for k in range(20):
        if k == i:
            continue
        if k > i + 5:
            break
        total += k
    else:
        total += 1000
    j = 0
    while True:
        j += 1
        if j % 2 == 0:
            continue
        if j > i:
            break
    out[i] = total * 100 + j


def test_break_continue_and_loop_else():
    expected = []
    for i in range(40):
        total = 0
        for k in range(20):
            if k == i:
                continue
            if k > i + 5:
                break
            total += k
        else:
            total += 1000
        j = 0
        while True:
            j += 1
            if j % 2 == 0:
                continue
            if j > i:
                break
        expected.append(total * 100 + j)
    np.testing.assert_array_equal(run(jumps, 1, 40, np.zeros(40, np.int64)), expected)


@cuda.jit
def grid_stride(a, out):
    start = cuda.grid(1)
    for i in range(start, a.size, cuda.gridsize(1)):
        out[i] = 2 * a[i]


def test_grid_stride_loop():
    a = np.arange(1003)
    np.testing.assert_array_equal(run(grid_stride, 3, 64, a, np.zeros(1003, np.int64)), 2 * a)


@cuda.jit
def downward(out):
    i = cuda.grid(1)
    for k in range(i, -1, -2):
        out[i] += k


def test_downward_range_with_a_start_per_thread():
    out = run(downward, 1, 37, np.zeros(37, np.int64))
    np.testing.assert_array_equal(out, [sum(range(i, -1, -2)) for i in range(37)])


@cuda.jit
def below_zero(out):
    i = cuda.grid(1)
    for k in range(U32(i + 1)):
        out[0, i] = k - U32(1) > U32(5)
        out[1, i] = k - 1 > 5
    for k in range(U32(1)):
        out[2, i] = k - U32(1) > U32(5)


def test_a_range_of_unsigned_numbers_counts_unsigned():
    out = run(below_zero, 1, 4, np.zeros((3, 4), np.int64))
    np.testing.assert_array_equal(out, [[1, 0, 0, 0], [0, 0, 0, 0], [1, 1, 1, 1]])


@cuda.jit
def ternary_and_chain(a, out):
    i = cuda.grid(1)
    v = a[i] if i > 2 and a[i] > 0 else (-1.0 if 0 <= i < 2 else 7.0)
    ok = not (a[i] > 0 or i == 5)
    out[i] = v * 10 + ok


def test_ternaries_chains_and_short_circuits():
    a = np.linspace(-1, 1, 32).astype(F)
    expected = [
        (a[i] if i > 2 and a[i] > 0 else (-1.0 if 0 <= i < 2 else 7.0)) * 10.0
        + (not (a[i] > 0 or i == 5))
        for i in range(32)
    ]
    np.testing.assert_allclose(run(ternary_and_chain, 1, 32, a, np.zeros(32)), expected)


@cuda.jit
def guarded_short_circuit(a, out):
    i = cuda.grid(1)
    if i < a.size and a[i] > 0:
        out[i] = 1


def test_the_right_side_of_and_runs_only_where_needed():
    out = run(guarded_short_circuit, 1, 64, np.ones(40, F), np.zeros(64, F))
    assert out.sum() == 40


@cuda.jit
def branch_variables(out):
    i = cuda.grid(1)
    x = 1.0
    if i % 2 == 0:
        x = 2.0
        y = 10.0
        if i % 4 == 0:
            x += 5.0
            y += 100.0
    else:
        y = 20.0
    out[i] = x + y


def test_variables_under_nested_masks():
    def one(i):
        if i % 2 == 0:
            return 117.0 if i % 4 == 0 else 12.0
        return 21.0

    np.testing.assert_array_equal(
        run(branch_variables, 1, 50, np.zeros(50)), [one(i) for i in range(50)]
    )


@cuda.jit
def swap_tuples(out):
    i = cuda.grid(1)
    a, b = 1, i
    if i % 3 == 0:
        a, b = b, a
    pair = (a, b)
    out[i] = pair[0] * 100 + pair[1] + len(pair)


def test_tuples():
    expected = [(i * 100 + 1 if i % 3 == 0 else 100 + i) + 2 for i in range(33)]
    np.testing.assert_array_equal(run(swap_tuples, 1, 33, np.zeros(33, np.int64)), expected)


# -- functions


@cuda.jit(device=True)
def clamp(v, low, high=10):
    if v < low:
        return low
    if v > high:
        return high
    return v


@cuda.jit
def plain_square(x):
    return x * x


@cuda.jit
def uses_functions(out):
    i = cuda.grid(1)
    out[i] = clamp(plain_square(i), 5) + clamp(i, 0, 3)


def test_device_functions_with_defaults_and_early_return():
    i = np.arange(40)
    np.testing.assert_array_equal(
        run(uses_functions, 1, 40, np.zeros(40, np.int64)), np.clip(i * i, 5, 10) + np.clip(i, 0, 3)
    )


@cuda.jit(device=True)
def fill(tile, row, value):
    for k in range(tile.shape[1]):
        tile[row, k] = value
    cuda.syncthreads()


@cuda.jit
def barrier_in_function(out):
    s = cuda.shared.array((64, 3), np.float32)
    t = cuda.threadIdx.x
    fill(s, t, t)
    out[t] = s[63 - t, 0] + s[63 - t, 2]


def test_a_device_function_may_hold_a_barrier():
    expected = 2.0 * np.arange(63, -1, -1)
    np.testing.assert_array_equal(run(barrier_in_function, 1, 64, np.zeros(64, F)), expected)


def make_scaled(factor):
    @cuda.jit
    def scaled(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] *= factor

    return scaled


def test_factory_made_kernels_have_their_own_constants():
    for factor in (2, 5):
        np.testing.assert_array_equal(
            run(make_scaled(factor), 1, 32, np.arange(20)), np.arange(20) * factor
        )


@cuda.jit
def outside_names(out):
    i = cuda.grid(1)
    table = cuda.const.array_like(TABLE)
    out[i] = TABLE[i % 6] * 100 + table[i % PAIR[1]] + PAIR[0]


def test_globals_tuples_and_constant_arrays():
    i = np.arange(18)
    np.testing.assert_array_equal(
        run(outside_names, 1, 18, np.zeros(18, np.int64)), TABLE[i % 6] * 101 + 4
    )


# -- arrays


@cuda.jit
def views(A, out):
    i = cuda.grid(1)
    if i < A.shape[0]:
        row = A[i]
        part = A[i, 1:4]
        column = A[:, 2]
        back = A.T
        out[i] = row[0] + 10 * part[2] + 100 * column[i] + part.size + back[1, i] + len(row)


def test_row_views_slices_and_transposes():
    A = np.arange(24 * 5).reshape(24, 5)
    expected = A[:, 0] + 10 * A[:, 3] + 100 * A[:, 2] + 3 + A[:, 1] + 5
    np.testing.assert_array_equal(run(views, 1, 32, A, np.zeros(24, np.int64)), expected)


@cuda.jit
def moving_window(a, out):
    i = cuda.grid(1)
    if i < out.size:
        window = a[i : i + 4]
        for k in range(window.size):
            out[i] += window[k]


def test_slices_that_differ_by_thread_are_clipped():
    a = np.arange(10)
    expected = [a[i : i + 4].sum() for i in range(10)]
    np.testing.assert_array_equal(run(moving_window, 1, 16, a, np.zeros(10, np.int64)), expected)


@cuda.jit
def negative_constant(a, out):
    i = cuda.grid(1)
    out[i] = a[-1] + a[i]


def test_literal_negative_indices_count_from_the_end():
    a = np.arange(8)
    np.testing.assert_array_equal(run(negative_constant, 1, 8, a, np.zeros(8, int)), a + 7)


@cuda.jit
def copy2d(A, out):
    x, y = cuda.grid(2)
    if y < out.shape[0] and x < out.shape[1]:
        out[y, x] = A[y, x]


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a,
        lambda a: a[:5, :7],
        lambda a: a.T,
        lambda a: a[::2, 1::3],
        lambda a: a[::-1, ::-2],
        lambda a: np.asfortranarray(a),
        lambda a: a[:0],
    ],
)
def test_any_strides(view):
    A = view(np.arange(11 * 13, dtype=F).reshape(11, 13))
    before = A.copy()
    t = trace(copy2d, (2, 2), (8, 8), A, np.zeros(A.shape, F))
    np.testing.assert_array_equal(t.outputs["out"], before)
    np.testing.assert_array_equal(A, before)
    np.testing.assert_array_equal(t.heat("A").loads if A.size else 1, 1)


def test_alignment_of_views_is_kept():
    """Rows that start three floats into a line need a sector more."""
    A = np.zeros((8, 67), F)
    t = trace(copy2d, (1, 8), (32, 1), A[:, 3:35], np.zeros((8, 32), F))
    assert t.count(array="out")["sectors"] == 8 * 4
    starts = [(r * 67 + 3) * 4 for r in range(8)]
    assert t.count(array="A")["sectors"] == sum((s + 127) // 32 - s // 32 + 1 for s in starts)
    t = trace(copy2d, 1, (32, 1), cuda.to_device(A)[:, 3:35], np.zeros((8, 32), F))
    assert t.count(array="A")["sectors"] == 5


class OnDevice:
    """Looks like a device array of Numba: strides and address as told, contents by copying."""

    def __init__(self, host, address):
        self.host = host
        self.__cuda_array_interface__ = {"data": (address, False), "strides": host.strides}

    def copy_to_host(self):
        return self.host.copy()


def test_device_arrays_keep_their_strides_and_alignment():
    A = np.arange(32 * 32, dtype=F).reshape(32, 32)
    for host, address, sectors in ((A, 4096, 4), (A, 4096 + 16, 5), (A.T, 4096, 32)):
        t = trace(copy2d, (1, 32), (32, 1), OnDevice(host, address), np.zeros((32, 32), F))
        assert t.count(array="A")["sectors"] == 32 * sectors
        np.testing.assert_array_equal(t.outputs["out"], host)


def test_numba_kernels_are_understood():
    numba = pytest.importorskip("numba")
    text = pytest.importorskip("numba.cuda")

    @text.jit
    def kernel(a, out):
        s = text.shared.array(32, numba.float32)
        i = text.grid(1)
        s[text.threadIdx.x] = numba.float32(a[i]) + text.laneid
        text.syncthreads()
        text.atomic.add(out, 0, s[31 - text.threadIdx.x])

    t = trace(kernel, 2, 32, np.ones(64), np.zeros(1, F))
    assert t.outputs["out"][0] == 2 * (32 + 31 * 16) and not t.problems


@cuda.jit
def local_arrays(out):
    i = cuda.grid(1)
    acc = cuda.local.array((2, 3), np.float32)
    for r in range(2):
        for c in range(3):
            acc[r, c] = i * r + c
    if i % 2:
        acc[1, i % 3] += 100
    total = np.float32(0)
    for r in range(2):
        for c in range(3):
            total += acc[r, c]
    out[i] = total


def test_local_arrays_are_private():
    i = np.arange(40)
    np.testing.assert_array_equal(
        run(local_arrays, 2, 20, np.zeros(40, F)), 3 * i + 6 + 100 * (i % 2)
    )


@cuda.jit
def dynamic(a, out):
    n = cuda.blockDim.x
    buffer = cuda.shared.array(0, np.float32)
    left, right = buffer[:n], buffer[n:]
    t = cuda.threadIdx.x
    left[t] = a[t]
    right[t] = 2 * a[t]
    cuda.syncthreads()
    out[t] = left[n - 1 - t] + right[(t + 1) % n]


def test_dynamic_shared_memory_is_cut_by_slices():
    a = np.arange(64, dtype=F)
    out = run(dynamic, 1, 64, a, np.zeros(64, F), shared_bytes=64 * 2 * 4)
    np.testing.assert_array_equal(out, a[::-1] + 2 * np.roll(a, -1))


@cuda.jit
def two_on_one_line(out):
    a, b = cuda.shared.array(32, np.float32), cuda.shared.array(32, np.float32)
    t = cuda.threadIdx.x
    a[t] = 1
    b[t] = 2
    cuda.syncthreads()
    out[t] = a[31 - t] + b[31 - t]


def test_two_declarations_on_one_line_are_two_arrays():
    assert (run(two_on_one_line, 1, 32, np.zeros(32, F)) == 3).all()


@cuda.jit
def shared_per_block(out):
    s = cuda.shared.array(1, np.int64)
    if cuda.threadIdx.x == 0:
        s[0] = cuda.blockIdx.x
    cuda.syncthreads()
    out[cuda.grid(1)] = s[0]


def test_each_block_has_its_own_shared_memory():
    out = run(shared_per_block, 5, 48, np.zeros(240, np.int64))
    np.testing.assert_array_equal(out, np.repeat(np.arange(5), 48))


# -- the warp and the block


@cuda.jit
def shuffles(a, out):
    i = cuda.grid(1)
    v = a[i]
    out[0, i] = cuda.shfl_down_sync(0xFFFFFFFF, v, 3)
    out[1, i] = cuda.shfl_up_sync(0xFFFFFFFF, v, 2)
    out[2, i] = cuda.shfl_xor_sync(0xFFFFFFFF, v, 5)
    out[3, i] = cuda.shfl_sync(0xFFFFFFFF, v, 7)


def test_shuffles():
    a = np.arange(64, dtype=F)
    w = a.reshape(2, 32)
    lane = np.arange(32)
    expected = [
        w[:, np.where(lane + 3 < 32, lane + 3, lane)],
        w[:, np.where(lane >= 2, lane - 2, lane)],
        w[:, lane ^ 5],
        w[:, lane * 0 + 7],
    ]
    out = run(shuffles, 1, 64, a, np.zeros((4, 64), F))
    np.testing.assert_array_equal(out, np.array(expected).reshape(4, 64))


@cuda.jit
def votes(a, out):
    i = cuda.grid(1)
    p = a[i] > 0
    out[0, i] = cuda.ballot_sync(0xFFFFFFFF, p)
    out[1, i] = cuda.all_sync(0xFFFFFFFF, p)
    out[2, i] = cuda.any_sync(0xFFFFFFFF, p)
    out[3, i] = cuda.popc(cuda.ballot_sync(0xFFFFFFFF, p))
    out[4, i] = cuda.match_any_sync(0xFFFFFFFF, a[i] % 3)


def test_votes():
    a = np.concatenate([np.ones(32), np.zeros(32), np.arange(32) % 2]).astype(np.int64)
    out = run(votes, 1, 96, a, np.zeros((5, 96), np.int64))
    np.testing.assert_array_equal(out[1], np.repeat([1, 0, 0], 32))
    np.testing.assert_array_equal(out[2], np.repeat([1, 0, 1], 32))
    np.testing.assert_array_equal(out[3], np.repeat([32, 0, 16], 32))
    assert [v & 0xFFFFFFFF for v in out[0, ::32]] == [0xFFFFFFFF, 0, 0xAAAAAAAA]
    assert [v & 0xFFFFFFFF for v in out[4, 64:66]] == [0x55555555, 0xAAAAAAAA]


@cuda.jit
def block_votes(a, out):
    i = cuda.grid(1)
    p = I32(a[i] > 0)
    n = cuda.syncthreads_count(p)
    every = cuda.syncthreads_and(p)
    some = cuda.syncthreads_or(p)
    out[i] = n * 100 + every * 10 + some


def test_barriers_that_count():
    a = np.concatenate([np.ones(48), np.zeros(48), np.arange(48) % 2])
    out = run(block_votes, 3, 48, a, np.zeros(144, np.int64))
    np.testing.assert_array_equal(out, np.repeat([4811, 0, 2401], 48))


@cuda.jit
def histogram(a, bins, order):
    i = cuda.grid(1)
    if i < a.size:
        cuda.atomic.add(bins, a[i], 1)
        order[i] = cuda.atomic.add(bins, 10, 1)


def test_atomics_return_the_old_value():
    rng = np.random.default_rng(1)
    a = rng.integers(0, 10, 100)
    for schedule in ("lockstep", "warps", "warps-reversed"):
        empty = np.zeros(11, np.int64), np.zeros(100, np.int64)
        t = trace(histogram, 2, 64, a, *empty, schedule=schedule)
        np.testing.assert_array_equal(np.sort(t.outputs["order"]), np.arange(100))
        np.testing.assert_array_equal(t.outputs["bins"], [*np.bincount(a, minlength=10), 100])
        assert not t.problems


@cuda.jit
def more_atomics(a, out):
    i = cuda.grid(1)
    cuda.atomic.max(out, 0, a[i])
    cuda.atomic.min(out, 1, a[i])
    cuda.atomic.sub(out, 2, 1)
    cuda.atomic.or_(out, 3, 1 << i)
    cuda.atomic.exch(out, (4,), 17)
    cuda.atomic.cas(out, 5, 0, i + 1)


def test_the_other_atomics():
    a = np.arange(20) * 7 % 20
    out = np.array([5, 5, 100, 0, 0, 0])
    more_atomics[1, 20](a, out)
    np.testing.assert_array_equal(out, [19, 0, 80, (1 << 20) - 1, 17, 1])


# -- arithmetic and its types


@cuda.jit
def arithmetic(a, b, out):
    i = cuda.grid(1)
    out[0, i] = a[i] // b[i]
    out[1, i] = a[i] % b[i]
    out[2, i] = a[i] / b[i]
    out[3, i] = a[i] ** 2
    out[4, i] = -a[i] + abs(a[i]) + min(a[i], b[i], 3) + max(a[i], 0)
    out[5, i] = (a[i] << 2) ^ (b[i] & 5) | 1
    out[6, i] = ~a[i] >> 1
    out[7, i] = int(a[i] / b[i]) + round(a[i] / b[i])


def test_integer_arithmetic_follows_python():
    a = np.array([7, -7, 7, -7, 0, 12], I32)
    b = np.array([2, 2, -2, -2, 3, 5], I32)
    expected = np.array(
        [
            [x // y, x % y, x / y, x**2, -x + abs(x) + min(x, y, 3) + max(x, 0)]
            + [(x << 2) ^ (y & 5) | 1, ~x >> 1, int(x / y) + round(x / y)]
            for x, y in zip(a.tolist(), b.tolist(), strict=True)
        ]
    ).T
    np.testing.assert_allclose(run(arithmetic, 1, 6, a, b, np.zeros((8, 6))), expected)


@cuda.jit
def maths(a, out):
    i = cuda.grid(1)
    x = a[i]
    out[0, i] = math.sqrt(x)
    out[1, i] = math.exp(x) + math.log(x + 1) + math.sin(x) * math.cos(x)
    out[2, i] = math.pow(x, 2.0) + math.fabs(-x) + math.floor(x) + math.ceil(x)
    out[3, i] = cuda.fma(x, x, x)
    out[4, i] = math.pi + math.erf(x)
    out[5, i] = np.tan(x) + math.atan2(x, x + 1)


def test_math():
    a = np.linspace(0.1, 3, 30)
    expected = [
        np.sqrt(a),
        np.exp(a) + np.log(a + 1) + np.sin(a) * np.cos(a),
        a**2 + a + np.floor(a) + np.ceil(a),
        a * a + a,
        [math.pi + math.erf(x) for x in a],
        np.tan(a) + np.arctan2(a, a + 1),
    ]
    np.testing.assert_allclose(run(maths, 1, 30, a, np.zeros((6, 30))), expected)


@cuda.jit
def fused(a, b, c, out):
    i = cuda.grid(1)
    out[i] = cuda.fma(a[i], b[i], c[i])


@pytest.mark.parametrize("dtype", (np.float32, np.float64))
def test_a_fused_multiply_add_rounds_once(dtype):
    half = (np.finfo(dtype).nmant + 1) // 2
    rng = np.random.default_rng(1)
    # Odd numbers, many of whose products have one bit too many: `c` decides a tie.
    a, b = (2 * rng.integers(2 ** (half - 1), 2**half, 600) + 1 for _ in "ab")
    c = rng.choice([0.5, -0.5, 2.0**-30, -(2.0**-30), 2.0**-80, 0.0], 600)
    a, b, c = (np.append(v, last).astype(dtype) for v, last in ((a, -1e20), (b, -7.0), (c, 0.5)))
    got = run(fused, 1, 601, a, b, c, np.zeros(601, dtype))
    for x, y, z, found in zip(a, b, c, got, strict=True):
        exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
        off, below, above = (
            abs(Fraction(float(v)) - exact)
            for v in (found, np.nextafter(found, -np.inf), np.nextafter(found, np.inf))
        )
        assert off <= min(below, above), (x, y, z)
        if off in (below, above):
            assert found.view(f"i{found.nbytes}") % 2 == 0, (x, y, z)  # ties to even


def test_a_fused_multiply_add_of_what_is_not_finite_and_of_zeros():
    a = np.array([np.inf, np.nan, 0.0, -0.0, 3e38, 3e38], np.float32)
    b = np.array([2.0, 1.0, np.inf, 1.0, 2.0, 2.0], np.float32)
    c = np.array([-np.inf, 1.0, 1.0, -0.0, 0.0, -3.4e38], np.float32)
    got = run(fused, 1, 6, a, b, c, np.zeros(6, np.float32))
    expected = [np.nan, np.nan, np.nan, -0.0, np.inf, np.float32(6e38 - 3.4e38)]
    np.testing.assert_array_equal(got[:5], expected[:5])
    assert np.signbit(got[3]) and abs(got[5] - expected[5]) < 1e32


@cuda.jit
def accumulate(a, out):
    i = cuda.grid(1)
    kept = np.float32(0)
    grown = 0
    literal = np.float32(0)
    for k in range(4):
        kept += a[k] * a[k]
        grown += a[k]
        literal = literal + 0.5 * a[k]
    out[i] = kept + grown + literal


def test_types_of_accumulators_show_in_the_flops():
    t = trace(accumulate, 1, 32, np.ones(4, F), np.zeros(32))
    # kept: 2 float32 a step; grown: 1 float64; literal: 2 float64; then 2 float64 additions
    assert t.work.flops == {"float32": 4 * 2 * 32, "float64": (4 * 3 + 2) * 32}


@cuda.jit
def bits(a, out):
    i = cuda.grid(1)
    out[0, i] = cuda.popc(a[i])
    out[1, i] = cuda.clz(a[i])
    out[2, i] = cuda.ffs(a[i])
    out[3, i] = cuda.selp(a[i] > 4, 1, 2)


def test_bit_functions():
    a = np.array([0, 1, 6, 255, 2**31 - 1], I32)
    expected = [
        [bin(x).count("1") for x in a.tolist()],
        [32 - x.bit_length() for x in a.tolist()],
        [0 if x == 0 else (x & -x).bit_length() for x in a.tolist()],
        [1 if x > 4 else 2 for x in a.tolist()],
    ]
    np.testing.assert_array_equal(run(bits, 1, 5, a, np.zeros((4, 5), np.int64)), expected)


@cuda.jit
def scalars(n, x, flag, pair, out):
    i = cuda.grid(1)
    if flag and i < n:
        out[i] = x * pair[1] + pair[0]


def test_scalar_and_tuple_arguments():
    out = np.zeros(8)
    scalars[1, 8](5, 1.5, True, (2, 3), out)
    np.testing.assert_array_equal(out, [6.5] * 5 + [0] * 3)


@cuda.jit
def prints(a):
    i = cuda.grid(1)
    if i < 2:
        print("thread", i, a[i])


def test_print(capsys):
    prints[1, 32](np.array([1.5, 2.5, 3.5]))
    assert capsys.readouterr().out == "thread 0 1.5\nthread 1 2.5\n"


# -- the host's side


def test_device_arrays_are_copies():
    host = np.arange(6, dtype=F)
    device = cuda.to_device(host)
    make_scaled(3)[1, 32](device)
    np.testing.assert_array_equal(host, np.arange(6))
    np.testing.assert_array_equal(device.copy_to_host(), 3 * host)
    out = np.empty_like(host)
    device.copy_to_host(out)
    np.testing.assert_array_equal(out, 3 * host)
    assert "copy_to_host" in repr(device)


def test_events_and_streams():
    stream, start, end = cuda.stream(), cuda.event(), cuda.event()
    start.record(stream)
    make_scaled(2)[1, 32, stream](np.zeros(3))
    end.record(stream)
    end.synchronize()
    assert cuda.event_elapsed_time(start, end) > 0
    with pytest.raises(ValueError, match="recorded"):
        cuda.event_elapsed_time(start, cuda.event())


def test_trace_leaves_arguments_alone():
    a = np.ones(32, F)
    t = trace(make_scaled(2), 1, 32, a)
    assert (a == 1).all() and (t.outputs["a"] == 2).all()


def test_progress_bar(monkeypatch, capsys):
    monkeypatch.setenv("KERNELS_PROGRESS", "1")
    monkeypatch.setattr(launch, "PROGRESS_AFTER", 0)
    monkeypatch.setattr(launch, "CHUNK_LANES", 64)
    make_scaled(2)[10, 32](np.zeros(320))
    shown = capsys.readouterr().err
    assert "scaled [######" in shown and "2 of 10 blocks" in shown
    assert shown.endswith("\r")


def test_a_long_launch_can_be_interrupted(monkeypatch):
    def interrupt(progress, done):
        raise KeyboardInterrupt

    a = np.ones(320)
    with monkeypatch.context() as changed:
        changed.setattr(launch, "CHUNK_LANES", 64)
        changed.setattr(launch.Progress, "show", interrupt)
        with pytest.raises(KeyboardInterrupt):
            make_scaled(2)[10, 32](a)
    assert (a[:64] == 2).all() and (a[64:] == 1).all()
    make_scaled(2)[10, 32](a)
    assert (a[64:] == 2).all()


def test_some_blocks_only():
    t = trace(where_am_i, (2, 3, 2), (5, 3, 2), np.zeros((4, 9, 10), int), blocks=[(1, 2, 1), 0])
    assert t.blocks == 2 and t.count(space="global")["lanes"] == 60
    with pytest.raises(KernelError, match=r"block \(2, 0\) is outside the grid"):
        trace(where_am_i, (2, 3, 2), (5, 3, 2), np.zeros((4, 9, 10), int), blocks=[(2, 0)])


@cuda.jit
def misspelt(a):
    cuda.synctreads()


@cuda.jit
def whole(a):
    s = cuda.shared.array((2, 2), np.float32)
    s[:] = a


@pytest.mark.parametrize(
    "launch, message",
    [
        (lambda: where_am_i[1, 1025](0), "1025 threads; the limit is 1024"),
        (lambda: where_am_i[1, (64, 64)](0), "64 × 64 is 4096 threads; the limit is 1024"),
        (lambda: where_am_i[1.5, 32], "grid 1.5 must be whole numbers"),
        (lambda: where_am_i[1, 0], "block 0 has an axis of 0: give at least 1$"),
        (lambda: where_am_i[(0, 2), 1], "0 where the tile is larger than the matrix"),
        (
            lambda: trace(where_am_i, 1, (64, 64), np.zeros((1, 1, 1), int)).heat("out"),
            "the kernel did not run: a block of 64 × 64 is 4096 threads; the limit is 1024",
        ),
        (lambda: misspelt[1, 1](np.zeros(1)), r"known to the interpreter: did you mean cuda.sync"),
        (
            lambda: whole[1, 1](np.zeros((2, 2))),
            r"cannot store the array a in s\[:\]: let each thread store one element, s\[ty, tx\] =",
        ),
        (lambda: where_am_i[1, (1, 1, 65)](0), "block axis z is 65; the limit is 64"),
        (lambda: where_am_i[1, (1, 1, 1, 1)], "has 4 axes"),
        (lambda: where_am_i[1], r"takes \[grid, block\]"),
        (lambda: where_am_i(0), "say how many threads"),
        (lambda: where_am_i[1, 1](), r"where_am_i takes \(out\), got 0 arguments: out missing"),
        (lambda: where_am_i[1, 1](0, 1), r"where_am_i takes \(out\), got 2 arguments"),
        (lambda: where_am_i[1, 1](np.array([None])), "argument out is an array of object"),
        (lambda: where_am_i[1, 1]([1, 2]), "argument out is a list"),
        (lambda: where_am_i[1, 1]((k for k in "a")), "argument out is a generator"),
        (lambda: where_am_i[1, 1, 0, 10**6](0), "1000000 bytes of dynamic shared memory"),
        (lambda: cuda.jit(lambda a: a)[1, 1](1), "a kernel returns nothing"),
        (lambda: [cuda.jit(lambda a: a), cuda.jit(lambda a: 2)], "holds 2 lambdas that look alike"),
        (lambda: trace(3, 1, 1), "3 is no kernel"),
        (lambda: trace(where_am_i, 1, 1, 0, schedule="random"), "schedule 'random' is unknown"),
        (lambda: clamp(1, 2), "device function: call it from a kernel"),
    ],
)
def test_launch_errors_are_one_clear_line(launch, message):
    with pytest.raises(KernelError, match=message) as error:
        launch()
    assert "\n" not in str(error.value)


def test_a_function_without_source():
    namespace = {}
    exec("def kernel(a): a[0] = 1", namespace)
    with pytest.raises(KernelError, match="the source of kernel cannot be read"):
        cuda.jit(namespace["kernel"])


# -- barriers and device functions anywhere in an expression


@cuda.jit(device=True)
def turned(s, v):
    t = cuda.threadIdx.x
    s[t] = v
    cuda.syncthreads()
    v = s[(t + 33) % 64]
    cuda.syncthreads()
    return v


@cuda.jit(device=True)
def turned_twice(s, v):
    return turned(s, v) + turned(s, v + 1)


@cuda.jit
def waits_everywhere(a, out):
    t = cuda.threadIdx.x
    s = cuda.shared.array(64, np.int64)
    out[t, 0] = (
        a[t] + turned_twice(s, a[t]) * 2 if cuda.syncthreads_or(I32(t == 3)) and t >= 0 else -1
    )
    for i in range(turned(s, 2)):
        out[t, 1:3][i] = turned(s, t) + (0, turned(s, 5))[1]
    out[t, 3] = 0 < turned(s, 4) <= cuda.syncthreads_count(1) < turned(s, 99)
    k = 0
    while cuda.syncthreads_count(I32(k < 3)):
        k += 1
    out[t, cuda.syncthreads_count(I32(t < 4))] = k
    x, out[t, 5] = turned(s, 7), 4
    out[t, 5] += x * cuda.syncthreads_count(I32(t < 10))
    if cuda.syncthreads_and(I32(t < 64)):
        out[t, 6] = cuda.syncthreads_count(t) - 1


def test_values_may_wait_for_other_warps():
    t = np.arange(64)
    other = (t + 33) % 64
    expected = [
        t + 2 * (other + other + 1),
        other + 5,
        other + 5,
        t * 0 + 1,
        t * 0 + 3,
        t * 0 + 74,
        t * 0 + 62,
    ]
    out = run(waits_everywhere, 1, 64, t, np.zeros((64, 7), np.int64))
    np.testing.assert_array_equal(out, np.stack(expected, axis=1))


@cuda.jit
def short_circuits(index, a, out):
    i = cuda.grid(1)
    out[i] = 0 <= index[i] < a.size != a[index[i]]


def test_a_chain_of_comparisons_stops_where_it_fails():
    index = np.array([-1, 0, 1, 2, 99])
    out = run(short_circuits, 1, 5, index, np.array([3, 3, 4]), np.zeros(5, np.int64))
    np.testing.assert_array_equal(out, [0, 0, 0, 1, 0])


@cuda.jit
def gamma_of_positive(a, out):
    i = cuda.grid(1)
    if a[i] > 0:
        out[i] = math.gamma(a[i]) + math.lgamma(a[i]) + math.remainder(a[i], 2.5)
    fraction, whole = math.modf(a[i])
    mantissa, exponent = math.frexp(a[i])
    out[i] += fraction + whole + mantissa * 2.0**exponent


def test_functions_undefined_in_lanes_that_do_not_ask():
    a = np.array([-2.0, 0.0, 3.0, 4.5, 200.0])
    np.testing.assert_allclose(
        run(gamma_of_positive, 1, 5, a, np.zeros(5)),
        [
            2 * x
            + (
                math.gamma(x) + math.lgamma(x) + math.remainder(x, 2.5)
                if 0 < x < 99
                else math.inf
                if x > 0
                else 0
            )
            for x in a
        ],
    )


@cuda.jit
def smallest(a, b, out):
    out[0] = min(a[0], b[0]) * b[0]


def test_small_integers_beside_a_float32_stay_float32_in_min():
    t = trace(smallest, 1, 1, np.ones(1, np.int8), np.ones(1, np.float32), np.zeros(1))
    assert t.work.flops == {"float32": 1}


@cuda.jit
def reshaped(a, out):
    i = cuda.grid(1)
    rows = a.reshape(-1, 2)
    flat = out.reshape(-1)
    flat[i] = rows[i // 2, i % 2]


@cuda.jit
def reshaped_to_another_size(a, out):
    rows = a.reshape(3, 3)
    out[0, 0] = rows[0, 0]


@cuda.jit
def reshaped_part(a, out):
    column = a[:, 0].reshape(2, 2)
    out[0, 0] = column[0, 0]


def test_an_axis_of_a_new_shape_may_be_left_open():
    a = np.arange(8.0).reshape(4, 2)
    np.testing.assert_array_equal(run(reshaped, 1, 8, a, np.zeros((2, 4))).ravel(), a.ravel())
    with pytest.raises(KernelError, match=r"a.reshape\(3, 3\): a has 8 elements"):
        reshaped_to_another_size[1, 1](a, np.zeros((2, 4)))
    with pytest.raises(KernelError, match="only a contiguous array can be reshaped"):
        reshaped_part[1, 1](a, np.zeros((2, 4)))


@cuda.jit
def unpacked(colours, out):
    i = cuda.grid(1)
    r, g, b = colours[i]
    out[i] = (r << 16) | (g << 8) | b


def test_a_row_is_unpacked():
    colours = np.array([[1, 2, 3], [255, 0, 7]], np.uint8)
    assert run(unpacked, 1, 2, colours, np.zeros(2, np.int64)).tolist() == [66051, 16711687]
    with pytest.raises(KernelError, match="3 names on the left, but colours has another length"):
        unpacked[1, 2](np.zeros((2, 4), np.uint8), np.zeros(2, np.int64))

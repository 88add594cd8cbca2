"""The interpreter runs every construct a course kernel uses, and gives what Numba gives."""

from fractions import Fraction

import numpy as np
import pytest

from microscope import KernelError, launch, trace
from microscope import api as cuda

F, I32, U32 = np.float32, np.int32, np.uint32
TILE = 8


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


# -- functions


@cuda.jit(device=True)
def clamp(v, low, high=10):
    if v < low:
        return low
    if v > high:
        return high
    return v


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


# -- arrays


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
def shared_per_block(out):
    s = cuda.shared.array(1, np.int64)
    if cuda.threadIdx.x == 0:
        s[0] = cuda.blockIdx.x
    cuda.syncthreads()
    out[cuda.grid(1)] = s[0]


def test_each_block_has_its_own_shared_memory():
    out = run(shared_per_block, 5, 48, np.zeros(240, np.int64))
    np.testing.assert_array_equal(out, np.repeat(np.arange(5), 48))


# -- arithmetic and its types


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
        changed.setattr(launch.ProgressBar, "show", interrupt)
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

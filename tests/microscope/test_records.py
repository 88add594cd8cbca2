"""Records, complex parts, vectors, named tuples and functions inside kernels."""

from collections import namedtuple

import numpy as np
import pytest

from microscope import KernelError, trace
from microscope import api as cuda

PARTICLE = np.dtype(
    [("x", np.float32), ("key", np.int32), ("v", np.float32, (2,)), ("m", np.float64)], align=True
)
Pair = namedtuple("Pair", "left right")


def particles(n):
    made = np.zeros(n, PARTICLE)
    made["x"], made["key"], made["m"] = np.arange(n), n - np.arange(n), 2.0
    made["v"][:, 1] = 3
    return made


@cuda.jit
def moves(p, total):
    i = cuda.grid(1)
    if i < p.size:
        r = p[i]
        r.x += r.v[1] * p["m"][i]
        p[i]["key"] = -r.key
        r.v[0] = i
        cuda.atomic.add(total, 0, p[i].m)


def test_a_record_is_a_view_of_its_array():
    p, total = particles(40), np.zeros(1)
    moves[2, 32](p, total)
    np.testing.assert_array_equal(p["x"], np.arange(40) + 6)
    np.testing.assert_array_equal(p["key"], np.arange(40) - 40)
    np.testing.assert_array_equal(p["v"], np.stack([np.arange(40), np.full(40, 3)], 1))
    assert total[0] == 80


@cuda.jit
def reverses(p):
    s = cuda.shared.array(32, PARTICLE_GIVEN)
    i = cuda.threadIdx.x
    s[i] = p[i]
    cuda.syncthreads()
    p[i] = s[31 - i]


PARTICLE_GIVEN = PARTICLE


def test_a_record_is_copied_whole_and_a_missing_barrier_is_seen():
    p = particles(32)
    reverses[1, 32](p)
    assert p.tobytes() == particles(32)[::-1].tobytes()


@cuda.jit
def races(p, out):
    i = cuda.threadIdx.x
    s = cuda.shared.array(64, PARTICLE_GIVEN)
    s[i].x = p[i].x
    out[i] = s[63 - i].x


def test_a_race_on_a_field_is_seen_and_its_addresses_are_those_of_records():
    seen = trace(races, 1, 64, particles(64), np.zeros(64), schedule="warps")
    assert any("race" in str(p.kind).lower() or "unwritten" in p.message for p in seen.problems)
    (load,) = [s for s in seen.sites if s.space == "global" and s.op == "load"]
    assert load.sectors == 64 * PARTICLE.itemsize // 32 == 48


def test_one_record_is_an_argument():
    @cuda.jit
    def bumps(r, out):
        r.key += 5
        out[0] = r.v[1]

    p, out = particles(3), np.zeros(1)
    bumps[1, 1](p[1], out)
    assert p["key"].tolist() == [3, 7, 1] and out[0] == 3


def test_a_field_that_no_gpu_could_load_is_refused():
    packed = np.zeros(4, [("a", np.int32), ("b", np.float64)])

    @cuda.jit
    def reads(p, out):
        out[0] = p[0].b

    with pytest.raises(KernelError, match=r"byte 4 of 12, .* align=True"):
        reads[1, 1](packed, np.zeros(1))


@cuda.jit
def parts(z, out):
    i = cuda.grid(1)
    z.real[i] += 1
    out[i] = z.imag[i]


def test_the_parts_of_complex_numbers_are_views():
    z, out = np.arange(4) + 2j, np.zeros(4)
    parts[1, 4](z, out)
    assert z.tolist() == [1 + 2j, 2 + 2j, 3 + 2j, 4 + 2j] and out.tolist() == [2] * 4


@cuda.jit
def vectors(out, pair):
    def double(v):
        return 2 * v

    half = lambda v: v / 2  # noqa: E731
    i = cuda.grid(1)
    v = cuda.float4(i, 2, 3, 4)
    if i > 2:
        v = cuda.float32x4(1, cuda.float2(7, 8), 9)
    made = Pair(double(i), right=half(pair.right))
    out[i] = v.x + v.w + pair.left[i] + made.left + made.right


def test_vectors_named_tuples_and_functions_inside_a_kernel():
    out = np.zeros(5)
    vectors[1, 5](out, Pair(np.arange(5.0), 3))
    i = np.arange(5)
    np.testing.assert_array_equal(out, np.where(i > 2, 10, i + 4) + i + 2 * i + 1.5)


def test_a_function_inside_a_kernel_uses_variables_as_they_are_when_it_is_called():
    @cuda.jit
    def kernel(out, n):
        i = cuda.grid(1)
        factor = i + 1

        def adds(v, w=3):
            inner = lambda u: u * factor  # noqa: E731
            return inner(v) + w + n

        if i > 1:
            factor = 10
        out[i] = adds(2) + (lambda v: v - factor)(0)

    out = np.zeros(4)
    kernel[1, 4](out, 100)
    assert out.tolist() == [104, 105, 113, 113]


def test_a_function_inside_a_kernel_that_leaves_it_takes_arguments_only():
    @cuda.jit(device=True)
    def applied(f, v):
        return f(v)

    @cuda.jit
    def kernel(out, n):
        out[0] = applied(lambda v: v + n, 1)

    with pytest.raises(KernelError, match="uses n, a variable of the function around it: pass it"):
        kernel[1, 1](np.zeros(1), 2)

    with pytest.raises(KernelError, match="adds uses n and is never called: leave it out"):

        @cuda.jit
        def idle(out, n):
            def adds(v):
                return v + n

            out[0] = 1


@cuda.guvectorize(["void(float64[:,:], float64[:], float64[:])"], "(m,n),(n)->(m)")
def product(a, x, y):
    for i in range(a.shape[0]):
        y[i] = 0
        for k in range(x.size):
            y[i] += a[i, k] * x[k]


def test_a_function_of_parts_of_arrays_is_applied_to_each():
    a, x = np.random.default_rng(1).random((2, 3, 4, 5)), np.arange(5.0)
    np.testing.assert_allclose(product(a, x), a @ x)
    assert cuda.is_cuda_array(product(cuda.to_device(a), cuda.to_device(x)))
    with pytest.raises(ValueError, match="axis n is 5 and 4"):
        product(a, x[:4])
    with pytest.raises(TypeError, match="takes 2 arrays, or 3 with its outputs"):
        product(a)


PAIR = np.dtype([("key", np.int32), ("value", np.float32)], align=True)


def test_what_is_known_of_a_local_record_survives_its_next_access():
    @cuda.jit
    def kernel(out, counts):
        t = cuda.threadIdx.x
        for k in range(counts[t]):
            mine = cuda.local.array(2, PAIR)
            mine[0].key = k
            mine[1].key = 5
            out[t] = mine[t & 1].key

    seen = trace(kernel, 1, 8, np.zeros(8, np.int64), np.array([1, 2, 1, 3, 0, 0, 2, 1]))
    assert seen.problems == []
    assert seen.outputs["out"].tolist() == [0, 5, 0, 5, 0, 0, 1, 5]


def test_a_local_record_that_nobody_has_written_is_reported():
    @cuda.jit
    def kernel(out):
        mine = cuda.local.array(2, PAIR)
        mine[0].key = 1
        out[0] = mine[1].key

    assert [p.kind for p in trace(kernel, 1, 1, np.zeros(1)).problems] == ["uninitialised read"]


NESTED = np.dtype(
    [("before", np.float64), ("inner", [("x", np.float64), ("row", np.float64, (6,))])], align=True
)


@cuda.jit
def rows_of_inner_records(records, out):
    i = cuda.grid(1)
    records[i].inner.row[3] += i
    out[i] = records[i].inner.row[2]


def test_an_array_in_a_record_of_a_record_lies_where_numpy_puts_it():
    records, out = np.zeros(5, NESTED), np.zeros(5)
    records["inner"]["row"] = np.arange(30).reshape(5, 6)
    rows_of_inner_records[1, 5](records, out)
    np.testing.assert_array_equal(out, np.arange(2, 30, 6))
    np.testing.assert_array_equal(records["inner"]["row"][:, 3], np.arange(3, 33, 7))

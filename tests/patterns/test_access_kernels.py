"""The kernels of the chapter on memory access: right at odd sizes, and counted as predicted."""

import numpy as np
import pytest

from kernels import cupy, lab, on_gpu
from kernels.patterns import banks, copies, transpose
from kernels.patterns.transpose import VERSIONS
from tests.rungs.cases import strided_inputs

SHAPES = ((1, 1), (1, 70), (70, 1), (31, 33), (64, 64), (65, 31), (100, 129))


def matrix(M, N, seed=0):
    return np.random.default_rng(seed).standard_normal((M, N), dtype=np.float32)


def traced(name, grid, block, *arguments):
    """Trace a kernel of `copies`; it must be sound."""
    seen = lab.trace(getattr(copies, name), grid, block, *arguments)
    assert seen.problems == []
    return seen


def sectors(trace, array):
    """Sectors per request of each access to an array, in the order of the source."""
    return [site.sectors_per_request for site in trace.sites if site.array == array]


# ---------------------------------------------------------------------------------- transpose


@pytest.mark.parametrize("version", VERSIONS)
def test_a_transpose_is_right_and_moves_what_its_model_says(version):
    chosen = VERSIONS[version]
    for M, N in SHAPES:
        A, B = matrix(M, N), np.full((N, M), np.nan, np.float32)
        trace = lab.trace(chosen.kernel, *chosen.launch(M, N), A, B)
        assert trace.problems == []
        assert np.array_equal(trace.outputs["B"], A.T), (M, N)
        model = chosen.model(M, N)
        for name in "AB":
            seen = trace.count(array=name)
            assert seen["lanes"] == M * N == {**model.loads, **model.stores}[name]
            assert (seen["requests"], seen["sectors"]) == (
                model.requests[name], model.sectors[name]
            ), (M, N, name)  # fmt: skip


@pytest.mark.parametrize("schedule", ("warps", "warps-reversed"))
@pytest.mark.parametrize("version", VERSIONS)
def test_a_transpose_is_right_in_any_order_of_warps(version, schedule):
    chosen, A = VERSIONS[version], matrix(70, 37)
    B = np.full((37, 70), np.nan, np.float32)
    trace = lab.trace(chosen.kernel, *chosen.launch(70, 37), A, B, schedule=schedule)
    assert trace.problems == [] and np.array_equal(trace.outputs["B"], A.T)


@pytest.mark.parametrize(
    "version, wavefronts",
    [("tiled", 1 + 32), ("padded", 2), ("swizzled", 2), ("four", 2), ("large", 2), ("ordered", 2)],
)
def test_banks_that_a_transpose_meets(version, wavefronts):
    chosen, A = VERSIONS[version], matrix(128, 64)
    trace = lab.trace(chosen.kernel, *chosen.launch(128, 64), A, A.T.copy())
    shared = trace.count(space="shared")
    warps = 128 * 64 // 32
    assert shared["wavefronts"] == wavefronts * warps
    assert shared["conflicts"] == (wavefronts - 2) * warps


@pytest.mark.parametrize("version", VERSIONS)
def test_transpose_takes_any_strides(version):
    for case, A, _, _ in strided_inputs(17, 23, 37):
        out = np.full((2 * A.shape[1], A.shape[0]), np.nan, np.float32)[::2]
        assert transpose.transpose(A, out=out, version=version) is out
        assert np.array_equal(out, A.T), case


def test_a_transpose_stays_where_its_matrix_is():
    A = matrix(5, 7)
    assert type(transpose.transpose(A)) is np.ndarray
    on_device = transpose.transpose(cupy.asarray(A))
    assert isinstance(on_device, cupy.ndarray) and np.array_equal(cupy.asnumpy(on_device), A.T)
    B = cupy.empty((7, 5), cupy.float32)
    VERSIONS["padded"].launcher(cupy.asarray(A), B)()
    assert np.array_equal(cupy.asnumpy(B), A.T)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda A: transpose.transpose(A, version="fast"), ValueError,
         "no transpose 'fast': use one of row_read, row_write, tiled, padded, swizzled, four, "
         "large, ordered"),
        (lambda A: transpose.transpose(A[0]), ValueError, r"A has shape \(7,\); expected 2 dim"),
        (lambda A: transpose.transpose(A.astype(float)), TypeError, "A holds float64; expected"),
        (lambda A: transpose.transpose(A, out=A), ValueError,
         r"out has shape \(5, 7\); the result has \(7, 5\)"),
        (lambda A: VERSIONS["tiled"].launch(0, 7), ValueError, "M must be at least 1, got 0"),
        (lambda A: VERSIONS["tiled"].launch(2**23, 7), ValueError, "262144 blocks along y are too"),
        (lambda A: VERSIONS["tiled"].launcher(*[cupy.asarray(A)] * 2), ValueError,
         r"out has shape \(5, 7\); the result has \(7, 5\)"),
        (lambda A: VERSIONS["tiled"].launcher(cupy.asarray(A), cupy.asarray(A.T)), ValueError,
         r"B \(7×5\) is not contiguous in rows: pass cupy.ascontiguousarray\(B\)"),
    ],
)  # fmt: skip
def test_what_a_transpose_refuses(call, error, message):
    with pytest.raises(error, match=message):
        call(matrix(5, 7))


def test_the_ordered_transpose_takes_a_matrix_that_is_too_tall_for_the_others():
    assert VERSIONS["ordered"].launch(2**23, 7) == ((131072, 1), (64, 8))


@pytest.mark.skipif(on_gpu, reason="the C++ twins run on this machine's GPU")
def test_without_a_gpu_the_twin_says_so():
    with pytest.raises(RuntimeError, match="'cpp' needs an NVIDIA GPU"):
        transpose.transpose(matrix(5, 7), engine="cpp")


# ------------------------------------------------------------------------------------- copies


@pytest.mark.parametrize("n", (1, 31, 32, 100, 257))
@pytest.mark.parametrize("stride", (1, 2, 3, 8, 9, 32))
def test_a_strided_copy(n, stride):
    launched = copies.launch(n, block=64)
    many = np.arange(n * stride, dtype=np.float32)
    few = np.full(n, np.nan, np.float32)
    seen = traced("strided_load", *launched, many, few, np.int32(stride))
    assert np.array_equal(seen.outputs["b"], many[::stride])
    seen = traced(
        "strided_store", *launched, many[:n].copy(), np.zeros_like(many), np.int32(stride)
    )
    assert np.array_equal(seen.outputs["b"][::stride], many[:n])
    assert np.count_nonzero(seen.outputs["b"]) == n - 1


@pytest.mark.parametrize("stride", (1, 2, 3, 8, 9, 32))
def test_what_a_strided_copy_moves(stride):
    few, many = np.zeros(64, np.float32), np.zeros(64 * stride, np.float32)
    launched = copies.launch(64, block=64)
    seen = traced("strided_load", *launched, many, few, np.int32(stride))
    assert (sectors(seen, "a"), sectors(seen, "b")) == ([min(32, 4 * stride)], [4])
    seen = traced("strided_store", *launched, few, many, np.int32(stride))
    assert (sectors(seen, "a"), sectors(seen, "b")) == ([4], [min(32, 4 * stride)])


@pytest.mark.parametrize("offset", (0, 1, 7, 8, 31, 32))
def test_a_shifted_copy_needs_one_sector_more_unless_it_starts_on_one(offset):
    a = np.arange(256 + 32, dtype=np.float32)
    seen = traced(
        "shifted", *copies.launch(256, 64), a, np.zeros(256, np.float32), np.int32(offset)
    )
    assert np.array_equal(seen.outputs["b"], a[offset : offset + 256])
    assert sectors(seen, "a") == [4 if offset % 8 == 0 else 5]


def test_a_plain_copy():
    a, b = np.arange(100, dtype=np.float32), np.full(100, np.nan, np.float32)
    assert np.array_equal(traced("plain_copy", *copies.launch(100, 64), a, b).outputs["b"], a)


@pytest.mark.parametrize("n", (1, 33, 128))
@pytest.mark.parametrize("axes", (1, 3))
def test_particles_as_records_and_as_fields(n, axes):
    records = matrix(n, copies.FIELDS)
    arguments = np.float32(0.5), np.int32(axes)
    expected = records.copy()
    expected[:, :axes] += np.float32(0.5) * records[:, 3 : 3 + axes]
    launched = copies.launch(n, 64)
    seen = traced("push_records", *launched, records, *arguments)
    assert np.array_equal(seen.outputs["particles"], expected)
    seen = traced("push_fields", *launched, records.T.copy(), *arguments)
    assert np.array_equal(seen.outputs["particles"], expected.T)


@pytest.mark.parametrize("kernel, moved", [("push_records", 32), ("push_fields", 4)])
@pytest.mark.parametrize("axes", (1, 3))
def test_what_particles_move(kernel, moved, axes):
    records = matrix(128, copies.FIELDS)
    particles = records if kernel == "push_records" else records.T.copy()
    seen = traced(kernel, *copies.launch(128, 64), particles, np.float32(0.5), np.int32(axes))
    assert sectors(seen, "particles") == [moved] * 3


def test_lines_added_up():
    A = np.random.default_rng(0).integers(-9, 10, (128, 41)).astype(np.float32)
    launched = copies.launch(128, 64)
    sums = np.full(128, np.nan, np.float32)
    rows = traced("sum_rows", *launched, A, sums)
    columns = traced("sum_columns", *launched, A.T.copy(), sums)
    assert np.array_equal(rows.outputs["sums"], A.sum(axis=1))
    assert np.array_equal(columns.outputs["sums"], A.sum(axis=1))
    assert (sectors(rows, "A"), sectors(columns, "A")) == ([32], [4])


# -------------------------------------------------------------------------------------- banks


@pytest.mark.parametrize("stride", (*range(34), banks.MOST))
def test_a_stride_costs_its_common_factor_with_the_banks(stride):
    turns, sums = 2, np.full(64, np.nan, np.float32)
    seen = lab.trace(
        banks.strided_reads, *banks.launch(64, 64), sums, np.int32(stride), np.int32(turns)
    )
    assert seen.problems == []
    read = next(site for site in seen.sites if site.array == "s" and site.op == "load")
    assert read.requests == 2 * turns * banks.READS
    # Stride 0 is a broadcast: one word for all.
    assert read.wavefronts_per_request == (np.gcd(stride, 32) if stride else 1)


def test_a_bank_probe_needs_whole_blocks():
    with pytest.raises(ValueError, match="100 threads are no whole blocks of 64"):
        banks.launch(100, 64)

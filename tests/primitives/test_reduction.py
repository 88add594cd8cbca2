"""Sums: right for any length within the stated bound, counted as predicted, refused in one line."""

import numpy as np
import pytest

from kernels import cupy, lab, on_gpu
from kernels.host import cpp
from kernels.primitives.reduction import BLOCK, MOST_BLOCKS, VERSIONS, total

LENGTHS = (0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 1000, 4099, 70001)
U = 2.0**-24


def vector(n, seed=0):
    return np.random.default_rng(seed + n).standard_normal(n, dtype=np.float32)


def bound(version, a) -> float:
    d = VERSIONS[version].depth(a.size)
    return d * U / (1 - d * U) * abs(a.astype(np.float64)).sum()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_sum_is_within_its_bound_at_every_length(version):
    for n in LENGTHS:
        a = vector(n)
        (got,) = total(a, version=version)
        assert abs(got - a.sum(dtype=np.float64)) <= bound(version, a), n


@pytest.mark.parametrize("version", VERSIONS)
def test_whole_numbers_are_added_without_any_error(version):
    for n in LENGTHS:
        a = np.arange(n, dtype=np.float32) % 7
        assert total(a, version=version) == [a.sum(dtype=np.float64)], n


@pytest.mark.parametrize("version", VERSIONS)
def test_the_bound_tells_a_tree_from_a_loop(version):
    """A number beside which each of the others is rounded away, if they come one by one."""
    a = np.full(5000, U, np.float32)
    a[0] = 1
    one_by_one = np.float32(0)
    for number in a:
        one_by_one += number
    exact = a.sum(dtype=np.float64)
    assert abs(one_by_one - exact) > bound(version, a)
    assert abs(total(a, version=version)[0] - exact) <= bound(version, a)


def test_the_depth_is_that_of_the_longest_way():
    tree, vectorized = VERSIONS["tree"], VERSIONS["vectorized"]
    assert VERSIONS["several"].depth(2048) == 7 + 8 and VERSIONS["several"].depth(2049) == 30
    assert [tree.depth(n) for n in (0, 1, 256, 257, 65536, 65537)] == [8, 8, 8, 16, 16, 24]
    # One launch over 2**28 numbers, then one over the sums of its blocks.
    assert list(vectorized.passes(2**28)) == [(2**28, (MOST_BLOCKS,)), (MOST_BLOCKS, (1,))]
    assert vectorized.depth(2**28) == (2**28 // (MOST_BLOCKS * BLOCK) + 3 + 8) + (4 + 3 + 8)


@pytest.mark.parametrize("n", (1, 100, 256, 257, 1000, 2051, 5000))
@pytest.mark.parametrize("version", VERSIONS)
def test_a_sum_moves_what_its_model_says(version, n):
    chosen, a = VERSIONS[version], vector(n)
    sums = np.full(chosen.launch(n)[0], np.nan, np.float32)
    trace = lab.trace(chosen.kernel, *chosen.launch(n), *chosen.views(a), sums)
    assert trace.problems == []
    assert abs(trace.outputs["sums"].sum(dtype=np.float64) - a.sum(dtype=np.float64)) <= bound(
        version, a
    )
    model = chosen.model(n)
    assert sum(model.loads.values()) == n
    for name in ("a", "fours", "sums"):
        seen = trace.count(array=name)
        predicted = (model.loads | model.stores, model.requests, model.sectors)
        seen["lanes"] *= 4 if name == "fours" else 1
        assert [seen[key] for key in ("lanes", "requests", "sectors")] == [
            counts.get(name, 0) for counts in predicted
        ], name


def test_shuffles_need_a_fraction_of_the_shared_memory():
    seen = {}
    for version, chosen in VERSIONS.items():
        sums = np.full(chosen.launch(4096)[0], np.nan, np.float32)
        trace = lab.trace(chosen.kernel, *chosen.launch(4096), *chosen.views(vector(4096)), sums)
        seen[version] = trace.count(space="shared")["requests"], trace.barriers
    blocks = 4096 // 256
    # 8 stores; two loads and a store by each warp at work of 8 levels; one load in the end.
    assert seen["tree"][0] == blocks * (8 + 3 * (4 + 2 + 1 + 1 + 1 + 1 + 1 + 1) + 1)
    assert seen["shuffled"][0] == blocks * (8 + 1)
    assert seen["vectorized"][0] == blocks // 4 * (8 + 1)
    assert seen["several"][0] == blocks // 8 * (8 + 1)
    # Neighbours first: all eight warps are at work for five levels, then 4, 2 and 1.
    assert seen["interleaved"][0] == blocks * (8 + 3 * (5 * 8 + 4 + 2 + 1) + 1)


@pytest.mark.parametrize("schedule", ("warps", "warps-reversed"))
@pytest.mark.parametrize("version", VERSIONS)
def test_a_sum_is_right_in_any_order_of_warps(version, schedule):
    chosen, a = VERSIONS[version], np.arange(700, dtype=np.float32) % 5
    sums = np.full(chosen.launch(700)[0], np.nan, np.float32)
    trace = lab.trace(chosen.kernel, *chosen.launch(700), *chosen.views(a), sums, schedule=schedule)
    assert trace.problems == [] and trace.outputs["sums"].sum() == a.sum()


@pytest.mark.parametrize("version", VERSIONS)
def test_a_sum_of_any_stride_and_address(version):
    a = np.arange(3001, dtype=np.float32) % 9
    for case in (a[::2], a[::-1], a[1:], np.broadcast_to(a[5], 900)):
        assert total(case, version=version) == [case.sum()]


def test_a_sum_stays_where_its_vector_is():
    a = np.arange(7, dtype=np.float32)
    assert type(total(a)) is np.ndarray
    on_device = total(cupy.asarray(a))
    assert isinstance(on_device, cupy.ndarray) and cupy.asnumpy(on_device) == [21]
    out = cupy.full(1, np.nan, np.float32)
    assert total(cupy.asarray(a), out=out) is out and cupy.asnumpy(out) == [21]
    launch = VERSIONS["tree"].launcher(cupy.asarray(a), out)
    out.fill(np.nan)
    launch()
    assert cupy.asnumpy(out) == [21]


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda a: total(a, version="fast"), ValueError,
         "^no sum 'fast': use one of interleaved, tree, shuffled, several, vectorized$"),
        (lambda a: total([1.0]), TypeError, r"^a must be an array, got list: use np.asarray"),
        (lambda a: total(a.astype(np.float64)), TypeError,
         r"^a holds float64; expected float32: use a.astype\(np.float32\)$"),
        (lambda a: total(a.reshape(1, 7)), ValueError, r"^a has shape \(1, 7\); expected 1 dim"),
        (lambda a: total(a, out=a), ValueError, r"^out has shape \(7,\); the result has \(1,\)$"),
        (lambda a: total(a, out=cupy.empty(1, np.float32)), TypeError, "^a on the host, out on"),
        (lambda a: total(a, engine="opencl"), ValueError, "^unknown engine 'opencl': use 'numba'"),
        (lambda a: VERSIONS["tree"].launcher(a, a), TypeError, "^a is a ndarray; expected a CuPy"),
        (lambda a: VERSIONS["tree"].launcher(cupy.asarray(a)[::2], cupy.asarray(a)), ValueError,
         r"^a \(4\) is not contiguous in rows: pass cupy.ascontiguousarray\(a\)$"),
    ],
)  # fmt: skip
def test_what_a_sum_refuses(call, error, message):
    with pytest.raises(error, match=message):
        call(np.arange(7, dtype=np.float32))


@pytest.mark.skipif(on_gpu, reason="the C++ twins run on this machine's GPU")
def test_without_a_gpu_the_twin_says_so():
    with pytest.raises(RuntimeError, match=r"^engine 'cpp' needs an NVIDIA GPU \(.*use engine"):
        total(vector(7), engine="cpp")
    with pytest.raises(RuntimeError, match=r"reduction.cu needs an NVIDIA GPU"):
        cpp.load("reduction", "sum_tree")

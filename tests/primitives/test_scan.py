"""Prefix sums: right for any length within the stated bound, counted as predicted."""

import re
from pathlib import Path

import numpy as np
import pytest

from kernels import cupy, lab, on_gpu
from kernels.primitives import scan as module
from kernels.primitives.scan import LOOK_BACK, VERSIONS, scan, scan_lookback
from tests.microscope.cases import from_source
from tests.primitives.test_reduction import U, vector

LENGTHS = (0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 1000, 1023, 1024, 1028, 70001)


def off(got, version, a) -> float:
    """The largest error of a prefix sum, as a share of its bound."""
    d = VERSIONS[version].depth(a.size)
    exact = a.astype(np.float64)
    bound = d * U / (1 - d * U) * abs(exact).cumsum()
    return float((abs(got - exact.cumsum()) / bound).max()) if a.size else 0.0


@pytest.mark.parametrize("version", VERSIONS)
def test_a_scan_is_within_its_bound_at_every_length(version):
    for n in LENGTHS:
        got = scan(vector(n), version=version)
        assert got.shape == (n,) and off(got, version, vector(n)) <= 1, n


@pytest.mark.parametrize("version", VERSIONS)
def test_whole_numbers_are_added_without_any_error(version):
    for n in (*LENGTHS, 263000):
        a = np.arange(n, dtype=np.float32) % 5
        assert np.array_equal(scan(a, version=version), a.cumsum(dtype=np.float64)), n


@pytest.mark.parametrize("version", VERSIONS)
def test_the_bound_tells_a_tree_from_a_loop(version):
    a = np.full(5000, U, np.float32)
    a[0] = 1
    assert off(a.cumsum(), version, a) > 1  # NumPy adds one by one
    assert off(scan(a, version=version), version, a) <= 1


def test_the_depth_grows_with_the_levels():
    assert [VERSIONS["shared"].depth(n) for n in (1, 256, 257, 65536, 65537)] == [8, 8, 17, 17, 26]
    assert [VERSIONS["vectorized"].depth(n) for n in (1024, 1025, 2**20)] == [13, 27, 27]


@pytest.mark.parametrize("n", (1, 100, 256, 257, 1000, 1024, 2049, 5000))
@pytest.mark.parametrize("version", VERSIONS)
def test_a_scan_moves_what_its_model_says(version, n):
    chosen, a = VERSIONS[version], vector(n)
    grid, block = chosen.launch(n)
    sums = np.full(grid, np.nan, np.float32)
    trace = lab.trace(chosen.sums, grid, block, chosen.view(a), sums)
    assert trace.problems == []
    before = trace.outputs["sums"].cumsum()
    out = chosen.view(np.full(n, np.nan, np.float32))
    trace = lab.trace(chosen.kernel, grid, block, chosen.view(a), before, out)
    assert trace.problems == []
    assert np.allclose(trace.outputs["out"].reshape(-1), a.cumsum(dtype=np.float64), atol=1e-3)
    model = chosen.model(n)
    for name in ("a", "before", "out"):
        seen = trace.count(array=name)
        if model.requests.get(name, 0) is None:
            continue
        access = (model.reads | model.writes).get(name)
        wide = 4 if chosen.vector == 4 and name != "before" else 1
        assert seen["lanes"] * wide == (access.elements if access else 0), name
        assert seen["requests"] == (access.requests if access else 0), name
        assert seen["sectors"] == (access.sectors if access else 0), name


@pytest.mark.parametrize("schedule", ("warps", "warps-reversed"))
@pytest.mark.parametrize("version", VERSIONS)
def test_a_scan_is_right_in_any_order_of_warps(version, schedule):
    chosen, a = VERSIONS[version], np.arange(700, dtype=np.float32) % 5
    grid, block = chosen.launch(700)
    before = np.array([a[: chosen.tile].sum(), a[: 2 * chosen.tile].sum(), a.sum()], np.float32)
    out = chosen.view(np.full(700, np.nan, np.float32))
    trace = lab.trace(chosen.kernel, grid, block, chosen.view(a), before, out, schedule=schedule)
    assert trace.problems == []
    assert np.array_equal(trace.outputs["out"].reshape(-1), a.cumsum())


@pytest.mark.parametrize("version", VERSIONS)
def test_a_scan_of_any_stride_and_address(version):
    a = np.arange(3001, dtype=np.float32) % 9
    for case in (a[::2], a[::-1], a[1:], np.broadcast_to(a[5], 900)):
        assert np.array_equal(scan(case, version=version), case.cumsum())
        out = np.full(2 * case.size, np.nan, np.float32)[::2]
        assert scan(case, out=out, version=version) is out
        assert np.array_equal(out, case.cumsum())


def test_a_scan_stays_where_its_vector_is():
    a = np.arange(7, dtype=np.float32)
    assert type(scan(a)) is np.ndarray
    on_device = scan(cupy.asarray(a))
    assert isinstance(on_device, cupy.ndarray)
    out = cupy.full(7, np.nan, np.float32)
    VERSIONS["shuffled"].launcher(cupy.asarray(a), out)()
    assert np.array_equal(cupy.asnumpy(out), a.cumsum())


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda a: scan(a, version="fast"), ValueError,
         "^no scan 'fast': use one of shared, shuffled, vectorized$"),
        (lambda a: scan((1.0,)), TypeError, "^a must be an array, got tuple: use np.asarray"),
        (lambda a: scan(a.astype(np.int32)), TypeError,
         r"^a holds int32; expected float32: use a.astype\(np.float32\)$"),
        (lambda a: scan(a.reshape(1, 7)), ValueError, r"^a has shape \(1, 7\); expected 1 dim"),
        (lambda a: scan(a, out=a[:6]), ValueError,
         r"^out has shape \(6,\); the result has \(7,\)$"),
        (lambda a: VERSIONS["shared"].launcher(a, a), TypeError, "^a is a ndarray; expected a C"),
    ],
)  # fmt: skip
def test_what_a_scan_refuses(call, error, message):
    with pytest.raises(error, match=message):
        call(np.arange(7, dtype=np.float32))


# ------------------------------------------------------------------------ one launch, look-back


def looked_back(kernel, a, **options):
    states = [cupy.asnumpy(array) for array in LOOK_BACK.workspace(a.size)]
    out = np.full((1, a.size), np.nan, np.float32)
    arrays = a.reshape(1, -1), *states, out
    return lab.trace(kernel, *LOOK_BACK.launch(a.size), *arrays, **options)


def test_one_launch_scans_any_length():
    for n in (*LENGTHS, 40000):
        a = np.arange(n, dtype=np.float32) % 5
        assert np.array_equal(scan(a, version="lookback"), a.cumsum(dtype=np.float64)), n
        got, d = scan(vector(n), version="lookback"), LOOK_BACK.depth(n)
        exact = vector(n).astype(np.float64)
        bound = d * U / (1 - d * U) * abs(exact).cumsum()
        assert np.all(abs(got - exact.cumsum()) <= bound), n


def test_a_prepared_scan_can_be_launched_again():
    a, out = cupy.asarray(vector(5000)), cupy.full(5000, np.nan, np.float32)
    launch = LOOK_BACK.launcher(a, out)
    launch()
    out.fill(np.nan)
    launch()
    assert np.allclose(cupy.asnumpy(out), cupy.asnumpy(a).cumsum(), atol=1e-3)


@pytest.mark.parametrize("schedule", ("lockstep", "warps", "warps-reversed"))
def test_each_number_is_loaded_and_stored_once(schedule):
    a = np.arange(70000, dtype=np.float32) % 3
    seen = looked_back(scan_lookback, a, schedule=schedule)
    assert seen.problems == []
    assert np.array_equal(seen.outputs["out"][0], a.cumsum())
    assert [seen.count(array=name)["lanes"] for name in ("a", "out")] == [a.size // 4] * 2


def test_a_missing_fence_is_a_race():
    text, place = Path(module.__file__).read_text(encoding="utf-8"), "prefixes[tile] = before +"
    fenced = re.search(re.escape(place) + r".*\n( +cuda.threadfence\(\)\n)", text)
    other = from_source(text[: fenced.start(1)] + text[fenced.end(1) :], "scan_without_fence")
    kinds = {problem.kind for problem in looked_back(other.scan_lookback, vector(40000)).problems}
    assert kinds == {"race: read after write"}


@pytest.mark.skipif(on_gpu, reason="the C++ twins run on this machine's GPU")
def test_without_a_gpu_the_twin_says_so():
    with pytest.raises(RuntimeError, match=r"^engine 'cpp' needs an NVIDIA GPU \(.*use engine"):
        scan(vector(7), engine="cpp")

"""The rungs on tensor cores: 200 random shapes each, both formats, any array, bit for bit again."""

import numpy as np
import pytest

from kernels import LADDER, cuda, cupy
from kernels.host import tensor_cores
from kernels.measure import oracle

pytestmark = pytest.mark.gpu

#: Rung, options, formats, and the GPUs that run it.
VERSIONS = [
    ("mma_sm75", {}, ("float16",)),
    ("mma", {}, ("float16", "bfloat16")),
    ("mma", {"BN": 128, "BK": 64, "WN": 32, "stages": 3}, ("float16",)),
    ("wgmma", {}, ("float16", "bfloat16")),
    ("specialized", {"BN": 128}, ("float16",)),
    ("specialized", {"BN": 256}, ("bfloat16",)),
    ("persistent", {"cluster": 1}, ("float16",)),
    ("persistent", {"cluster": 2}, ("float16", "bfloat16")),
    ("persistent", {"cluster": 2, "group": 3}, ("bfloat16",)),
    ("stream_k", {"cluster": 1}, ("float16",)),
    ("stream_k", {"BN": 128}, ("bfloat16",)),
    ("stream_k", {"BN": 256}, ("float16",)),
    ("stream_k", {"BN": 256, "cluster": 1}, ("bfloat16",)),
    ("stream_k", {}, ("float16", "bfloat16")),
]
NAMES = tuple(dict.fromkeys(name for name, *_ in VERSIONS))
CASES = [
    (name, options, dtype, out_dtype)
    for name, options, dtypes in VERSIONS
    for dtype in dtypes
    for out_dtype in ("float32", dtype)
]
#: Around the edges of tiles and of 16-byte chunks, and nothing that divides.
EDGES = [(1, 1, 1), (1, 300, 1), (300, 1, 65), (128, 256, 64), (129, 257, 65), (127, 255, 63),
         (264, 8, 7), (256, 520, 4096), (1000, 1000, 1)]  # fmt: skip
#: K so long that tiles are divided along it: one tile among many blocks, and shares on two tiles.
LONG = [(1, 1, 20000), (129, 264, 20000), (1161, 2056, 9000)]


def matmul(name: str, *arrays, **options):
    return LADDER[name].matmul(*arrays, engine="cpp", **options)


def skip_unless_it_runs(name: str, dtype: str):
    missing = LADDER[name].missing(dtype)
    if missing:
        pytest.skip(missing)


def label(case) -> str:
    name, options, dtype, out_dtype = case
    return "-".join([name, *(f"{k}{v}" for k, v in options.items()), dtype, out_dtype])


def shapes(name: str, seed: int):
    rng, given = np.random.default_rng(seed), EDGES + LONG * (name == "stream_k")
    return given + [tuple(map(int, rng.integers(1, 700, 3))) for _ in range(200 - len(given))]


@pytest.mark.parametrize("case", CASES, ids=label)
def test_200_shapes(case):
    name, options, dtype, out_dtype = case
    skip_unless_it_runs(name, dtype)
    for seed, (M, N, K) in enumerate(shapes(name, CASES.index(case))):
        A, B = (cupy.asarray(x) for x in oracle.inputs(M, N, K, seed, dtype))
        C, again = (cupy.asarray(oracle.poisoned(M, N, out_dtype)) for _ in range(2))
        assert matmul(name, A, B, C, **options) is C
        try:
            oracle.check(C, A, B)
        except oracle.WrongResult as wrong:
            raise AssertionError(f"{label(case)} {M, N, K}: {wrong}") from None
        matmul(name, A, B, again, **options)
        assert bool((C.view(cupy.uint8) == again.view(cupy.uint8)).all()), (M, N, K)


@pytest.mark.parametrize("case", CASES, ids=label)
def test_a_large_product_is_the_same_every_time(case):
    name, options, dtype, out_dtype = case
    skip_unless_it_runs(name, dtype)
    A, B = (cupy.asarray(x) for x in oracle.inputs(4097, 2056, 3000, dtype=dtype))
    C = cupy.asarray(oracle.poisoned(4097, 2056, out_dtype))
    launch = LADDER[name].prepare(A, B, C, "cpp", **options)
    results = []
    for _ in range(10):
        C.view(cupy.uint8).fill(0xFF)
        launch()
        results.append(C.view(cupy.uint8).copy())
    oracle.check(C, A, B)
    assert all(bool((result == results[0]).all()) for result in results)


@pytest.mark.parametrize("name", NAMES)
def test_a_launch_reads_what_the_one_before_has_just_written(name):
    skip_unless_it_runs(name, "float16")
    A, B = (cupy.asarray(x) for x in oracle.inputs(1024, 1024, 1024, dtype="float16"))
    A, B = (A / 32).astype(cupy.float16), (B / 32).astype(cupy.float16)
    C, D = (cupy.empty((1024, 1024), cupy.float16) for _ in range(2))
    launches = [LADDER[name].prepare(*each, "cpp") for each in ((A, B, C), (C, B, D))]
    results = []
    for _ in range(100):
        for out in (C, D):
            out.fill(cupy.nan)
        for launch in launches:
            launch()
        results.append(D.copy())
    oracle.check(D, C, B)
    assert all(bool((result == D).all()) for result in results)


@pytest.mark.parametrize("name", NAMES)
def test_arrays_of_every_kind_and_stride(name):
    skip_unless_it_runs(name, "float16")
    A, B = oracle.inputs(70, 90, 50, dtype="float16")
    C = matmul(name, A, B)
    assert isinstance(C, np.ndarray) and C.dtype == np.float32
    oracle.check(C, A, B)
    C = matmul(name, cuda.to_device(A), cuda.to_device(B))
    assert cuda.is_cuda_array(C) and not isinstance(C, cupy.ndarray)
    oracle.check(C, A, B)
    columns = np.full((90, 70), np.nan, np.float16).T
    assert matmul(name, A, B, columns) is columns
    oracle.check(columns, A, B)
    backwards, every_second = A[::-1, ::-1], B[::-1, ::2]
    oracle.check(matmul(name, backwards, every_second), backwards, every_second)
    row, square = cupy.asarray(A)[:1, :16], cupy.asarray(B)[:16, :16].copy()
    assert row.flags.c_contiguous and row.strides[0] % 16  # how far a second row would be
    oracle.check(matmul(name, row, square), row, square)
    wide = cupy.asarray(np.full((71, 97), np.nan, np.float32))
    inside = wide[1:, 3:93]  # starts on no 16-byte boundary
    assert matmul(name, cupy.asarray(A), cupy.asarray(B), inside) is inside
    oracle.check(inside, A, B)
    assert bool(cupy.isnan(wide[0]).all() and cupy.isnan(wide[:, :3]).all())
    assert bool(cupy.isnan(wide[:, 93:]).all()), "something was written beside C"


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_written_beyond_the_edges(name):
    skip_unless_it_runs(name, "float16")
    A, B = (cupy.asarray(x) for x in oracle.inputs(200, 264, 72, dtype="float16"))
    around = cupy.full((200 + 256, 264), cupy.nan, cupy.float32)
    C = around[128 : 128 + 200]
    matmul(name, A, B, C)
    oracle.check(C, A, B)
    assert bool(cupy.isnan(around[:128]).all() and cupy.isnan(around[328:]).all())


@pytest.mark.parametrize("name", ("mma", "persistent"))
def test_out_may_not_overlap_an_input(name):
    skip_unless_it_runs(name, "float16")
    A = cupy.ones((64, 64), cupy.float16)
    with pytest.raises(ValueError, match="out shares memory with A"):
        matmul(name, A, A.copy(), A)


def test_bfloat16_is_refused_where_turing_has_none():
    A = cupy.ones((8, 8), cupy.uint16)
    with pytest.raises(TypeError, match="mma_sm75 takes only float16"):
        matmul("mma_sm75", A, A.copy())


def test_a_launch_prepared_for_later_copies_nothing():
    A, narrow = cupy.ones((16, 16), cupy.float16), cupy.ones((16, 12), cupy.float16)
    C, gaps = cupy.ones((16, 12), cupy.float32), cupy.ones((16, 24), cupy.float32)[:, :16]
    for name in NAMES:
        with pytest.raises(ValueError, match=r"B \(16×12\) has rows .*: use matmul"):
            LADDER[name].prepare(A, narrow, C, "cpp")
        with pytest.raises(ValueError, match=r"C \(16×16\) has rows .*: use matmul"):
            LADDER[name].prepare(A, A.copy(), gaps, "cpp")


@pytest.mark.parametrize("engine", LADDER["stream_k"].engines)
def test_blocks_that_wait_for_each_other_are_not_launched_without_room(engine, monkeypatch):
    skip_unless_it_runs("stream_k", "float16")
    sms = tensor_cores.sms()
    monkeypatch.setattr(tensor_cores, "sms", lambda: 4 * sms)
    A, B = oracle.operands(1161, 2056, 9000, dtype="float16")
    with pytest.raises(RuntimeError, match=r"stream_k wants \d+ clusters .* has room for \d+: use"):
        LADDER["stream_k"].matmul(A, B, engine=engine)

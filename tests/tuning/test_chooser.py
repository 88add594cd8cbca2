"""Choosing a rung by shape: what was tuned, recorded or predicted, and the product."""

import numpy as np
import pytest

import kernels
from kernels import lab, records
from kernels.backend import on_gpu
from kernels.basics import data_sheets
from kernels.host import tuned
from kernels.measure import oracle
from kernels.measure.bench.ladder import SHAPES
from kernels.records import Record, Row
from kernels.rungs.order import LADDER
from kernels.tuning import chooser
from kernels.tuning.chooser import choose
from kernels.tuning.predict import predict
from tests.records import synthetic

THIN = ((128, 8192, 8192), (8192, 128, 8192))
without_gpu = pytest.mark.skipif(on_gpu, reason="there is a GPU: its own record is used")


@pytest.fixture(autouse=True)
def nothing_recorded(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNELS_RECORDS", str(tmp_path / "records"))
    monkeypatch.setenv("KERNELS_TUNED", str(tmp_path / "tuned"))
    chooser._choose.cache_clear()
    yield tmp_path
    chooser._choose.cache_clear()


def measured(rung, engine, shape, gflops, options=None, dtype="float32"):
    M, N, K = shape
    return Row(
        rung=rung, engine=engine, options=options or LADDER[rung].default(engine), dtype=dtype,
        M=M, N=N, K=K, gflops=gflops, seconds=synthetic.spread(2 * M * N * K / gflops / 1e9),
        cublas_gflops=1e4, correct=True, date=synthetic.DATE,
    )  # fmt: skip


def record(*rows):
    provenance = {"gpu": "NVIDIA H200", "date": synthetic.DATE}
    records.write(Record("h200", provenance, {}, {"timings": list(rows)}))


@without_gpu
def test_the_fastest_recorded_version_of_the_very_shape_is_taken():
    thin = THIN[0]
    other = LADDER["split_k"].chosen("numba")[1]
    record(
        measured("thread_tiled", "numba", thin, 900.0),
        measured("split_k", "numba", thin, 2000.0),
        measured("split_k", "numba", thin, 3000.0, other),
        measured("split_k", "cpp", thin, 9000.0),
        measured("warp_tiled", "numba", (4096,) * 3, 5000.0),
        measured("vectorized", "numba", (4097,) * 3, 6000.0),
    )
    found = choose(*thin)
    assert (found.rung, found.engine, found.options, found.why) == (
        "split_k", "numba", other, "recorded",
    )  # fmt: skip
    assert found.seconds == pytest.approx(2 * 128 * 8192 * 8192 / 3e12)
    assert choose(4096, 4096, 4096).rung == "warp_tiled"
    assert choose(4097, 4097, 4097).rung == "vectorized"
    assert choose(4098, 4097, 4097).why == "predicted", "no profile to reckon with"
    assert str(found).startswith("split_k (Numba) BM=128 ") and str(found).endswith(": recorded")


@without_gpu
def test_a_wrong_product_is_never_chosen():
    wrong = measured("split_k", "numba", THIN[0], 9000.0) | {"correct": False}
    record(Row(wrong), measured("warp_tiled", "numba", THIN[0], 1000.0))
    assert choose(*THIN[0]).rung == "warp_tiled"


@without_gpu
def test_options_that_are_no_longer_measured_are_passed_over():
    record(measured("split_k", "numba", THIN[0], 9000.0, {"BM": 999}))
    assert choose(*THIN[0]).why == "predicted"


@without_gpu
@pytest.mark.parametrize("shape", THIN)
def test_where_nothing_is_recorded_thin_shapes_get_more_blocks(shape):
    found = choose(*shape)
    assert found.why == "predicted"
    gpu = data_sheets.gpu("h200")
    whole = predict(LADDER["warp_tiled"], {}, *shape, gpu)
    chosen = predict(LADDER[found.rung], found.options, *shape, gpu)
    assert whole.blocks < gpu.sms <= chosen.blocks
    assert chosen.seconds < 0.7 * whole.seconds


@without_gpu
def test_a_large_square_needs_no_shares_of_k():
    found = choose(4096, 4096, 4096)
    assert found.options.get("split", 1) == 1 and found.options["BM"] >= 128


@without_gpu
def test_small_products_get_small_tiles():
    assert choose(64, 64, 64).options["BM"] == 64


@pytest.fixture
def on_a_gpu(monkeypatch):
    """A GPU without a record, as the chooser sees it."""

    class Here:
        name = "NVIDIA Test 1"
        compute_capability = (9, 0)
        sms = 132

    for module in (chooser, tuned):
        monkeypatch.setattr(module, "on_gpu", True)
        monkeypatch.setattr(module, "device", lambda: Here)
    tuned._read_once.cache_clear()
    tuned._file.cache_clear()
    yield Here
    tuned._file.cache_clear()


def tune(rung, size, seconds, engine="numba", options=None):
    tuned.write(
        tuned.Tuned(
            rung, engine, "float32", tuned.shape_class(*size), options or {}, list(size), seconds,
            9.0, 9, {"gpu": "NVIDIA Test 1"},
        ),
        "NVIDIA Test 1",
    )  # fmt: skip


def test_what_was_tuned_here_comes_before_predictions(on_a_gpu):
    for engine, seconds in (("numba", 2e-3), ("cpp", 1e-3)):
        tune("warp_tiled", (128, 8192, 8192), seconds, engine, {"BM": 64})
    found = choose(130, 8000, 8000)
    assert (found.rung, found.engine, found.why) == ("warp_tiled", "cpp", "tuned")
    assert choose(130, 8000, 8000, engine="numba").engine == "numba"


def test_of_sizes_of_one_class_the_faster_rate_wins_not_the_smaller_product(on_a_gpu):
    tune("thread_tiled", (3000,) * 3, 5.4e-3)  # 10 TFLOP/s
    tune("warp_tiled", (4096,) * 3, 6.9e-3)  # 20 TFLOP/s
    assert choose(4096, 4096, 4096).rung == choose(3000, 3000, 3000).rung == "warp_tiled"


def test_a_slow_rung_that_was_tuned_does_not_outrank_the_record(on_a_gpu, monkeypatch):
    about = {"gpu": on_a_gpu.name, "date": synthetic.DATE}
    rows = [measured("warp_tiled", "numba", (4096,) * 3, 20_000.0)]
    records.write(Record("test-1", about, {}, {"timings": rows}))
    tune("thread_tiled", (3000,) * 3, 5.4e-3)  # 10 TFLOP/s
    assert str(choose(4096, 4096, 4096)).startswith("warp_tiled") and (
        choose(4096, 4096, 4096).why == "recorded"
    )
    tune("thread_tiled", (3000,) * 3, 1.8e-3)  # 30 TFLOP/s: the file has changed, and so the choice
    assert choose(4096, 4096, 4096).rung == "thread_tiled"


def test_what_cannot_be_launched_is_passed_over(monkeypatch):
    entries = [
        tuned.Tuned(rung, "numba", "float32", "16384x64x64", options, [16384, 64, 64],
                    seconds, 1.0, 1, {"gpu": "a GPU"})
        for rung, options, seconds in (
            ("split_k", {"BM": 64, "BN": 64, "WM": 32, "WN": 32, "TM": 4}, 1e-3),
            ("warp_tiled", {"of another time": 1}, 2e-3),
            ("vectorized", {"BK": 16}, 3e-3),
        )
    ]  # fmt: skip
    monkeypatch.setattr(chooser, "on_gpu", True)
    monkeypatch.setattr(tuned, "known", lambda: entries)
    every = [(rung, "numba") for rung in LADDER.values()]
    assert chooser._tuned(every, 16384, 64, 64, "float32")[1].rung == "split_k"
    # More rows than 65535 blocks of 64 rows have.
    assert chooser._tuned(every, 5_000_000, 64, 64, "float32")[1].rung == "vectorized"
    entries.pop()
    assert chooser._tuned(every, 5_000_000, 64, 64, "float32") is None


@without_gpu
def test_a_recorded_version_that_cannot_be_launched_is_passed_over():
    small = LADDER["split_k"].chosen("numba")[3]
    shapes = (16384, 64, 64), (5_000_000, 64, 64)
    record(
        *(measured("split_k", "numba", shape, 9000.0, small) for shape in shapes),
        *(measured("warp_tiled", "numba", shape, 900.0) for shape in shapes),
    )
    assert [choose(*shape).rung for shape in shapes] == ["split_k", "warp_tiled"]


@without_gpu
def test_sizes_and_languages_that_nothing_can_launch_are_one_line():
    for sizes, engine, error, told in (
        ((10_000_000, 1, 1), "", LookupError, "no version of any rung can be launched for "
         "10000000×1×1: .* blocks along y are too many; this GPU allows 65535: use larger blocks"),
        ((8, 8, 8), "cpp", RuntimeError, "engine 'cpp' needs an NVIDIA GPU .*: use engine='numba'"),
        ((8, 8, 8), "cuda", ValueError, "unknown engine 'cuda': use 'numba' or 'cpp'"),
    ):  # fmt: skip
        with pytest.raises(error, match=told) as caught:
            choose(*sizes, engine=engine)
        assert "\n" not in str(caught.value)


@without_gpu
def test_the_entry_multiplies_and_says_what_is_wrong():
    A, B = oracle.inputs(70, 33, 129)
    lab.check(kernels.matmul(A, B), A, B)
    out = oracle.poisoned(70, 33)
    assert kernels.matmul(A, B, out) is out
    lab.check(out, A, B)
    for left, right, error, told in (
        (A, A, ValueError, "B must have as many rows as A has columns"),
        (A[:0], B, ValueError, "every size must be at least 1"),
        (A[0], B, ValueError, "expected 2 dimensions"),
        (A.astype(float), B, TypeError, "A holds float64; expected float32"),
        ([[1.0]], B, TypeError, "A must be an array"),
        (A.astype(np.float16), B.astype(np.float16), LookupError, "no rung takes float16 here"),
    ):
        with pytest.raises(error, match=told):
            kernels.matmul(left, right)
    with pytest.raises(RuntimeError, match="engine 'cpp' needs an NVIDIA GPU"):
        kernels.matmul(A, B, engine="cpp")


@pytest.mark.parametrize("size", [0, -1, 2.5, "8"])
def test_bad_sizes(size):
    with pytest.raises((TypeError, ValueError), match="^K must be"):
        choose(8, 8, size)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_choice_reaches_80_percent_of_cublas_at_every_thin_or_odd_shape(shape, monkeypatch):
    monkeypatch.delenv("KERNELS_RECORDS")
    M, N, K = shape
    known = records.load(records.DEFAULT_GPU)
    if not known.rows("timings", M=M, N=N, K=K):
        pytest.skip("no record of this shape yet: run `make bench` on that GPU")
    both = [(rung, engine) for rung in LADDER.values() for engine in rung.engines]
    _, found = chooser._recorded(both, M, N, K, "float32")
    rows = known.rows("timings", M=M, N=N, K=K, engine=found.engine)
    (row,) = (r for r in rows if (r.rung, r.options) == (found.rung, found.options))
    assert row.correct and row.share >= 0.8


@pytest.mark.parametrize("name", ["h200", "h100-80gb-hbm3"])
@pytest.mark.parametrize("dtype, engine, share", [
    ("float32", "numba", 0.9), ("float32", "cpp", 0.9), ("float16", "cpp", 0.8),
])  # fmt: skip
def test_the_choice_by_counts_is_nearly_the_best_that_was_measured(
    name, dtype, engine, share, monkeypatch
):
    """With no timing at hand: each recorded shape is chosen for from counts alone."""
    monkeypatch.delenv("KERNELS_RECORDS")
    record = records.load(name)
    now = chooser.here.Setting(record, chooser.versions.machine(record))
    monkeypatch.setattr(chooser.here, "setting", lambda: now)
    from_here = list(LADDER)[list(LADDER).index(chooser.FROM) :]
    seconds = {}
    for row in record.rows("timings", dtype=dtype, engine=engine):
        if row.rung in from_here:
            measured = seconds.setdefault((row.M, row.N, row.K), {})
            measured[row.rung, str(sorted(row.options.items()))] = row.median
    assert len(seconds) >= 7
    for shape, measured in seconds.items():
        there = {rung for rung, _ in measured}
        rungs = [(LADDER[rung], engine) for rung in from_here if rung in there]
        found = chooser._reckoned(rungs, *shape, dtype)
        taken = measured.get((found.rung, str(sorted(found.options.items()))))
        assert found.why == "reckoned" and taken, (shape, found)
        assert min(measured.values()) >= share * taken, (shape, found)


@without_gpu
def test_shapes_that_nobody_measured_are_reckoned(monkeypatch):
    monkeypatch.delenv("KERNELS_RECORDS")
    chooser._choose.cache_clear()
    found = choose(100, 100, 100000)
    assert found.why == "reckoned"
    # One block per tile of C would leave nearly all SMs idle: K is split as far as it goes.
    assert found.options["split"] == 8 and found.options["BM"] == 64

"""The budget against what was measured: every profile and every timing row of both records."""

import doctest
from statistics import median

import pytest

from kernels import records
from kernels.basics import data_sheets
from kernels.budget import ceilings, comparison, counts, limits, product, verdict, versions
from kernels.budget.ceilings import Budget, Counts, SmRates
from kernels.host.half import E4M3
from kernels.rungs.order import LADDER

GPUS = ("h200", "h100-80gb-hbm3")
#: Without the latency term, these fall below 60 % of the measurement: nothing in them overlaps
#: (`wgmma`, `mma_sm75`), or a product of 2048³ is over before it is filled (`fp8`).
NOT_FILLED = {"mma_sm75", "wgmma", "fp8"}


def profiles(tables=("profiles", "beyond_l2", "counted")):
    for name in GPUS:
        record = records.load(name)
        for table in tables:
            for row in record.tables.get(table, ()):
                warps, bounds = versions.bounds(record, row.get("dtype", "float32"))
                yield row, Budget(counts.of_profile(row, warps), bounds)


def large():
    return list(profiles(("profiles", "beyond_l2")))


def test_the_example():
    assert doctest.testmod(ceilings).failed == 0


def test_no_ceiling_lies_above_the_measurement():
    rows = list(profiles())
    assert len(rows) >= 155
    for row, budget in rows:
        for name, cycles in budget.ceilings.items():
            assert cycles <= 1.02 * counts.measured(row), (row["rung"], row["engine"], name)


def test_the_highest_ceiling_explains_most_of_the_time():
    rows = [(row, budget.reached(counts.measured(row))) for row, budget in large()]
    shares = [share for row, share in rows if (row["rung"], row["M"]) != ("fp8", 2048)]
    assert min(shares) >= 0.6
    # 16 steps along K: most of the rest is the first tiles' way to the SM, and C's way back.
    assert all(share >= 0.5 for _, share in rows)
    assert sum(share >= 0.75 for share in shares) >= 2 / 3 * len(shares)


def test_two_counts_alone_do_so_but_for_three_rungs():
    for row, budget in large():
        alone = {name: c for name, c in budget.ceilings.items() if name != "latency"}
        share = max(alone.values()) / counts.measured(row)
        assert share >= 0.6 or row["rung"] in NOT_FILLED, (row["rung"], row["engine"], share)


def test_the_tensor_cores_were_busy_as_long_as_their_rate_says():
    for row, budget in large():
        if row["rung"] in ("wgmma", "specialized", "persistent", "stream_k", "fp8"):
            expected = 32 / budget.limits.tensor
            assert budget.counts.tensor == pytest.approx(expected, rel=0.02), row["rung"]


def test_wavefronts_hold_what_wgmma_reads_of_shared_memory():
    """64 rows of A and all columns of B, in every step, at 128 bytes per wavefront."""
    for row, budget in large():
        if row["rung"] in ("wgmma", "specialized", "persistent", "fp8") and row["M"] == 8192:
            BN, word = 128 if row["rung"] == "wgmma" else 256, 1 if row["dtype"] == E4M3 else 2
            read = 32 * word * (64 + BN) / (64 * BN) / 128
            assert budget.counts.wavefronts == pytest.approx(read, rel=0.1), row["rung"]


def test_two_languages_wait_for_different_things():
    told = {}
    for row, budget in profiles(("profiles",)):
        if (row["rung"], row["options"]) == ("naive", {"block": 32}):
            told[row["engine"]] = budget.verdict
    assert told == {"numba": "issue", "cpp": "wavefronts"}


def predictions(name, counted=None):
    return comparison.predictions(records.load(name), counted and records.load(counted))


@pytest.mark.parametrize("name", GPUS)
def test_predicted_times(name):
    """±20 % for nine rows in ten, every rung, language, option and number format."""
    right, sizes = [], {}
    for row, told in predictions(name):
        right.append(0.8 <= told.seconds / row.median <= 1.2)
        sizes.setdefault((row.M, row.N, row.K), []).append(right[-1])
        assert told.low < told.seconds < told.high
    assert len(right) >= 370
    assert sum(right) / len(right) >= 0.9
    for shape, found in sizes.items():
        assert sum(found) / len(found) >= 0.9, shape


def test_predicted_times_of_unaligned_rows():
    """4097³ in float32 by profiles of 2047³: narrow loads cost instructions, and time to arrive."""
    record = records.load("h100-80gb-hbm3")
    found = [
        told.seconds / row.median
        for row, told in comparison.predictions(record)
        if (row.M, row.N, row.K) == (4097, 4097, 4097) and row.dtype == "float32"
    ]
    assert len(found) >= 38 and all(0.83 <= ratio <= 1.15 for ratio in found)
    narrow = record.row("unaligned", rung="vectorized", engine="numba")
    wide, _ = versions.profile_of(record, "vectorized", "numba", narrow["options"], 2048**3)
    of = [counts.of_profile(row) for row in (wide, narrow)]
    assert wide["M"] == 2048 and of[1].instructions > 1.05 * of[0].instructions
    assert of[1].wavefronts > 1.1 * of[0].wavefronts


def test_predicted_times_of_a_gpu_that_no_count_comes_from():
    """The H100's times, by the H200's profiles: no row of the H100 had a part in anything."""
    right, sizes = [], {}
    for row, told in predictions("h100-80gb-hbm3", counted="h200"):
        right.append(0.8 <= told.seconds / row.median <= 1.2)
        sizes.setdefault((row.M, row.N, row.K), []).append(right[-1])
    assert len(right) >= 370 and sum(right) / len(right) >= 0.9
    for shape, found in sizes.items():
        assert sum(found) / len(found) >= 0.9, shape


def test_the_middle_share_is_that_of_the_profiles():
    record = records.load("h200")
    shares = []
    for row in (*record.tables["profiles"], *record.tables["beyond_l2"]):
        if row["rung"] in LADDER:
            warps, bounds = versions.bounds(record, row["dtype"])
            budget = Budget(counts.of_profile(row, warps), bounds)
            shares.append(product._shared(budget) / counts.measured(row))
    assert median(shares) == pytest.approx(product.MIDDLE, abs=0.03)


@pytest.mark.parametrize("name, value", [("MIDDLE", 0.87), ("STORED", 16), ("STORED", 64)])
def test_predictions_hardly_depend_on_the_chosen_constants(name, value, monkeypatch):
    monkeypatch.setattr(product, name, value)
    right = [0.8 <= told.seconds / row.median <= 1.2 for row, told in predictions("h200")]
    assert sum(right) / len(right) >= 0.9


@pytest.mark.parametrize("name", GPUS)
def test_predictions_of_shapes_without_a_profile(name):
    record = records.load(name)
    profiled = {(row["M"], row["N"], row["K"]) for row, _ in large()}
    others = [
        0.8 <= told.seconds / row.median <= 1.2
        for row, told in predictions(name)
        if (row.M, row.N, row.K) not in profiled
    ]
    assert record and len(others) >= 240
    assert sum(others) / len(others) >= 0.88


def test_a_queue_of_warps():
    """One warp waits by itself; so many warps keep the unit busy."""
    assert product.queue_rate(1, 4, 12) == pytest.approx(1 / 16)
    assert product.queue_rate(1000, 4, 12) == pytest.approx(1 / 4, rel=0.01)
    for warps in (1, 2, 3.5, 8):
        wait = product._wait(warps, 4, product.queue_rate(warps, 4, 12))
        assert wait == pytest.approx(12, rel=1e-6)


def test_counts_of_a_trace_and_of_a_loop():
    traced = versions._traced(LADDER["naive"], (("block", 32),))
    assert traced.wavefronts == pytest.approx(2, abs=0.02)  # one line of B, one element of A
    loop = counts.of_loop({"instructions": 100, "multiply_adds": 4}, "SASS")
    both = counts.joined(traced, loop)
    assert (both.instructions, both.wavefronts) == (25, traced.wavefronts)
    assert both.sources["instructions"] == "SASS" and both.sources["wavefronts"] == "trace"
    assert Budget(both, limits.of_gpu(data_sheets.gpu("h200"))).verdict == "issue"


def test_a_kernel_without_a_multiply_add_has_no_budget():
    import microscope
    from kernels import cuda

    @cuda.jit
    def copy(A, B, C):
        C[cuda.threadIdx.x, 0] = A[cuda.threadIdx.x, 0]

    A, B, C = versions.oracle.inputs(32, 8, 8) + (versions.oracle.poisoned(32, 8),)
    with pytest.raises(ValueError, match="no float32 multiply-add"):
        counts.of_trace(microscope.trace(copy, 1, 32, A, B, C))


def test_latency_by_littles_law():
    budget = Budget(Counts(instructions=1, wait=100, warps=8), SmRates(fp32=4, dram=10))
    assert budget.ceilings == {"issue": 0.25, "latency": 12.5}
    assert budget.verdict == "latency"


def test_the_verdict_differs_by_language():
    told = verdict.waiting("naive", records.load("h200"))
    assert "Numba has its highest ceiling in issue slots: 25 instructions per FMA" in told
    assert "CUDA C++ has its highest ceiling in L1 and shared memory: 2 wavefronts" in told
    assert max(map(len, told.splitlines())) <= 78
    wide = verdict.waiting("tiled", records.load("h200"), tile=32)
    assert (
        "Numba waits for L1 and shared memory: 1.64 wavefronts" in wide
        and wide != verdict.waiting("tiled", records.load("h200"))
    )


def test_a_page_where_nothing_is_profiled():
    assert "No profile of naive at 512³" in verdict.waiting("naive", records.load("h200"), 512)
    assert "No profile of naive at 2048³" in verdict.waiting("naive", records.Record(""))


def test_a_rung_that_was_never_profiled():
    record = records.load("h200")
    bare = records.Record(record.name, record.provenance, record.device, {"profiles": []}, [])
    with pytest.raises(LookupError, match="no profile of tiled in cpp"):
        versions.version(LADDER["tiled"], "cpp", {"tile": 16}, bare, others=())

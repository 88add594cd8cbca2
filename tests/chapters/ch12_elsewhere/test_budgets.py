"""The budgets of chapter 12: ceilings by hand, verdicts step by step, and what was measured."""

import numpy as np
import pytest

from chapters.ch12_elsewhere import budgets
from kernels import lab, records
from kernels.primitives import reduction

RECORD = records.load("h200")
N = 16384


def traced(name):
    version = reduction.VERSIONS[name]
    grid, block = version.launch(N)
    a, sums = np.ones(N, np.float32), np.full(grid, np.nan, np.float32)
    return version, lab.trace(version.kernel, grid, block, *version.views(a), sums)


def test_the_ceilings_of_a_tree_are_those_counted_by_hand():
    _, seen = traced("tree")
    found = budgets.budget(seen, N, RECORD)
    blocks = N // 256
    # A warp's load of 128 bytes, 45 shared requests of the block's 8 warps, one store per block.
    assert found.counts.wavefronts == 1 + 45 / 8 + 1 / 8
    assert found.counts.dram_bytes == (4 * N + 4 * blocks) / (N / 32)
    waits = budgets.latency(RECORD, "global") + 9 * budgets.latency(RECORD, "shared")
    assert found.counts.wait == pytest.approx(waits)
    assert found.ceilings["latency"] == pytest.approx(waits / 64)


def test_each_step_removes_the_highest_ceiling():
    verdicts = {}
    for name in reduction.VERSIONS:
        version, seen = traced(name)
        loads = version.each if version.vector == 1 else N // 4 // (seen.grid[0] * 256)
        verdicts[name] = budgets.budget(seen, N, RECORD, loads, version.each).verdict
    assert verdicts == {
        "interleaved": "wavefronts", "tree": "latency", "shuffled": "latency", "several": "dram",
        "vectorized": "dram",
    }  # fmt: skip


def test_loads_issued_together_are_waited_for_once():
    _, seen = traced("several")
    apart, together = (budgets.budget(seen, N, RECORD, 8, ahead) for ahead in (1, 8))
    shared = budgets.latency(RECORD, "shared") / 8
    assert apart.counts.wait - shared == pytest.approx(8 * (together.counts.wait - shared))


def test_measured_cycles_are_of_the_longest_vector():
    row = max(
        (r for r in RECORD.tables["sums"] if (r.what, r.engine) == ("tree", "numba")),
        key=lambda r: r.n,
    )
    cycles = row.median * RECORD.device["clock"] * RECORD.device["sms"]
    took, issued = budgets.measured(RECORD, "sums", "tree")
    assert took == pytest.approx(cycles / (row.n / 32))
    assert issued == (row.instructions / (row.n / 32) if "instructions" in row else None)
    assert budgets.measured(RECORD, "sums", "no such kernel") == (None, None)


def test_counted_instructions_are_a_ceiling():
    _, seen = traced("tree")
    found = budgets.budget(seen, N, RECORD, instructions=100)
    assert found.ceilings["issue"] == 25 and found.verdict == "issue"


def test_no_ceiling_is_above_what_was_measured():
    for name in reduction.VERSIONS:
        took, issued = budgets.measured(RECORD, "sums", name)
        version, seen = traced(name)
        found = budgets.budget(seen, N, RECORD, version.each, version.each, issued).ceilings
        assert took is None or max(found["dram"], found.get("issue", 0)) <= took


def test_a_table_says_the_verdict_and_leaves_out_what_nobody_measured():
    _, seen = traced("tree")
    one = budgets.budget(seen, N, RECORD)
    text = repr(budgets.table([("a", one, None), ("b", one, 2 * one.cycles)], "caption"))
    assert text.count("latency") == 3 and "50 %" in text.replace("\N{NO-BREAK SPACE}", " ")


def test_a_record_without_latencies_is_refused_in_one_line():
    with pytest.raises(
        LookupError, match="^record 'empty' holds no latency of global memory: meas"
    ):
        budgets.latency(records.Record("empty"), "global")

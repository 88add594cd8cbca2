"""The profiler's own report: read as it was printed, and equal to the counters of the record."""

import pytest

from kernels.lab import records
from kernels.records import ncu_report

TEXT = """tiled (cpp, tile=16) at 8×8×8, NVIDIA Test 1, driver 1.0, 2001-01-01 00:00 UTC

==PROF== Profiling "tiled": 0%....100% - 38 passes
  tiled (1, 1, 1)x(8, 8, 1), Context 1
    Section: GPU Speed Of Light Throughput
    --------------- ----------- ------------
    Metric Name     Metric Unit Metric Value
    --------------- ----------- ------------
    Elapsed Cycles        cycle    4,137,162
    # Pass Groups                          1
    Duration                 ms         2.09
    --------------- ----------- ------------

    OPT   Est. Speedup: 5.5%
          Look at the queue
          of this unit.
    ----- ---------------------------------
    INF   Something else.

    Section: Occupancy
    ------------------- ----------- ------------
    Metric Name         Metric Unit Metric Value
    ------------------- ----------- ------------
    Achieved Occupancy            %        97.64
    Duration                     us         7.00
    ------------------- ----------- ------------
"""


def test_sections_tables_and_advice_are_told_apart():
    report = ncu_report.parse(TEXT)
    assert report.about.startswith("tiled (cpp, tile=16) at 8×8×8, NVIDIA Test 1")
    assert list(report.sections) == ["GPU Speed Of Light Throughput", "Occupancy"]
    first = report.sections["GPU Speed Of Light Throughput"]
    assert first.metrics == {
        "Elapsed Cycles": ("4,137,162", "cycle"),
        "# Pass Groups": ("1", ""),
        "Duration": ("2.09", "ms"),
    }
    assert first.advice == (
        "OPT Est. Speedup: 5.5% Look at the queue of this unit.",
        "INF Something else.",
    )
    assert report.sections["Occupancy"].advice == ()


def test_a_value_comes_from_the_first_section_or_the_one_that_is_named():
    report = ncu_report.parse(TEXT)
    assert report.value("Duration") == "2.09 ms"
    assert report.value("Duration", "Occupancy") == "7.00 us"
    with pytest.raises(LookupError, match="the report has no metric 'Speed'"):
        report.value("Speed")


def test_text_without_sections_is_refused():
    with pytest.raises(ValueError, match="no section in this report"):
        ncu_report.parse("==ERROR== The user does not have permission\n")


def test_a_report_that_is_not_stored_is_none(tmp_path):
    assert ncu_report.read("tiled", tmp_path) is None


@pytest.mark.parametrize("rung", ("naive", "tiled", "warp_tiled"))
def test_what_is_stored_agrees_with_the_recorded_counters(rung):
    """Two runs of one kernel: instructions are equal, and the time within a twentieth."""
    report = ncu_report.read(rung)
    rows = [
        row
        for row in records.load().tables["profiles"]
        if (row.rung, row.engine, row.M) == (rung, "cpp", 2048)
        and f"{row.instructions:,} inst" == report.value("Executed Instructions")
        and f"{row.registers} " in report.value("Registers Per Thread")
    ]
    value, unit = report.value("Duration").split()
    seconds = float(value) * {"ms": 1e-3, "us": 1e-6}[unit]
    assert any(abs(row.duration / seconds - 1) < 0.05 for row in rows)

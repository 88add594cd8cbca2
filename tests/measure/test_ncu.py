"""Reading Nsight Compute: its table, what it does not know, and what it refuses."""

from types import SimpleNamespace

import pytest

from kernels.measure import ncu

REPORT = """==PROF== Connected to process 4711 (/usr/bin/python3.12)
==PROF== Profiling "vec_add" - 0: 0%....50%....100% - 2 passes
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size",\
"Grid Size","Device","CC","l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",\
"smsp__inst_executed_op_shared_ld.sum","smsp__sass_inst_executed_op_shared_ld.sum",\
"l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"
"","","","","","","","","","","","","inst","inst","sector"
"0","4711","python3.12","127.0.0.1","cudapy::truth_kernels::vec_add[abi:v1](Array<float, 1>)",\
"1","7","(256, 1, 1)","(4, 1, 1)","0","9.0","1,024","0","0","n/a"
"1","4711","python3.12","127.0.0.1","cudapy::truth_kernels::naive[abi:v2](Array<float, 2>)",\
"1","7","(16, 16, 1)","(4, 4, 1)","0","9.0","64","12","12","250.000000"
==PROF== Disconnected from process 4711
"""


def test_the_table_is_read():
    first, second = ncu.parse(REPORT)
    assert first.kernel.startswith("cudapy::truth_kernels::vec_add[")
    assert first.metrics == {
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 1024,
        "smsp__inst_executed_op_shared_ld.sum": 0,
        "smsp__sass_inst_executed_op_shared_ld.sum": 0,
    }
    assert second.metrics["l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"] == 250


def test_no_table_is_one_line():
    with pytest.raises(ncu.ProfilerError, match="counted nothing"):
        ncu.parse("==ERROR== No kernels were profiled")


@pytest.fixture
def tool(monkeypatch):
    """A stand-in for the program: `answer(metrics)` gives its log and its exit code."""
    asked = []

    def install(answer):
        def run(command, **_):
            wanted = command[command.index("--metrics") + 1].split(",")
            asked.append(wanted)
            text, code = answer(wanted)
            with open(command[command.index("--log-file") + 1], "w") as log:
                log.write(text)
            return SimpleNamespace(returncode=code, stdout="", stderr="")

        monkeypatch.setattr(ncu.subprocess, "run", run)
        monkeypatch.setattr(ncu.shutil, "which", lambda name: name)
        return asked

    return install


def test_unknown_metrics_are_left_out(tool):
    asked = tool(
        lambda wanted: (
            ("==ERROR== Failed to find metric old__metric.sum\n", 1)
            if "old__metric.sum" in wanted
            else (REPORT, 0)
        )
    )
    assert len(ncu.profile(["program"], ["new__metric.sum", "old__metric.sum"])) == 2
    assert asked == [["new__metric.sum", "old__metric.sum"], ["new__metric.sum"]]


@pytest.mark.parametrize(
    ("log", "code", "words"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM: no permission\n", 1, "does not let users read GPU counters"),
        ("==ERROR== The application returned an error\n", 9, "ncu ended with 9: ==ERROR== The app"),
    ],
)
def test_refusals_are_one_line(tool, log, code, words):
    tool(lambda _: (log, code))
    with pytest.raises(ncu.ProfilerError, match=words) as caught:
        ncu.profile(["program"], ["a__b.sum"])
    assert "\n" not in str(caught.value)


def test_without_the_tool(monkeypatch):
    monkeypatch.setattr(ncu.shutil, "which", lambda name: None)
    with pytest.raises(ncu.ProfilerError, match="not on PATH: it comes with the CUDA toolkit"):
        ncu.profile(["program"], ["a__b.sum"])


def test_a_program_that_hangs_is_given_up(monkeypatch):
    def run(command, timeout, **_):
        raise ncu.subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(ncu.shutil, "which", lambda name: name)
    monkeypatch.setattr(ncu.subprocess, "run", run)
    with pytest.raises(ncu.ProfilerError, match="ncu was not done after 5 s"):
        ncu.profile(["program"], ["a__b.sum"], timeout=5)


def test_a_profiler_that_knows_no_metric_ends(tool):
    tool(lambda wanted: ("".join(f"==ERROR== Failed to find metric {m}\n" for m in wanted), 1))
    with pytest.raises(ncu.ProfilerError, match="ncu ended with 1"):
        ncu.profile(["program"], ["a__b.sum", "c__d.sum"])


def test_counts_are_summed_and_shares_are_of_one(monkeypatch):
    counted, share = ncu.COUNTS["instructions"], ncu.SHARES["tensor_unit"]
    most = ncu.LARGEST["registers"]
    launches = [ncu.ProfiledLaunch("k", {counted: 10 * i, share: 25.0, most: i}) for i in (2, 1, 3)]
    monkeypatch.setattr(ncu, "profile", lambda *_, **__: launches)
    rows = [{"engine": "numba", "launches": 2}, {"engine": "library"}, {"engine": "numba"}]
    ncu.add_counts(rows, "module", "table", ("instructions", "tensor_unit", "registers"))
    assert [row.get("instructions") for row in rows] == [30, None, 30]
    assert [row.get("tensor_unit") for row in rows] == [0.25, None, 0.25]
    assert [row.get("registers") for row in rows] == [2, None, 3]

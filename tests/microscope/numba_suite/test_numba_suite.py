"""A sample of numba-cuda's own tests passes; the whole is ``python -m`` of this package."""

import json
import subprocess
import sys

import pytest

from tests.microscope.numba_suite import run, selection

SAMPLE = (
    "doc_examples|UFuncs[.]|TestCudaSync|TestArrayAttr|CudaArraySetting|TestFlowControl"
    "|TestDeviceArrayCapture|Bfloat16Test.test_(a|c)|TestMakeFunctionToJIT.*(single|twice|var)|test_warp_ops.*(shfl|match|lane)|TestCudaWarp.*(ballot|active)"
)


def test_a_sample_of_numba_cudas_tests_passes(tmp_path):
    pytest.importorskip("numba_cuda")
    out = tmp_path / "verdicts.json"
    command = [sys.executable, "-m", "tests.microscope.numba_suite", "--only", SAMPLE]
    subprocess.run([*command, "--out", str(out)], check=True, capture_output=True)
    found = json.loads(out.read_text())
    assert found["counts"]["pass"] > 80
    assert found["unexplained"] == []
    assert [row for row in found["rows"] if row["verdict"] in ("differs", "misses")] == []


def test_whole_files_are_chosen_once():
    names = selection.modules()
    assert len(names) == len(set(names)) > 90


def test_a_verdict_says_what_a_test_has_met():
    def of(error):
        try:
            raise error
        except type(error):
            return run.judged(sys.exc_info())[0]

    from microscope import KernelError

    assert of(KernelError("no such thing")) == "refused"
    assert of(AttributeError("cuda.x is not known to the interpreter")) == "misses"
    assert of(AssertionError("1 != 2")) == "differs"
    assert of(run.BothRefuse()) == "pass"

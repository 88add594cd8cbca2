"""What is measured is checked too."""

import numpy as np
import pytest

from kernels.host import half
from kernels.measure import oracle
from kernels.measure.bench.case import Case
from kernels.measure.bench.case_of_bytes import CaseOfBytes
from kernels.rungs.order import LADDER


def test_what_is_measured_is_checked_against_float64_and_its_error_kept():
    case = Case(33, 17, 129)
    C = oracle.inputs(33, 17, 129)
    right = case.measure(lambda: np.matmul(*C, out=case.C), limit=0.01)
    assert right["correct"] and 0 < right["max_error"] < 1e-4
    assert 0 < right["max_relative_error"] < 129 * 2**-24
    assert (right["M"], right["N"], right["K"], right["dtype"]) == (33, 17, 129, "float32")
    assert right["seconds"]["n"] >= 3 and right["gflops"] > 0
    for wrong in (lambda: None, lambda: case.C.fill(0)):
        row = case.measure(wrong, limit=0.01)
        assert not row["correct"] and "max_error" not in row


def test_float32_taken_apart_is_judged_as_float32():
    case = Case(33, 17, 129, half.PARTS)
    assert case.A.dtype == np.float32
    row = case.measure(lambda: np.matmul(case.A, case.B, out=case.C), limit=0.01)
    assert row["correct"] and row["dtype"] == half.PARTS
    rounded = [half.floats(half.bfloat16(matrix)) for matrix in (case.A, case.B)]
    assert not case.measure(lambda: np.matmul(*rounded, out=case.C), limit=0.01)["correct"]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_16_bit_products_are_checked_against_what_the_inputs_were_rounded_to(dtype):
    case = Case(33, 17, 65, dtype)
    A, B = (half.floats(matrix) for matrix in (case.A, case.B))
    row = case.measure(lambda: np.matmul(A, B, out=case.C), limit=0.01)
    assert row["correct"] and row["dtype"] == dtype
    exact = oracle.inputs(33, 17, 65)
    assert not case.measure(lambda: np.matmul(*exact, out=case.C), limit=0.01)["correct"]


def test_whole_numbers_of_8_bits_are_checked_and_others_are_timed():
    case, seen = CaseOfBytes(33, 17, 64), []

    def launch(scale=1.0, step=0.0):
        A, B = (half.floats(matrix) for matrix in (case.A, case.B))
        seen.append(float(A.max()))
        # As tensor cores would: whole numbers stay, all others lose what is below 1/8.
        case.C[...] = np.trunc(8 * (scale * (A @ B) + step)) / 8

    row = case.measure(launch, limit=0.01)
    assert row["correct"] and row["dtype"] == "e4m3"
    assert 0.01 < row["max_error"] <= 0.125
    assert seen[0] == 4, "whole numbers come first"
    assert all(largest != 4 for largest in seen[1:]), "and none of them is timed"
    assert half.floats(case.A).max() == 4, "and they are back for the next launch"
    for wrong in (lambda: None, lambda: launch(scale=1.01), lambda: launch(step=1)):
        row = case.measure(wrong, limit=0.01)
        assert not row["correct"] and "max_error" not in row


def test_a_numba_version_is_measured_as_it_is_launched():
    case = Case(20, 36, 24)
    for name in ("tiled", "swizzled"):
        for options in LADDER[name].chosen("numba"):
            launch = case.launch(LADDER[name], "numba", options)
            assert case.measure(launch, limit=0.01)["correct"]


def test_a_launch_whose_rows_are_copied_computes_the_product():
    case = Case(33, 47, 61, "float16")
    rung = LADDER["mma_sm75"]
    assert case.copies(rung)
    found = case.check(case.launch(rung, "numba", rung.default("numba")))
    assert found["correct"]

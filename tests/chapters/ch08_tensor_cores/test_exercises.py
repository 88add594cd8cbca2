"""The exercise of chapter 8 whose answer is a function, and the numbers behind the others."""

import numpy as np
import pytest

from kernels.basics import data_sheets
from kernels.host import half
from kernels.lab.exercises import EXERCISES, judge
from kernels.lab.exercises.flaws import Flaw
from kernels.rungs import mma, specialized


def one_by_one(A):
    """The table of the PTX manual, element by element."""
    shares = np.zeros((32, 8), A.dtype)
    for lane in range(32):
        group, thread = divmod(lane, 4)
        for i in range(8):
            row = group if i in (0, 1, 4, 5) else group + 8
            col = 2 * thread + i % 2 + (0 if i < 4 else 8)
            shares[lane, i] = A[row, col]
    return shares


def at_once(A):
    """The same with two arrays of indices."""
    lane, element = np.arange(32)[:, None], np.arange(8)
    row = lane // 4 + element // 2 % 2 * 8
    return A[row, lane % 4 * 2 + element % 2 + element // 4 * 8]


def test_right_shares_pass():
    assert judge("shares", one_by_one).right
    assert judge("shares", at_once).right


@pytest.mark.parametrize(
    "wrong, told",
    [
        (lambda A: one_by_one(A.T), "row and col are swapped"),
        (
            lambda A: one_by_one(A)[:, [0, 1, 4, 5, 2, 3, 6, 7]],
            "the upper right and the lower left",
        ),
        (lambda A: A.reshape(32, 8), "whole pieces of a row"),
        (lambda A: A, "returns shape (16, 16)"),
        (lambda A: one_by_one(A)[:, ::-1], "element 0 of lane 0 should be A[0, 0]"),
        (lambda A: A[40], "raises IndexError"),
        (lambda A: np.full((32, 8), np.nan), "element 0 of lane 0"),
    ],
)
def test_wrong_shares_are_told_why(wrong, told):
    result = judge("shares", wrong)
    assert not result.right and result.kind is Flaw.WRONG
    assert told in " ".join(str(result).split())


def test_the_stages_are_those_of_the_kernels():
    answers = EXERCISES["stage-bytes"].answers
    options = mma.Options()
    assert options.shared_bytes == options.depth * answers["bytes_256"]
    assert specialized.Options.stages[256] == answers["stages_256"]
    assert specialized.Options.stages[128] <= answers["stages_128"]
    sheet = data_sheets.gpu("h200")
    assert sheet.shared_per_block_optin // answers["bytes_256"] == answers["stages_256"]
    ridge = sheet.fp16_tensor_tflops * 1e12 / sheet.bandwidth
    side = EXERCISES["tile-intensity"].answers["side"]
    assert side / 4 < ridge <= side / 2


def test_the_first_numbers_that_do_not_fit():
    answers = EXERCISES["first-lost"].answers
    whole = np.arange(1, 4096, dtype=np.float32)
    lost = {
        "fp16": whole.astype(np.float16).astype(np.float32) != whole,
        "bf16": half.floats(half.bfloat16(whole)) != whole,
    }
    for name, differs in lost.items():
        assert whole[differs][0] == answers[name]
    with np.errstate(over="ignore"):
        squares = (whole * whole).astype(np.float16)
    assert whole[~np.isfinite(squares)][0] == answers["square"]

"""Answers that are no answers: each gets one clear result, and nothing raises."""

import numpy as np
import pytest

from kernels import cuda
from kernels.lab.exercises import EXERCISES, UnknownExercise, check, checking, judge, limits, speed
from kernels.lab.exercises.flaws import Flaw

HEAD = "@cuda.jit\ndef axpy(alpha, x, y):\n    i = cuda.grid(1)\n"
GUARDED = HEAD + "    if i < y.size:\n        "
KERNELS = {
    "a syntax error": (HEAD + "    if i < y.size\n        y[i] = 0\n", Flaw.SYNTAX),
    "no function": ("x = 1", Flaw.NO_KERNEL),
    "a name that there is not": ("@cuda.jot\ndef axpy(alpha, x, y):\n    pass", Flaw.NO_KERNEL),
    "no decorator": ("def axpy(alpha, x, y):\n    i = cuda.grid(1)\n    if i < y.size:\n"
                     "        y[i] = alpha * x[i] + y[i]\n", Flaw.NO_KERNEL),
    "too few parameters": ("@cuda.jit\ndef axpy(x, y):\n    return\n", Flaw.SIGNATURE),
    "another order": ("@cuda.jit\ndef axpy(x, y, alpha):\n    return\n", Flaw.SIGNATURE),
    "an import": (HEAD + "    import os\n", Flaw.NOT_COMPILED),
    "a dict": (GUARDED + "y[i] = {0: alpha}[0] * x[i]\n", Flaw.NOT_COMPILED),
    "an unknown name": (GUARDED + "y[i] = beta * x[i]\n", Flaw.NOT_COMPILED),
    "an unknown function": (GUARDED + "y[i] = cuda.nonsense(x[i])\n", Flaw.NOT_COMPILED),
    "an endless loop": (GUARDED.replace("if", "while") + "y[i] += 0\n", Flaw.ENDLESS),
    "an endless loop of all": (HEAD + "    while True:\n        i += 1\n", Flaw.ENDLESS),
    "a gigabyte of shared memory": (
        HEAD + "    s = cuda.shared.array(2**28, float32)\n    s[0] = alpha\n", Flaw.SHARED_LIMIT),
    "a write to an input": (GUARDED + "x[i] = alpha * x[i] + y[i]\n", Flaw.INPUT_CHANGED),
    "NaN for every sum": (GUARDED + "y[i] = x[i] * math.nan\n", Flaw.NOT_A_NUMBER),
    "a division by zero": (GUARDED + "y[i] = x[i] / 0\n", (Flaw.NOT_A_NUMBER, Flaw.WRONG)),
    "recursion": (HEAD + "    axpy(alpha, x, y)\n", Flaw.NOT_COMPILED),
}  # fmt: skip


@pytest.mark.parametrize("what", KERNELS)
def test_a_bad_kernel_is_named(what):
    text, kinds = KERNELS[what]
    result = judge("axpy", text)
    assert not result.right
    assert result.kind in (kinds if isinstance(kinds, tuple) else (kinds,)), str(result)
    assert str(result).startswith(f"axpy: not yet ({result.kind})")


@pytest.mark.parametrize(
    "side, kind, told",
    [
        (64, Flaw.BLOCK_LIMIT, "a block of 64 × 64 is 4096 threads; the limit is 1024"),
        (32, Flaw.CONSTANT, "T is 32, but the check launches blocks of 16 × 16 threads"),
        (8, Flaw.CONSTANT, "so set T = 16 again"),
    ],
)
def test_a_tile_of_another_side_than_the_blocks_is_named(side, kind, told):
    text = EXERCISES["first-tiled"].solution_text
    assert judge("first-tiled", text).right
    result = judge("first-tiled", f"T = {side}\n{text}")
    assert result.kind is kind and told in str(result).replace("\n    ", " "), str(result)


@pytest.mark.parametrize("answer", [None, ..., "", "  \n", "\n\n"])
def test_nothing_is_handed_in(answer):
    result = check("axpy", answer)
    assert result.kind is Flaw.EMPTY and not result.hint


@pytest.mark.parametrize("answer", [3, [1], np.zeros(3), object(), int])
def test_what_is_no_kernel_is_named(answer):
    result = judge("axpy", answer)
    assert result.kind is Flaw.NO_KERNEL and type(answer).__name__ in str(result)


def test_a_kernel_that_was_called_is_no_kernel():
    @cuda.jit
    def axpy(alpha, x, y):
        i = cuda.grid(1)
        if i < y.size:
            y[i] = alpha * x[i] + y[i]

    assert judge("axpy", axpy).right
    assert judge("axpy", axpy.py_func).right
    assert judge("axpy", axpy[1, 32]).kind is Flaw.NO_KERNEL


def test_the_line_is_the_one_of_the_cell():
    result = judge("axpy", GUARDED.replace("if i < y.size", "if i <= y.size") + "y[i] = x[i]\n")
    assert result.line == 5 and result.findings[0].source == "y[i] = x[i]"
    assert "thread (107, 0, 0) of block (7, 0, 0)" in " ".join(str(result).split())


def test_of_two_races_the_one_across_warps_is_told():
    text = checking.named("repair-hasty").start_text
    message = " ".join(str(judge("repair-hasty", text)).split())
    assert "of the same block writes it at line 13, in the next iteration of the loop" in message
    assert "put cuda.syncthreads() at the end of that loop's body" in message


@pytest.mark.parametrize(
    "answer, kind",
    [
        (None, Flaw.EMPTY),
        (dict(blocks=..., without_element=..., idle_warps=...), Flaw.EMPTY),
        ({}, Flaw.EMPTY),
        (5209, Flaw.SIGNATURE),
        (dict(blocks=5209, without_element=128, idle_warps=4, more=1), Flaw.SIGNATURE),
        (dict(blocks="5209", without_element=128, idle_warps=4), Flaw.NOT_A_NUMBER),
        (dict(blocks=float("nan"), without_element=128, idle_warps=4), Flaw.NOT_A_NUMBER),
        (dict(blocks=float("inf"), without_element=128, idle_warps=4), Flaw.NOT_A_NUMBER),
        (dict(blocks=np.full(3, np.nan), without_element=128, idle_warps=4), Flaw.NOT_A_NUMBER),
        (dict(blocks=5209, without_element=128), Flaw.WRONG),
        (dict(blocks=5208, without_element=128, idle_warps=4), Flaw.WRONG),
    ],
)
def test_bad_numbers_are_named(answer, kind):
    result = judge("how-many-blocks", answer)
    assert not result.right and result.kind is kind, str(result)


def test_numbers_of_any_kind_are_taken():
    answer = dict(blocks=np.int64(5209), without_element=np.float32(128), idle_warps=4.0)
    assert judge("how-many-blocks", answer).right


@pytest.mark.parametrize("answer", [lambda: True, lambda a, b, c: True])
def test_a_test_with_another_signature_is_named(answer):
    assert judge("better-test", answer).kind is Flaw.SIGNATURE


def test_an_unknown_exercise_lists_near_ones():
    with pytest.raises(UnknownExercise, match="no exercise 'tield': use one of tiled"):
        check("tield")


def test_an_unknown_option_is_named():
    with pytest.raises(TypeError, match="axpy has no option 'grid': it takes no options"):
        check("axpy", HEAD, grid=(1, 1))
    with pytest.raises(TypeError, match="block must be two whole numbers"):
        check("capstone", HEAD, block="wide")
    with pytest.raises(ValueError, match="out of range"):
        check("capstone", HEAD, block=(0, 5))


def test_only_the_climb_has_a_target_in_gflops():
    with pytest.raises(ValueError, match="axpy has no target in GFLOP/s"):
        speed("axpy", HEAD)
    assert "it must be right first" in repr(speed("capstone", None))


# ------------------------------------------------------------------------------------ the clock


def test_a_test_that_never_ends_is_stopped(monkeypatch):
    monkeypatch.setattr(checking, "FUNCTION_SECONDS", 0.2)

    def better_test(product):
        while True:
            try:
                product(np.zeros((2, 2)), np.zeros((2, 2)))
            except Exception:
                continue

    assert judge("better-test", better_test).kind is Flaw.TOO_SLOW


def test_loops_have_room_for_every_solution():
    assert limits.LOOPS.trips >= 2 * 192, "the longest row of any launch has 192 elements"


# ------------------------------------------------------------------------------------ the text


def test_a_failed_try_without_a_known_cause_gives_one_more_hint(monkeypatch):
    monkeypatch.setattr(checking, "GIVEN", type(checking.GIVEN)())
    task = checking.named("axpy")
    wrong = GUARDED + "y[i] = x[i]\n"
    for number in (1, 2, 3, 3):
        assert not check("axpy", "def axpy(").hint, "what cannot be read is no try"
        unknown = check("axpy", GUARDED + "y[i] = there[i]\n")
        assert unknown.kind is Flaw.NOT_COMPILED and not unknown.hint
        known = check("axpy", HEAD + "    y[i] = alpha * x[i] + y[i]\n")
        assert known.kind in checking.HINTS and known.hint_number == 0
        result = check("axpy", wrong)
        hints = *task.hints[:2], checking.LAST  # nobody is shown the third unasked
        assert result.hint == hints[number - 1] and result.hint_number == number
        assert f"hint {number} of 3" in str(result)
    assert not judge("axpy", wrong).hint


@pytest.mark.parametrize(
    ("old", "new", "kind", "line", "said"),
    [
        ("tx, ty = cuda.threadIdx.x, cuda.threadIdx.y", "ty, tx = cuda.threadIdx.x, cuda.threadIdx"
         ".y", Flaw.SWAPPED, "sA[ty, tx] = A", "tx goes with col, ty with row"),
        ("sA[ty, tx] =", "sA[tx, ty] =", Flaw.SWAPPED, "sA[tx, ty] =", "tile of A lies transposed"),
        ("sA[ty, k]", "sA[k, ty]", Flaw.SWAPPED, "acc +=", "every tile of A lies transposed"),
        ("sA[ty, k] * sB[k, tx]", "sA[k, ty] * sB[tx, k]", Flaw.SWAPPED, "acc +=", "both tiles"),
        ("sA[ty, k]", "sA[tx, k]", Flaw.SWAPPED, "acc +=", "row tx is read"),
        ("A[row, ka] if", "A[ty, ka] if", Flaw.SWAPPED, "= A[ty", "row is this thread's in A"),
        ("sB[k, tx]", "sA[k, tx]", Flaw.WRONG_OPERAND, "acc +=", "sB is filled, and never read"),
        ("B[kb, col] if", "A[kb, col] if", Flaw.WRONG_OPERAND, "= A[row", "B is never read"),
        ("t * T + tx, t * T + ty", "tx, ty", Flaw.SAME_TILE, "= A[row", "where is t * T in the"),
        ("(K + T - 1) // T", "K // T", Flaw.DROPPED_TILE, "acc +=", "the last 7 of K = 23"),
        ("acc +=", "acc =", Flaw.LOST_SUM, "acc =", "only the last product is there"),
    ],
)  # fmt: skip
def test_the_cause_is_named_at_its_line_and_the_hint_follows_it(old, new, kind, line, said):
    solution = EXERCISES["tiled"].solution_text
    assert old in solution
    for result in (check("tiled", solution.replace(old, new)) for _ in range(2)):
        assert result.kind is kind and said in result.findings[0].message
        assert line in result.findings[0].source
        assert result.hint == checking.HINTS[kind] and result.hint_number == 0
        assert f"data-line='{result.line}'" in result._repr_html_()


@pytest.mark.parametrize(
    ("old", "new", "kind", "said", "hint"),
    [
        (" and ka < K", "", Flaw.MISSING_GUARD, "reads A[0, 23]", "past the end of A"),
        ("kb < K and ", "", Flaw.MISSING_GUARD, "reads B[23, 0]", "past the end of B"),
        ("row < M and ka", "ka", Flaw.MISSING_GUARD, "reads A[37, 0]", "The grid covers more"),
        ("in range(T)", "in range(K)", Flaw.OUT_OF_BOUNDS, "only 16 columns: how far does k run?",
         "one tile, or a whole row?"),
    ],
)  # fmt: skip
def test_the_hint_on_an_index_beyond_its_array_knows_which_end_it_is(old, new, kind, said, hint):
    result = check("tiled", EXERCISES["tiled"].solution_text.replace(old, new))
    assert result.kind is kind and said in result.findings[0].message
    assert hint in result.hint


def test_a_missing_barrier_is_shown_at_both_of_its_lines():
    solution = EXERCISES["tiled"].solution_text
    barrier = "cuda.syncthreads()\n        for"
    result = judge("tiled", solution.replace(barrier, "for"))
    assert result.kind is Flaw.MISSING_BARRIER and result._repr_html_().count("data-line=") == 2
    text = str(result)
    assert "sB[ty, tx] = B" in text and "acc += sA" in text


def test_loads_down_a_column_are_over_the_budget():
    solution = EXERCISES["tiled"].solution_text
    old = "sA[ty, tx] = A[row, ka] if row < M and ka < K else float32(0)"
    new = "sA[tx, ty] = A[r, kb] if r < M and kb < K else float32(0)"
    row = "r = cuda.blockIdx.y * T + tx\n        "
    result = judge("tiled", solution.replace(old, row + new))
    assert result.kind is Flaw.BUDGET and "sectors loaded" in result.findings[0].message


def test_right_and_wrong_differ_in_more_than_a_sign():
    answers = GUARDED + "y[i] = x[i]\n", EXERCISES["axpy"].solution_text
    texts = [judge("axpy", text)._repr_html_() for text in answers]
    styles = [text.split("style='")[1].split("'")[0] for text in texts]
    assert len({*styles}) == 2 and "solid" in styles[1] and "double" in styles[0]

"""Answers that are wrong and look right to a careless grader, tried on every exercise."""

import ast
import re
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from chapters.ch05b_banks.exercises.passes import wavefronts
from chapters.ch08_tensor_cores.exercises.shares import shares_of
from kernels import cuda
from kernels.lab.exercises import checking, judge
from kernels.lab.exercises.exercise import FINE
from kernels.lab.exercises.flaws import Flaw
from kernels.lab.exercises.limits import time_limit
from kernels.lab.exercises.submission import function_of
from tests.lab.exercises.answers import KERNELS, options
from tests.lab.exercises.mutants import equivalent, mutants, survives

# ------------------------------------------------------------------------------------ the numbers


def arrays(trial):
    """The arrays of numbers of a launch, none of indices; pairs of float16 in uint32 as float16."""
    given = {n: a for n, a in trial.arguments.items() if isinstance(a, np.ndarray)}
    given = {n: a for n, a in given.items() if a.dtype != np.int32}
    return {n: a.view(np.float16) if a.dtype == np.uint32 else a for n, a in given.items()}


@pytest.mark.parametrize("name", KERNELS)
def test_no_launch_is_right_in_whole_numbers_or_in_half_precision(name):
    for trial in KERNELS[name].trials(**options(name)):
        given = [a for a in arrays(trial).values() if not np.isnan(a).any()]
        eighths = all((8 * a == np.floor(8 * a)).all() for a in given)
        assert eighths is not (trial.role == FINE)
        assert all((a != np.floor(a)).any() for a in given), "whole numbers hide an integer"
        if trial.role == FINE:
            of_32_bits = [a for a in given if a.dtype == np.float32]
            assert all((a != a.astype(np.float16)).mean() > 0.9 for a in of_32_bits)


@pytest.mark.parametrize("name", KERNELS)
def test_one_launch_has_full_mantissas_and_bounds_that_half_precision_breaks(name):
    trials = KERNELS[name].trials(**options(name))
    assert [t.role for t in trials].count(FINE) == 1
    for trial in trials:
        for output, bound in trial.bounds.items():
            largest = abs(trial.expected[output]).max()
            assert (bound < 2.0**-12 * largest).all(), "too loose"


@pytest.mark.parametrize("name", KERNELS)
def test_no_two_launches_share_a_number_and_no_two_seeds_an_array(name):
    first, second = (KERNELS[name].trials(seed=s, **options(name)) for s in (0, 1))
    for one, other in zip(first, second, strict=True):
        for array in arrays(one):
            if not np.isnan(one.arguments[array]).any():
                assert (one.arguments[array] != other.arguments[array]).any()
    for parameter, value in first[0].arguments.items():
        if not isinstance(value, np.ndarray):
            assert len({t.arguments[parameter] for t in first}) > 1, (
                f"{parameter} is always {value}"
            )


class Through(ast.NodeTransformer):
    """Sends the numbers that a kernel adds up, stores or loads through a conversion."""

    def __init__(self, conversion: str, numbers: str):
        self.conversion, self.numbers = conversion, numbers

    def visit_AugAssign(self, n):
        adds = self.numbers == "sums" and isinstance(n.op, ast.Add)
        return self.converted(n) if adds else n

    def visit_Assign(self, n):
        stores = self.numbers == "stores" and isinstance(n.targets[0], ast.Subscript)
        array = isinstance(n.value, ast.Subscript) and isinstance(n.value.value, ast.Name)
        loads = self.numbers == "loads" and array
        return self.converted(n) if stores or loads else n

    def converted(self, n):
        text = self.conversion.format(ast.unparse(n.value))
        n.value = ast.parse(text, mode="eval").body
        return n


@pytest.mark.parametrize("conversion", ("int({})", "float32(float16({}))"))
@pytest.mark.parametrize("name", KERNELS)
def test_integers_and_half_precision_in_place_of_float32_are_rejected(name, conversion):
    written = ast.parse(KERNELS[name].solution_text)
    results = [a for t in KERNELS[name].trials(**options(name)) for a in t.expected.values()]
    if any(isinstance(n, ast.AugAssign) and isinstance(n.op, ast.Add) for n in ast.walk(written)):
        numbers = "sums"
    elif all((a == np.floor(a)).all() for a in results):  # places: whole numbers, whatever is done
        numbers = "loads"
    else:
        numbers = "stores"
    text = ast.unparse(ast.fix_missing_locations(Through(conversion, numbers).visit(written)))
    result = judge(name, f"from numpy import float16\n{text}", **options(name))
    arguments = KERNELS[name].trials(**options(name))[0].arguments.values()
    # Pairs of float16 that are taken for one number and rounded may be none.
    in_pairs = any(getattr(a, "dtype", None) == np.uint32 for a in arguments)
    kinds = {Flaw.ROUNDED, Flaw.WRONG, *([Flaw.NOT_A_NUMBER] if in_pairs else [])}
    assert result.kind in kinds, str(result)


@pytest.mark.parametrize("name", KERNELS)
def test_a_number_written_instead_of_a_parameter_is_rejected(name):
    exercise = KERNELS[name]
    head, body = exercise.solution_text.split("):\n", 1)
    first = exercise.trials(**options(name))[0].arguments
    for parameter in (p for p in first if not isinstance(first[p], np.ndarray)):
        written = re.sub(rf"\b{parameter}\b", repr(first[parameter].item()), body)
        result = judge(name, f"{head}):\n{written}", **options(name))
        assert result.kind is Flaw.WRONG, str(result)


# ------------------------------------------------------------------------------- borrowed answers

INDEX = {1: "i", 2: "i // {0}.shape[1], i % {0}.shape[1]"}
INDEX[3] = "i // ({0}.shape[1] * {0}.shape[2]), i // {0}.shape[2] % {0}.shape[1], i % {0}.shape[2]"


def remembered(name):
    """A kernel that copies the results of all launches, told apart by the size of the output."""
    exercise = KERNELS[name]
    known, copies = {}, {}
    for number, trial in enumerate(exercise.trials(**options(name))):
        for output, result in trial.expected.items():
            place = INDEX[result.ndim].format(output)
            known[f"{output}{number}"] = result.astype(np.float32).ravel()
            copies.setdefault(output, []).extend(
                (
                    f"        if {output}.size == {result.size}:",
                    f"            {output}[{place}] = {output}{number}[i]",
                )
            )
    arrays_ = "".join(f"{n} = array({a.tolist()}, dtype=single)\n" for n, a in known.items())
    loops = (
        [f"    for i in range(first, {output}.size, step):", *lines]
        for output, lines in copies.items()
    )
    return (
        f"from numpy import array, single\n{arrays_}@cuda.jit\n"
        f"def remembered({', '.join(exercise.parameters)}):\n"
        "    width = cuda.blockDim.x * cuda.blockDim.y * cuda.blockDim.z\n"
        "    block = (cuda.blockIdx.z * cuda.gridDim.y + cuda.blockIdx.y) * cuda.gridDim.x"
        " + cuda.blockIdx.x\n"
        "    thread = cuda.threadIdx.y * cuda.blockDim.x + cuda.threadIdx.x\n"
        "    blocks = cuda.gridDim.x * cuda.gridDim.y * cuda.gridDim.z\n"
        "    first, step = block * width + thread, blocks * width\n"
        + "\n".join(line for loop in loops for line in loop)
    )


@pytest.mark.parametrize("name", KERNELS)
def test_results_copied_by_size_are_rejected(name):
    result = judge(name, remembered(name), **options(name))
    assert result.kind is Flaw.REMEMBERED, str(result)
    assert "Only the numbers are new" in " ".join(str(result).split())


@pytest.mark.parametrize("name", KERNELS)
def test_the_stored_solution_is_not_an_answer(name):
    exercise = KERNELS[name]
    stored = function_of(exercise.solution_text, exercise.names)
    for answer in (cuda.jit(stored), stored, SimpleNamespace(py_func=stored)):
        result = judge(name, answer, **options(name))
        assert result.kind is Flaw.BORROWED and "write yours" in str(result)


def test_a_kernel_may_not_call_the_stored_solution():
    solution = cuda.jit(device=True)(function_of(KERNELS["axpy"].solution_text, {}))

    @cuda.jit
    def axpy(alpha, x, y):
        solution(alpha, x, y)

    assert judge("axpy", axpy).kind is Flaw.BORROWED


def test_a_kernel_may_call_a_function_of_its_own():
    @cuda.jit(device=True)
    def scaled(alpha, x, y):
        return alpha * x + y

    @cuda.jit
    def axpy(alpha, x, y):
        i = cuda.grid(1)
        if i < y.size:
            y[i] = scaled(alpha, x[i], y[i])

    assert judge("axpy", axpy).right


@pytest.mark.parametrize(
    "name, answer",
    [
        ("shares", shares_of),
        ("shares", lambda A: shares_of(A)),
        ("passes", wavefronts),
        ("passes", lambda words: wavefronts(words)),
    ],
)
def test_a_stored_function_is_not_an_answer(name, answer):
    assert judge(name, answer).kind is Flaw.BORROWED


def test_a_test_that_counts_its_calls_is_rejected():
    calls = []

    def blind(product):
        calls.append(product)
        return len(calls) <= 4

    def counting(product):
        product(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32))
        return blind(product)

    def in_rounds(product):
        product(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32))
        calls.append(product)
        return len(calls) % 19 in (1, 2, 3, 4)

    assert "never calls the product" in str(judge("better-test", blind))
    calls.clear()
    assert judge("better-test", counting).kind is Flaw.REMEMBERED
    calls.clear()
    assert judge("better-test", in_rounds).kind is Flaw.REMEMBERED


def test_tables_instead_of_functions_are_rejected():
    asked = []

    def from_a_table(words):
        asked.append(words)
        return wavefronts_known[len(asked) - 1]

    from chapters.ch05b_banks.exercises.passes import requests

    wavefronts_known = [wavefronts(words) for _, words in requests()] + [33]
    assert judge("passes", from_a_table).kind is Flaw.WRONG
    table = shares_of(np.arange(256, dtype=np.float32).reshape(16, 16))
    assert judge("shares", lambda A: table).kind is Flaw.REMEMBERED


# ----------------------------------------------------------------------------- what it is, by name

PARTS = {
    "vector-add": ("a, b, c", "for i in range(c.size):\n            c[i] = a[i] + b[i]"),
    "axpy": ("alpha, x, y", "for i in range(y.size):\n            y[i] = alpha * x[i] + y[i]"),
    "matrix-add": (
        "A, B, C",
        "for i in range(C.size):\n            n = C.shape[1]\n"
        "            C[i // n, i % n] = A[i // n, i % n] + B[i // n, i % n]",
    ),
}
PRODUCT = """for row in range(C.shape[0]):
            for col in range(C.shape[1]):
                acc = float32(0)
                for k in range(A.shape[1]):
                    acc += A[row, k] * B[k, col]
                C[row, col] = acc"""
PARTS |= {
    name: ("A, B, C", PRODUCT)
    for name in ("square-minded", "tiled", "two-buffers", "wide", "pair", "four-sums", "capstone")
}
PARTS["row-sum"] = (
    "A, sums",
    "for row in range(A.shape[0]):\n            total = float32(0)\n"
    "            for k in range(A.shape[1]):\n                total += A[row, k]\n"
    "            sums[row] = total",
)
PARTS["in-place"] = (
    "A",
    "for i in range(A.shape[0]):\n            for j in range(i):\n"
    "                x = A[i, j]\n                A[i, j] = A[j, i]\n                A[j, i] = x",
)


@pytest.mark.parametrize("name", PARTS)
def test_one_thread_that_does_everything_is_told_so(name):
    parameters, work = PARTS[name]
    one = f"@cuda.jit\ndef alone({parameters}):\n    across, down = cuda.grid(2)\n"
    one += f"    if across == 0 and down == 0:\n        {work}\n"
    result = judge(name, one, **options(name))
    assert result.kind is Flaw.UNSHARED and "one thread stores" in str(result), str(result)
    assert result.line


def test_a_loop_that_ends_late_is_not_called_endless():
    everything = (
        "@cuda.jit\ndef axpy(alpha, x, y):\n    for i in range(y.size):\n        y[i] = x[i]"
    )
    result = judge("axpy", everything)
    assert result.kind is Flaw.UNSHARED and "give each thread its own elements" in str(result)


@pytest.mark.parametrize("name", KERNELS)
def test_parameters_in_another_order_are_told_so(name):
    exercise = KERNELS[name]
    if len(exercise.parameters) == 1:
        return
    order = exercise.parameters[1:] + exercise.parameters[:1]
    head = f"({', '.join(exercise.parameters)})"
    for names in (order, tuple(f"{n}_" for n in order)):
        text = exercise.solution_text.replace(head, f"({', '.join(names)})", 1)
        body = "".join(f"\n    {n} = {n}_" for n in order) if names != order else ""
        text = text.replace("):\n", f"):{body}\n", 1)
        result = judge(name, text, **options(name))
        assert result.kind is Flaw.SIGNATURE and "in this order" in str(result), str(result)
        if body:
            assert "and is right if they are (" in " ".join(str(result).split())


def test_a_negative_index_is_right_where_it_gives_the_right_element():
    text = KERNELS["reverse"].solution_text.replace("v.size - 1 - i", "-1 - i")
    result = judge("reverse", text)
    assert result.right and "a negative index counts from the end of v" in result.note
    wrong = judge("reverse", text.replace("-1 - i", "-2 - i"))
    assert wrong.kind is Flaw.OUT_OF_BOUNDS
    wrong = judge("smooth", KERNELS["smooth"].solution_text.replace("max(i - 1, 0)", "i - 1"))
    assert wrong.kind is Flaw.NEGATIVE_INDEX and "index -1 in thread (0, 0, 0)" in str(wrong)


# ------------------------------------------------------------------------------------- the clock


def test_a_function_has_ten_seconds(monkeypatch):
    asked = []
    monkeypatch.setattr(checking, "time_limit", lambda s: asked.append(s) or time_limit(s))
    judge("better-test", lambda product: True)
    judge("axpy", KERNELS["axpy"].solution_text)
    assert asked == [10, 60]


def test_without_threads_there_is_no_clock_and_all_else_works(monkeypatch):
    def refuse(timer):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert judge("axpy", KERNELS["axpy"].solution_text).right
    assert not judge("shares", lambda A: A).right
    with pytest.raises(ZeroDivisionError) as caught, time_limit(1):
        1 / 0  # noqa: B018 - it is raised in the block
    assert caught.value.__context__ is None


# ------------------------------------------------------------------------------------ by machine


@pytest.mark.parametrize("name", KERNELS)
def test_mutants_are_rejected_unless_they_are_proven_right(name):
    known = equivalent(name)
    sample = np.random.default_rng(1).permutation(len(mutants(name)))[:6]
    for mutant in (mutants(name)[i] for i in sample):
        assert survives(mutant) is (mutant.change in known), mutant.change


@pytest.mark.parametrize("name", KERNELS)
def test_what_is_proven_right_is_a_mutant_and_has_a_reason(name):
    changes = {mutant.change for mutant in mutants(name)}
    assert len(changes) == len(mutants(name))
    for change, reason in equivalent(name).items():
        assert change in changes and len(reason.split()) >= 4


def test_enough_mutants_are_made():
    few = {name for name in KERNELS if len(mutants(name)) < 40}
    assert few == {"vector-add", "axpy", "reverse"}, "their solutions have three lines"

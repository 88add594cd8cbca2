"""Four elements at once in the interpreter: counted as one request, and never where it is wrong."""

import numpy as np
import pytest

from kernels import cuda, float32, lab, uint32
from kernels.backend.vector import aligned16, load4, load4_guarded, store4, store4_guarded, unrolled
from microscope import KernelError


@cuda.jit
def copy_plain(A, C, first):
    t = cuda.threadIdx.x
    a, b, c, d = load4(A, t // 4, first + t % 4 * 4)
    store4(C, t // 4, t % 4 * 4, a, b, c, d)


@cuda.jit
def copy_guarded(A, C):
    t = uint32(cuda.threadIdx.x)
    wide = aligned16(A) and aligned16(C)
    a, b, c, d = load4_guarded(A, t // uint32(8), t % uint32(8) * uint32(4), wide)
    store4_guarded(C, t // uint32(8), t % uint32(8) * uint32(4), a, b, c, d, wide)


@cuda.jit
def through_shared(A, C):
    s = cuda.shared.array((8, 16), float32, alignment=16)
    t = cuda.threadIdx.x
    a, b, c, d = load4(A, t // 4, t % 4 * 4)
    store4(s, t // 4, t % 4 * 4, a, b, c, d)
    cuda.syncthreads()
    total = float32(0)
    for k in range(16):
        total += s[t // 4, k]
    unrolled()
    C[t // 4, t % 4] = total


def numbers(rows, cols):
    return np.arange(rows * cols, dtype=np.float32).reshape(rows, cols)


def sites(trace):
    return {(site.array, site.op): site for site in trace.sites}


def test_four_elements_are_one_request():
    A, C = numbers(8, 16), np.full((8, 16), np.nan, np.float32)
    seen = lab.trace(copy_plain, 1, 32, A, C, 0)
    assert seen.problems == [] and np.array_equal(seen.outputs["C"], A)
    for site in seen.sites:
        assert (site.requests, site.lanes, site.itemsize, site.sectors) == (1, 32, 16, 16)
        assert site.bytes_requested == site.bytes_transferred == 512
    assert (seen.heat("A").loads == 1).all() and (seen.heat("C").stores == 1).all()


def test_an_address_between_is_a_problem_and_an_error():
    A, C = numbers(8, 20), np.zeros((8, 16), np.float32)
    (problem,) = lab.trace(copy_plain, 1, 32, A, C, 1).problems
    assert problem.kind == "misaligned access" and problem.count == 32
    assert problem.message == (
        "thread (0, 0, 0) of block (0, 0, 0) takes 16 bytes at A[0, 1], whose address is no"
        " multiple of 16: start at a multiple of four elements, in rows that do too"
    )
    with pytest.raises(KernelError, match="takes 16 bytes at A\\[0, 1\\]"):
        copy_plain[1, 32](A, C, 1)


def test_the_last_of_four_must_be_inside_too():
    A, C = numbers(8, 16), np.zeros((8, 16), np.float32)
    problems = lab.trace(copy_plain, 1, 32, A, C, 4).problems
    assert [problem.kind for problem in problems] == ["out of bounds"]
    assert "reads A[0, 16]" in problems[0].message


@pytest.mark.parametrize("M, N", ((4, 32), (3, 28), (4, 31), (2, 5), (1, 1)))
def test_beyond_the_edges_are_zeros_and_nothing_is_written(M, N):
    A, C = numbers(M, N) + 1, np.full((4, 32), np.nan, np.float32)
    copy_guarded[1, 32](A, C)
    expected = np.zeros((4, 32), np.float32)
    expected[:M, :N] = A
    assert np.array_equal(C, expected)
    part = np.full((M, N), np.nan, np.float32)
    seen = lab.trace(copy_guarded, 1, 32, expected, part)
    assert seen.problems == [] and np.array_equal(seen.outputs["C"], A)


def test_narrow_accesses_are_four_requests():
    seen = sites(lab.trace(copy_guarded, 1, 32, numbers(4, 31), np.zeros((4, 31), np.float32)))
    load, store = seen["A", "load"], seen["C", "store"]
    assert (load.requests, load.lanes, load.itemsize) == (4, 4 * 31, 4)
    assert (store.requests, store.lanes, store.itemsize) == (4, 4 * 31, 4)


VIEWS = {
    "whole": (lambda a: a, 1),
    "from a multiple of four": (lambda a: a[1:, 4:], 1),
    "from a second column": (lambda a: a[:, 1:], 4),
    "every second row": (lambda a: a[::2], 1),
    "every second column": (lambda a: a[:, ::2], 4),
    "to the middle of four": (lambda a: a[:, :30], 4),
    "one row to the middle of four": (lambda a: a[:1, :30], 4),
    "columns first": (lambda a: np.asfortranarray(a), 4),
}


@pytest.mark.parametrize("view", VIEWS)
def test_views_go_at_once_where_their_rows_begin_at_16_bytes(view):
    cut, requests = VIEWS[view]
    A = cut(numbers(4, 32))
    C = np.full(A.shape, np.nan, np.float32)
    seen = lab.trace(copy_guarded, 1, 32, A, C)
    assert seen.problems == [] and np.array_equal(seen.outputs["C"], A)
    assert sites(seen)["A", "load"].requests == requests


def test_shared_memory_knows_what_was_written():
    A, C = numbers(8, 16), np.zeros((8, 4), np.float32)
    seen = lab.trace(through_shared, 1, 32, A, C)
    assert seen.problems == []
    assert np.array_equal(seen.outputs["C"], np.tile(A.sum(1)[:, None], 4))
    assert sites(seen)["s", "store"].wavefronts == 4


def test_races_of_four_elements_are_found():
    source = lab.trace(copy_to_one_place, 2, 32, np.zeros((4, 32), np.float32))
    assert {problem.kind for problem in source.problems} == {"race: write after write"}


@cuda.jit
def copy_to_one_place(C):
    one = float32(1)
    store4(C, 0, cuda.threadIdx.x % 8 * 4, one, one, one, one)

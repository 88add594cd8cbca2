"""Values that no thread, or only other threads, gave: they are reported where they are read."""

import numpy as np
import pytest

from microscope import KernelError, Kind, trace
from microscope import api as cuda


def only(t):
    """The one problem of a trace."""
    (problem,) = t.problems
    assert problem.kind == Kind.UNINITIALISED
    return problem


@cuda.jit
def some_threads(a, out):
    t = cuda.grid(1)
    if t % 32 == 0:
        m = a[0]
    out[t] = m


@cuda.jit
def either_way(a, out):
    t = cuda.grid(1)
    if t % 32 == 0:
        m = a[0]
    else:
        m = a[1]
    out[t] = m


def test_a_variable_belongs_to_the_threads_that_assign_it():
    t = trace(some_threads, 1, 64, np.ones(2), np.zeros(64))
    problem = only(t)
    first = t.first_line
    assert (problem.line, problem.other_line) == (first + 5, first + 4)
    assert problem.count == 62
    assert problem.thread == (1, 0, 0)
    assert np.isnan(t.outputs["out"]).sum() == 62
    assert not trace(either_way, 1, 64, np.ones(2), np.zeros(64)).problems


@cuda.jit
def on_a_way_that_no_thread_takes(a, out):
    t = cuda.grid(1)
    if 2 > 3:
        m = a[0]
    if a[t] > 0:
        out[t] = m
    if t >= 0:
        m = a[1]
        out[t] += m


def test_a_way_that_no_thread_takes_assigns_nothing():
    a = np.ones(2)
    problem = only(trace(on_a_way_that_no_thread_takes, 1, 2, a, np.zeros(2)))
    assert (problem.line - problem.other_line, problem.count) == (2, 2)
    with pytest.raises(KernelError, match="reads m, which it has never assigned"):
        on_a_way_that_no_thread_takes[1, 2](a, np.zeros(2))
    assert not trace(on_a_way_that_no_thread_takes, 1, 2, -a, np.zeros(2)).problems


@cuda.jit
def last_turn(n, out):
    t = cuda.grid(1)
    for k in range(n[t]):
        out[t] += k
    out[t] = 10 * out[t] + k


def test_a_loop_of_no_turns_leaves_its_variable_unassigned():
    turns = np.array([2, 0, 3, 0])
    t = trace(last_turn, 1, 4, turns, np.zeros(4, np.int64))
    assert only(t).count == 2
    assert t.outputs["out"][[0, 2]].tolist() == [11, 32]
    assert not trace(last_turn, 1, 4, turns + 1, np.zeros(4, np.int64)).problems


@cuda.jit
def early_leave(a, out):
    t = cuda.grid(1)
    for k in range(4):
        if k > t:
            break
        best = a[k]
    while t < 0:
        best = a[0]
    out[t] = best


def test_who_breaks_before_the_assignment_has_none():
    assert not trace(early_leave, 1, 4, np.ones(4), np.zeros(4)).problems


@cuda.jit
def in_a_call(v):
    if v > 3:
        w = 2 * v
    return w


@cuda.jit
def calls(out):
    t = cuda.grid(1)
    out[t] = in_a_call(t)


def test_a_function_that_is_called_has_variables_of_its_own():
    t = trace(calls, 1, 8, np.zeros(8, np.int64))
    assert only(t).count == 4
    assert t.outputs["out"][4:].tolist() == [8, 10, 12, 14]


@cuda.jit
def tile(out, filled, start):
    own = cuda.local.array(4, np.float32)
    t = cuda.grid(1)
    for k in range(start, filled):
        own[k] = t
    total = np.float32(0)
    for k in range(4):
        total += own[k]
    out[t] = total + own[t % 4]


@pytest.mark.parametrize("schedule", ("lockstep", "warps"))
def test_local_arrays_start_with_garbage(schedule):
    assert not trace(tile, 2, 64, np.zeros(128), 4, 0, schedule=schedule).problems
    by_all, by_index = trace(tile, 2, 64, np.zeros(128), 3, 0, schedule=schedule).problems
    assert by_all.kind == by_index.kind == Kind.UNINITIALISED
    assert by_all.element == by_index.element == (3,)
    assert (by_all.count, by_index.count) == (128, 32)


@cuda.jit
def by_some(out):
    own = cuda.local.array(2, np.float32)
    t = cuda.grid(1)
    if t < 3:
        own[0] = 1
    own[1] = 1
    own[0] += own[1]
    out[t] = own[0]


def test_local_arrays_belong_to_their_threads():
    first, *_ = trace(by_some, 1, 32, np.zeros(32)).problems
    assert first.count == 29
    assert first.message.startswith(
        "thread (3, 0, 0) of block (0, 0, 0) reads own[0], which it has"
    )


@cuda.jit
def doubled(a, out):
    i = cuda.grid(1)
    if i != 5:
        a[i] = 1.0
    out[i] = 2 * a[i]


def problems_of(a):
    return [p.message for p in trace(doubled, 2, 32, a, np.zeros(64)).problems]


def test_an_array_made_on_the_device_begins_blank():
    (message,) = problems_of(cuda.device_array(64))
    assert "reads a[5], which nobody has written yet: global memory starts with garbage" in message
    assert problems_of(cuda.device_array_like(np.zeros(64))) == [message]


def filled():
    a = cuda.device_array(64)
    a.copy_to_device(np.zeros(64))
    return a


def sliced():
    a = cuda.device_array(64)
    doubled[1, 32](a[:32], np.zeros(64))
    return a


def launched():
    a = cuda.device_array(64)
    doubled[2, 32](a, np.zeros(64))
    return a


@pytest.mark.parametrize("make", (filled, sliced, launched, lambda: cuda.to_device(np.zeros(64))))
def test_an_array_that_may_have_been_written_is_not_blank(make):
    assert problems_of(make()) == []

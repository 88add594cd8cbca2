"""``cuda.random``: the numbers that Numba's generators give."""

import numpy as np
import pytest

from microscope import KernelError, trace, xoroshiro
from microscope import api as cuda

random = cuda.random


def as_numba(n: int, seed: int, start: int = 0) -> np.ndarray:
    """The states that Numba makes, on the CPU."""
    made = pytest.importorskip("numba.cuda.random")
    states = np.empty(n, made.xoroshiro128p_dtype)
    made.init_xoroshiro128p_states_cpu.py_func.__globals__["init_xoroshiro128p_states_cpu"](
        states, np.uint64(seed), np.uint64(start)
    )
    return states


@pytest.mark.parametrize("n, seed, start", [(1, 0, 0), (7, 1, 0), (33, 2**63 + 5, 0), (5, 9, 3)])
def test_states_are_those_of_numba(n, seed, start):
    assert xoroshiro.states(n, seed, start).tobytes() == as_numba(n, seed, start).tobytes()


@cuda.jit
def draws(states, out):
    i = cuda.grid(1)
    out[0, i] = random.xoroshiro128p_uniform_float32(states, i)
    out[1, i] = random.xoroshiro128p_uniform_float64(states, i)
    out[2, i] = random.xoroshiro128p_normal_float32(states, i)
    out[3, i] = random.xoroshiro128p_normal_float64(states, i)


def test_draws_are_those_of_numba():
    numba_random = pytest.importorskip("numba.cuda.random")
    states = random.create_xoroshiro128p_states(20, seed=4)
    out = np.zeros((4, 20))
    draws[1, 20](states, out)
    theirs = as_numba(20, 4)
    kinds = ("uniform_float32", "uniform_float64", "normal_float32", "normal_float64")
    for row, kind in enumerate(kinds):
        draw = getattr(numba_random, f"xoroshiro128p_{kind}")
        expected = [draw(theirs, i) for i in range(20)]
        np.testing.assert_allclose(out[row], expected, rtol=3e-6)
    assert states.copy_to_host().tobytes() == theirs.tobytes()


def test_a_state_moves_on_and_a_trace_leaves_it_alone():
    states = random.create_xoroshiro128p_states(32, seed=1)
    before = states.copy_to_host()
    seen = trace(draws, 1, 32, states, np.zeros((4, 32)))
    assert not seen.problems and states.copy_to_host().tobytes() == before.tobytes()
    assert seen.outputs["states"].tobytes() != before.tobytes()
    loads = [s for s in seen.sites if s.array == "states" and s.op == "load"]
    assert [s.requests for s in loads] == [1, 1, 2, 2]


@cuda.jit
def one_state_for_all(states, out):
    out[cuda.grid(1)] = random.xoroshiro128p_uniform_float32(states, 0)


def test_threads_that_share_a_state_race():
    states = random.create_xoroshiro128p_states(1, seed=1)
    assert trace(one_state_for_all, 1, 32, states, np.zeros(32)).problems


@cuda.jit
def no_states(a):
    a[0] = random.xoroshiro128p_next(a, 0)


def test_other_arrays_have_no_states():
    with pytest.raises(KernelError, match="takes the states that create_xoroshiro128p_states made"):
        no_states[1, 1](np.zeros(1))

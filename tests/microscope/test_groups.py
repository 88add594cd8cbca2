"""``cuda.cg.this_grid().sync()``: a barrier for the blocks of a grid."""

import numpy as np
import pytest

from microscope import KernelError, Kind, trace
from microscope import api as cuda
from microscope.launch import SCHEDULES


@cuda.jit
def turned(a):
    i = cuda.grid(1)
    a[i] = i
    cuda.cg.this_grid().sync()
    v = a[a.size - 1 - i]
    cuda.cg.this_grid().sync()
    a[i] = v


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_all_blocks_wait_for_each_other(schedule):
    seen = trace(turned, 5, 40, np.zeros(200, np.int64), schedule=schedule)
    assert np.array_equal(seen.outputs["a"], np.arange(200)[::-1]) and not seen.problems


def test_a_launch_takes_all_blocks_at_once():
    a = np.zeros(1 << 17)
    turned[1 << 10, 128](a)
    assert np.array_equal(a, np.arange(a.size)[::-1])


@cuda.jit
def once(a):
    i = cuda.grid(1)
    a[i] = i
    cuda.cg.this_grid().sync()
    a[i] = a[a.size - 1 - i]


def test_a_missing_second_barrier_is_a_race_between_blocks():
    kinds = {p.kind for p in trace(once, 2, 32, np.zeros(64)).problems}
    assert kinds and all("race" in kind for kind in kinds)


@cuda.jit(device=True)
def meet(g):
    g.sync()


@cuda.jit
def some_stay_away(a):
    g = cuda.cg.this_grid()
    if cuda.blockIdx.x == 0:
        meet(g)
    a[cuda.grid(1)] = 1


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_block_that_stays_away_is_named(schedule):
    (problem,) = trace(some_stay_away, 2, 32, np.zeros(64), schedule=schedule).problems
    assert problem.kind == Kind.DIVERGENT_BARRIER and "block (1, 0, 0)" in problem.message


def test_no_more_blocks_than_a_gpu_holds():
    with pytest.raises(KernelError, match="4000 blocks must run at once; 264 of this size can"):
        turned[4000, 1024](np.zeros(4000 * 1024))


@pytest.mark.parametrize("call", ["a.sync()", "cuda.cg.this_grid().sync(1)", "g.wait()"])
def test_only_a_grid_has_a_sync(call):
    from tests.microscope.cases import from_source

    text = (
        "from microscope import api as cuda\n@cuda.jit\ndef kernel(a):\n"
        f"    g = cuda.cg.this_grid()\n    {call}\n"
    )
    with pytest.raises(KernelError, match=r"line 5: "):
        from_source(text, "groups").kernel[1, 1](np.zeros(1))

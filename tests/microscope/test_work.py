"""The interpreter's effort in lines of Python: each bound lies between what is counted and what the
mistake would give that it guards against.
"""

import pytest

from kernels.backend import on_gpu
from tests.microscope.work import peak, product, steps

UNTRACED = pytest.param(
    False, id="untraced", marks=pytest.mark.skipif(on_gpu, reason="a launch runs on the GPU here")
)
TRACED = pytest.param(True, id="traced")


@pytest.mark.parametrize("traced", [UNTRACED, TRACED])
def test_blocks_run_together(traced):
    """Sixteen blocks take hardly more than one; one after the other they would take 16 times."""
    one, sixteen = (steps(n, n, 64, tile=16, traced=traced) for n in (16, 64))
    assert sixteen < 1.5 * one


@pytest.mark.parametrize("traced", [UNTRACED, TRACED])
def test_effort_grows_linearly_with_the_steps(traced):
    """Twice the steps of one block take twice the lines at most; with a search through all that was
    recorded so far they would take four times."""
    short, long = (steps(32, 32, K, tile=32, traced=traced) for K in (128, 256))
    assert long < 2 * short


@pytest.mark.skipif(on_gpu, reason="a launch runs on the GPU here")
def test_tracing_costs_a_few_times_the_launch():
    """Python code for every lane's access would cost hundreds of times."""
    untraced, traced = (steps(128, 128, 64, tile=16, traced=t) for t in (False, True))
    assert traced < 3 * untraced


@pytest.mark.skipif(on_gpu, reason="a launch runs on the GPU here")
def test_memory_does_not_grow_with_the_grid():
    """Large grids are run in parts: four times the blocks need no more memory."""
    some, more = (peak(product(n, n, 16, tile=16, traced=False)) for n in (256, 512))
    assert more < 1.5 * some

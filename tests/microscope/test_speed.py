"""The interpreter's speed, as ratios of processor times that were measured in one run.

Each bound lies between what is measured and what the mistake would give that it guards against.
"""

import pytest

from kernels.engine import on_gpu
from tests.microscope.speed import peak, product, seconds, simulator

UNTRACED = pytest.param(
    False, id="untraced", marks=pytest.mark.skipif(on_gpu, reason="a launch runs on the GPU here")
)
TRACED = pytest.param(True, id="traced")


def test_blocks_run_together():
    """Numba's simulator starts a thread for each of the 4096 lanes of tiled 64³, and takes about
    400 times as long as a trace. With one block after the other that would be 25 times."""
    lockstep = min(seconds(product(64, 64, 64, tile=16, traced=True), repeat=15))
    assert simulator(64) > 60 * lockstep


@pytest.mark.parametrize("traced", [UNTRACED, TRACED])
def test_time_grows_linearly_with_the_steps(traced):
    """Twice the steps of one block take twice the time at most; with a search through all that was
    recorded so far they would take four times."""
    short, long = (product(32, 32, K, tile=32, traced=traced) for K in (128, 256))
    short, long = seconds(short, long, repeat=9)
    assert long < 3 * short


@pytest.mark.parametrize("traced", [UNTRACED, TRACED])
def test_time_grows_linearly_with_the_blocks(traced):
    """Sixteen times the blocks take at most 16 times the time; quadratic growth would give 256."""
    few, many = (product(n, n, 32, tile=16, traced=traced) for n in (64, 256))
    few, many = seconds(few, many)
    assert many < 24 * few


@pytest.mark.skipif(on_gpu, reason="a launch runs on the GPU here")
def test_tracing_costs_a_few_times_the_launch():
    """Four times is what is measured; Python code for every lane's access would cost hundreds."""
    untraced, traced = (product(128, 128, 64, tile=16, traced=t) for t in (False, True))
    untraced, traced = seconds(untraced, traced)
    assert traced < 20 * untraced


@pytest.mark.skipif(on_gpu, reason="a launch runs on the GPU here")
def test_memory_does_not_grow_with_the_grid():
    """Large grids are run in parts: four times the blocks need no more memory."""
    some, more = (peak(product(n, n, 16, tile=16, traced=False)) for n in (256, 512))
    assert more < 1.5 * some

"""The interpreter's speed, by the processor's clock: what else runs does not count much."""

import pytest

from kernels.engine import on_gpu
from tests.engine.microscope import speed

pytestmark = pytest.mark.alone


def test_faster_than_the_simulator():
    """Tiled 64³, both in this run."""
    simulated = speed.simulator(64).processor
    assert simulated / speed.tiled(64, traced=True, repeat=15).processor >= 300
    if not on_gpu:
        assert simulated / speed.tiled(64, traced=False, repeat=15).processor >= 1000


def test_one_block():
    block = speed.product(32, 32, 32, traced=True, tile=32, repeat=15)
    assert block.processor <= 0.010


def test_time_grows_linearly_in_the_blocks():
    """Sixteen times the blocks of the same size take at most 24 times as long."""
    few = speed.product(64, 64, 64, traced=True, tile=16, repeat=7)
    many = speed.product(256, 256, 64, traced=True, tile=16, repeat=3)
    assert many.processor < 24 * few.processor


def test_large_product():
    if not on_gpu:
        seconds, gigabytes = speed.large(1024)
        assert seconds.processor <= 6
        assert gigabytes <= 2

"""The interpreter's speed, with margins that a busy machine with two cores still keeps."""

from kernels.lab.backend import on_gpu
from tests.microscope import speed


def test_faster_than_the_simulator():
    """At 32³ the simulator does an eighth of the work of 64³, and has the smaller handicap."""
    simulated = speed.simulator(32)
    traced = speed.tiled(32, traced=True)
    assert simulated / traced > 50
    if not on_gpu:
        untraced = speed.tiled(32, traced=False)
        assert simulated / untraced > 100


def test_one_block():
    assert speed.product(32, 32, 32, traced=True, tile=32, repeat=10) < 0.03


def test_time_grows_linearly_in_the_blocks():
    """Sixteen times the blocks of the same size take at most 24 times as long."""
    few = speed.product(64, 64, 64, traced=True, tile=16, repeat=7)
    many = speed.product(256, 256, 64, traced=True, tile=16, repeat=3)
    assert many < 24 * few


def test_large_product():
    if not on_gpu:
        seconds, gigabytes = speed.large(512)
        assert seconds < 6
        assert gigabytes < 2

"""The occupancy calculator: worked by hand; `tests/microscope` has the brute force."""

import pytest

from kernels.basics.data_sheets import gpus
from kernels.measure.occupancy import occupancy


@pytest.mark.parametrize(
    ("threads", "registers", "shared_bytes", "gpu", "blocks", "limiter"),
    [
        # 8 × 8 tiles: two warps per block; 32 blocks is the most an SM of any kind here holds
        (64, 32, 2 * 8 * 8 * 4, "h200", 32, "threads"),
        # 40 registers × 32 lanes = 1280 a warp; 51 warps fit, 48 in steps of 4, 6 blocks of 8
        (256, 40, 2 * 16 * 16 * 4, "h200", 6, "registers"),
        (1024, 32, 2 * 32 * 32 * 4, "h200", 2, "threads"),
        # 64 KiB of shared memory an SM, 40 KiB a block
        (128, 0, 40 * 1024, "t4", 1, "shared memory"),
        # 100 KiB − 1 KiB a block for the system: two blocks of 48 KiB
        (128, 0, 48 * 1024, "rtx-3090", 2, "shared memory"),
        (1024, 0, 0, "rtx-3090", 1, "threads"),
        (33, 0, 0, "rtx-3090", 16, "blocks"),
    ],
)
def test_worked_examples(threads, registers, shared_bytes, gpu, blocks, limiter):
    got = occupancy(threads, registers=registers, shared_bytes=shared_bytes, gpu=gpu)
    assert (got.blocks, got.limiter) == (blocks, limiter)
    assert got.warps == blocks * -(-threads // 32)
    assert got.fraction == got.warps / gpus()[gpu].warps_per_sm


@pytest.mark.parametrize(
    ("threads", "options", "words"),
    [
        (0, {}, "0 threads a block: a block has 1 to 1024"),
        (4096, {}, "4096 threads a block: a block has 1 to 1024"),
        (64, {"registers": 300}, "at most 255"),
        (64, {"shared_bytes": 300_000}, "allows 232448; use a smaller tile"),
        (1024, {"registers": 128}, "use fewer threads or registers"),
        (64, {"gpu": "voodoo"}, "no data sheet of 'voodoo'"),
    ],
)
def test_refuses(threads, options, words):
    with pytest.raises((ValueError, LookupError), match=words):
        occupancy(threads, **options)


def test_the_arithmetic_is_shown():
    found = occupancy(256, registers=40, shared_bytes=2048)
    assert found.steps == {
        "threads": "256 threads are 8 warps per block; 64 warps per SM / 8 = 8",
        "blocks": "at most 32, however small",
        "registers": "40 × 32 lanes = 1280 per warp (in steps of 256); 65536 per SM / 1280 = 48 "
        "warps (in steps of 4); 48 / 8 = 6",
        "shared memory": "2048 bytes per block + 1024 for the system, 3072 as allocated; "
        "233472 per SM / 3072 = 76",
        "occupancy": "fewest by registers: 6 × 8 = 48 warps of 64 = 75 %",
    }
    told = found.explain(60)
    assert all(word in told for step in found.steps.values() for word in step.split())
    assert max(map(len, told.splitlines())) <= 60
    assert "for the system" not in occupancy(128, shared_bytes=4096, gpu="t4").explain()

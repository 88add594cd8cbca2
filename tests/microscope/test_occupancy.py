"""Occupancy against brute force: put blocks on an SM, one by one, until something is full."""

import numpy as np
import pytest

from kernels.basics.data_sheets import gpus
from kernels.measure.occupancy import occupancy


def up(amount, unit):
    return -(-amount // unit) * unit


def brute_force(sheet, threads, registers, shared_bytes):
    """Blocks that fit: registers come from four files, a warp's all from one."""
    modern = int(sheet.compute_capability.split(".")[0]) >= 8
    reserved, unit = (1024, 128) if modern else (0, 256)
    warps = -(-threads // 32)
    files = [sheet.registers_per_sm // 4] * 4
    shared, resident = sheet.shared_per_sm, 0
    blocks = 0
    while blocks < sheet.blocks_per_sm:
        resident += warps
        if shared_bytes:
            shared -= up(shared_bytes + reserved, unit)
        for _ in range(warps if registers else 0):
            roomiest = max(range(4), key=files.__getitem__)
            files[roomiest] -= up(registers * 32, 256)
        if resident > sheet.warps_per_sm or shared < 0 or min(files) < 0:
            break
        blocks += 1
    return blocks


@pytest.mark.parametrize("name", gpus())
def test_blocks_that_fit(name):
    sheet = gpus()[name]
    rng = np.random.default_rng(8)
    for _ in range(400):
        threads, registers = int(rng.integers(1, 1025)), int(rng.integers(0, 256))
        shared = int(rng.integers(0, sheet.shared_per_block_optin + 1)) // 4 * 4
        shared *= int(rng.random() < 0.7)
        expected = brute_force(sheet, threads, registers, shared)
        launch = f"{threads} threads, {registers} registers, {shared} bytes"
        if expected == 0:
            with pytest.raises(ValueError, match="need more registers than an SM"):
                occupancy(threads, registers=registers, shared_bytes=shared, gpu=sheet)
            continue
        found = occupancy(threads, registers=registers, shared_bytes=shared, gpu=sheet)
        assert found.blocks == expected, launch
        assert found.warps == expected * -(-threads // 32)
        assert found.fraction == found.warps / sheet.warps_per_sm

"""How many blocks fit on an SM, and which resource says so, as the calculator does it."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill

from kernels.basics.data_sheets import Gpu
from kernels.basics.data_sheets import gpu as data_sheet

__all__ = ["Occupancy", "occupancy"]

REGISTER_UNIT = 256  # registers are handed to a warp in steps of this many
WARP_UNIT = 4  # an SM has four schedulers, each with a quarter of the registers
MAX_REGISTERS = 255  # a thread cannot name more


@dataclass(frozen=True)
class Occupancy:
    """What fits on one SM.

    Attributes
    ----------
    blocks, warps, threads : int
        Resident on an SM at once.
    fraction : float
        Resident warps over the most the SM can hold, 0 to 1.
    limits : dict of str to int
        Blocks that each resource would allow alone.
    limiter : str
        The resource that allows fewest.
    steps : dict of str to str
        The arithmetic behind each limit, and behind ``"occupancy"``, in one line each.
    """

    blocks: int
    warps: int
    threads: int
    fraction: float
    limits: dict[str, int]
    limiter: str
    steps: dict[str, str]

    def __str__(self) -> str:
        return (
            f"{self.blocks} blocks, {self.warps} warps, {100 * self.fraction:.4g} % occupancy, "
            f"limited by {self.limiter}"
        )

    def explain(self, width: int = 76) -> str:
        """The calculator's arithmetic, a resource after the other, in lines of `width`."""
        indent = max(map(len, self.steps)) + 2
        lines = ["blocks that an SM holds, by"]
        for name, told in self.steps.items():
            first, later = f"{name:<{indent}}", " " * indent
            lines.append(fill(told, width, initial_indent=first, subsequent_indent=later))
        return "\n".join(lines)


def occupancy(
    threads: int, *, registers: int = 0, shared_bytes: int = 0, gpu: str | Gpu = "h200"
) -> Occupancy:
    """Blocks that an SM holds at once, from what a block declares.

    Parameters
    ----------
    threads : int
        Threads a block, 1 to 1024.
    registers : int
        Registers per thread; 0 ignores them.
    shared_bytes : int
        Shared memory a block, static and dynamic.
    gpu : str or Gpu
        A data sheet, or the name of one.

    Returns
    -------
    Occupancy

    Raises
    ------
    ValueError
        If no block of that kind can run on this GPU.

    Notes
    -----
    Granularities are those of NVIDIA's occupancy calculator: registers by warp in steps of 256,
    warps by register file in steps of 4, shared memory in steps of 128 bytes (256 before compute
    capability 8.0) and, from 8.0 on, 1 KiB of it a block for the system.
    """
    sheet = data_sheet(gpu) if isinstance(gpu, str) else gpu
    modern = int(sheet.compute_capability.split(".")[0]) >= 8
    if not 1 <= threads <= 1024:
        raise ValueError(f"{threads} threads a block: a block has 1 to 1024")
    if not 0 <= registers <= MAX_REGISTERS:
        raise ValueError(f"{registers} registers a thread: a thread has at most {MAX_REGISTERS}")
    if not 0 <= shared_bytes <= sheet.shared_per_block_optin:
        raise ValueError(
            f"{shared_bytes} bytes of shared memory a block: the {sheet.name} allows "
            f"{sheet.shared_per_block_optin}; use a smaller tile"
        )
    warps = -(-threads // 32)
    limits = {"threads": sheet.warps_per_sm // warps, "blocks": sheet.blocks_per_sm}
    steps = {
        "threads": f"{threads} threads are {warps} warps per block; {sheet.warps_per_sm} warps per "
        f"SM / {warps} = {limits['threads']}",
        "blocks": f"at most {sheet.blocks_per_sm}, however small",
    }
    if registers:
        a_warp = _round_up(registers * 32, REGISTER_UNIT)
        fitting = sheet.registers_per_sm // a_warp // WARP_UNIT * WARP_UNIT
        limits["registers"] = fitting // warps
        steps["registers"] = (
            f"{registers} × 32 lanes = {a_warp} per warp (in steps of {REGISTER_UNIT}); "
            f"{sheet.registers_per_sm} per SM / {a_warp} = {fitting} warps (in steps of "
            f"{WARP_UNIT}); {fitting} / {warps} = {limits['registers']}"
        )
    if shared_bytes:
        a_block = _round_up(shared_bytes + 1024, 128) if modern else _round_up(shared_bytes, 256)
        limits["shared memory"] = sheet.shared_per_sm // a_block
        system = " + 1024 for the system" if modern else ""
        steps["shared memory"] = (
            f"{shared_bytes} bytes per block{system}, {a_block} as allocated; "
            f"{sheet.shared_per_sm} per SM / {a_block} = {limits['shared memory']}"
        )
    limiter = min(limits, key=limits.__getitem__)
    blocks = limits[limiter]
    if not blocks:
        raise ValueError(
            f"{threads} threads of {registers} registers need more registers than an SM of the "
            f"{sheet.name} has ({sheet.registers_per_sm}): use fewer threads or registers"
        )
    fraction = blocks * warps / sheet.warps_per_sm
    steps["occupancy"] = (
        f"fewest by {limiter}: {blocks} × {warps} = {blocks * warps} warps of "
        f"{sheet.warps_per_sm} = {100 * fraction:.4g} %"
    )
    return Occupancy(blocks, blocks * warps, blocks * threads, fraction, limits, limiter, steps)


def _round_up(amount: int, unit: int) -> int:
    return -(-amount // unit) * unit

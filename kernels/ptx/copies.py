"""Copies from global to shared memory past the registers: ``cp.async``, 4 to 16 bytes a thread.

Source: NVIDIA, *PTX ISA*, section "Data Movement and Conversion Instructions: cp.async".
"""

from kernels.ptx.instruction import assembly
from kernels.ptx.operands import Literal, u32, u64

__all__ = [
    "cp_async_4",
    "cp_async_8",
    "cp_async_16",
    "cp_async_commit_group",
    "cp_async_wait_group",
]


@assembly("cp.async.ca.shared.global [<to>], [<source>], 4, <size>;", least=(8, 0))
def cp_async_4(to: u32, source: u64, size: u32):
    """Start a copy of 4 bytes; sm_80. Each thread copies its own.

    `to` is an address in shared memory, `source` one in global memory (`global_address`), both on
    4-byte boundaries. Of the source `size` bytes are read, 4 or 0, and zeros stand for the rest.
    """


@assembly("cp.async.ca.shared.global [<to>], [<source>], 8, <size>;", least=(8, 0))
def cp_async_8(to: u32, source: u64, size: u32):
    """Start a copy of 8 bytes; sm_80. As `cp_async_4`, on 8-byte boundaries; `size` is 0 to 8."""


@assembly("cp.async.cg.shared.global [<to>], [<source>], 16, <size>;", least=(8, 0))
def cp_async_16(to: u32, source: u64, size: u32):
    """Start a copy of 16 bytes, past the L1 cache; sm_80. As `cp_async_4`, on 16-byte boundaries.

    `size` is 0 to 16.
    """


@assembly("cp.async.commit_group;", least=(8, 0))
def cp_async_commit_group():
    """Close a group: all copies that this thread has started since the last; sm_80."""


def _check_pending(pending: int) -> None:
    if not 0 <= pending <= 7:
        raise ValueError(f"cp_async_wait_group waits for all but 0 to 7 groups, got {pending}")


@assembly("cp.async.wait_group <pending>;", least=(8, 0), check=_check_pending)
def cp_async_wait_group(pending: Literal):
    """Wait until at most `pending` of this thread's groups are on their way; sm_80.

    What other threads copied is there after a barrier that all have reached behind this wait.
    """

"""How many registers the threads of a warpgroup have.

Source: NVIDIA, *PTX ISA*, section "setmaxnreg".
"""

from kernels.ptx.instruction import assembly
from kernels.ptx.operands import Literal

__all__ = ["setmaxnreg_dec", "setmaxnreg_inc"]


def _check_count(count: int) -> None:
    if count % 8 or not 24 <= count <= 256:
        raise ValueError(f"a thread cannot have {count} registers: use a multiple of 8, 24 to 256")


@assembly("setmaxnreg.dec.sync.aligned.u32 <count>;", check=_check_count, least=(9, 0), only=True)
def setmaxnreg_dec(count: Literal):
    """Keep `count` registers per thread, give the others back; a warpgroup calls it, sm_90a."""


@assembly("setmaxnreg.inc.sync.aligned.u32 <count>;", check=_check_count, least=(9, 0), only=True)
def setmaxnreg_inc(count: Literal):
    """Wait for registers that others give back, and have `count` of them; a warpgroup, sm_90a.

    The kernel needs ``launch_bounds``: without them nobody knows how many there are.
    """

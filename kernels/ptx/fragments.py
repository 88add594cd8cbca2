"""Fragments: how the 32 threads of a warp hold small matrices for ``mma``, and how they get them.

Of each 8×8 block of 16-bit numbers, thread `lane` holds two neighbours in one register: row
lane // 4, columns 2 · (lane % 4) and the next, the first in the lower half.

Source: NVIDIA, *PTX ISA*, sections "ldmatrix" and "stmatrix".
"""

from kernels.ptx.instruction import assembly
from kernels.ptx.operands import u32

__all__ = [
    "ldmatrix_x1",
    "ldmatrix_x1_trans",
    "ldmatrix_x2",
    "ldmatrix_x2_trans",
    "ldmatrix_x4",
    "ldmatrix_x4_trans",
    "stmatrix_x1",
    "stmatrix_x1_trans",
    "stmatrix_x2",
    "stmatrix_x2_trans",
    "stmatrix_x4",
    "stmatrix_x4_trans",
]

LOAD, STORE = "ldmatrix.sync.aligned.m8n8", "stmatrix.sync.aligned.m8n8"


@assembly(f"{LOAD}.x1.shared.b16 {{<0>}}, [<row>];", gives=(u32,))
def ldmatrix_x1(row: u32):
    """Return one 8×8 block of 16-bit numbers; a warp calls it, sm_75.

    `row` is the address in shared memory of a row, 16 bytes on a 16-byte boundary; lanes 0 to 7
    give those of the block, the others' are not looked at.
    """


@assembly(f"{LOAD}.x1.trans.shared.b16 {{<0>}}, [<row>];", gives=(u32,))
def ldmatrix_x1_trans(row: u32):
    """Return one block as `ldmatrix_x1`, transposed on its way; sm_75."""


@assembly(f"{LOAD}.x2.shared.b16 {{<0>, <1>}}, [<row>];", gives=(u32,) * 2)
def ldmatrix_x2(row: u32):
    """Return two blocks: lanes 0 to 7 give the rows of the first, 8 to 15 the second's; sm_75."""


@assembly(f"{LOAD}.x2.trans.shared.b16 {{<0>, <1>}}, [<row>];", gives=(u32,) * 2)
def ldmatrix_x2_trans(row: u32):
    """Return two blocks as `ldmatrix_x2`, each transposed on its way; sm_75."""


@assembly(f"{LOAD}.x4.shared.b16 {{<0>, <1>, <2>, <3>}}, [<row>];", gives=(u32,) * 4)
def ldmatrix_x4(row: u32):
    """Return four blocks: lanes 0 to 7 give the first's rows, 8 to 15 the second's, …; sm_75."""


@assembly(f"{LOAD}.x4.trans.shared.b16 {{<0>, <1>, <2>, <3>}}, [<row>];", gives=(u32,) * 4)
def ldmatrix_x4_trans(row: u32):
    """Return four blocks as `ldmatrix_x4`, each transposed on its way; sm_75."""


@assembly(f"{STORE}.x1.shared.b16 [<row>], {{<a>}};", least=(9, 0))
def stmatrix_x1(row: u32, a: u32):
    """Store one block, the opposite of `ldmatrix_x1`; a warp calls it, sm_90."""


@assembly(f"{STORE}.x1.trans.shared.b16 [<row>], {{<a>}};", least=(9, 0))
def stmatrix_x1_trans(row: u32, a: u32):
    """Store one block, transposed on its way; sm_90."""


@assembly(f"{STORE}.x2.shared.b16 [<row>], {{<a>, <b>}};", least=(9, 0))
def stmatrix_x2(row: u32, a: u32, b: u32):
    """Store two blocks, the opposite of `ldmatrix_x2`; sm_90."""


@assembly(f"{STORE}.x2.trans.shared.b16 [<row>], {{<a>, <b>}};", least=(9, 0))
def stmatrix_x2_trans(row: u32, a: u32, b: u32):
    """Store two blocks, each transposed on its way; sm_90."""


@assembly(f"{STORE}.x4.shared.b16 [<row>], {{<a>, <b>, <c>, <d>}};", least=(9, 0))
def stmatrix_x4(row: u32, a: u32, b: u32, c: u32, d: u32):
    """Store four blocks, the opposite of `ldmatrix_x4`; sm_90."""


@assembly(f"{STORE}.x4.trans.shared.b16 [<row>], {{<a>, <b>, <c>, <d>}};", least=(9, 0))
def stmatrix_x4_trans(row: u32, a: u32, b: u32, c: u32, d: u32):
    """Store four blocks, each transposed on its way; sm_90."""

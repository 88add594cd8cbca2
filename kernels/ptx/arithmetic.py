"""Arithmetic that Numba has no word for: packed numbers, dot products of bytes, sums of a warp.

Source: NVIDIA, *PTX ISA*, sections "cvt", "mov", "dp4a", "redux.sync", "prmt", "rcp" and "ex2".
"""

from kernels.ptx.instruction import assembly
from kernels.ptx.operands import f32, i32, u32

__all__ = [
    "cvt_f32_f16x2",
    "cvt_rn_bf16x2",
    "cvt_rn_f16x2",
    "dp4a",
    "ex2_approx",
    "float_as_uint",
    "fma_rn_bf16x2",
    "prmt",
    "rcp_approx",
    "redux_sync_add",
    "redux_sync_max",
    "redux_sync_min",
    "uint_as_float",
]


@assembly(
    "{ .reg .f16 x, y;\n  mov.b32 {x, y}, <bits>;\n  cvt.f32.f16 <0>, x;\n  cvt.f32.f16 <1>, y; }",
    gives=(f32, f32),
    memory=False,
)
def cvt_f32_f16x2(bits: u32):
    """Return the two float16 of a word as floats, the lower half first; sm_75."""


@assembly("cvt.rn.bf16x2.f32 <0>, <second>, <first>;", gives=(u32,), least=(8, 0), memory=False)
def cvt_rn_bf16x2(first: f32, second: f32):
    """Return two floats rounded to bfloat16, the first in the lower half of the word; sm_80."""


@assembly(
    "{ .reg .f16 x, y;\n  cvt.rn.f16.f32 x, <first>;\n  cvt.rn.f16.f32 y, <second>;\n"
    "  mov.b32 <0>, {x, y}; }",
    gives=(u32,),
    memory=False,
)
def cvt_rn_f16x2(first: f32, second: f32):
    """Return two floats rounded to float16, the first in the lower half of the word; sm_75."""


@assembly("fma.rn.bf16x2 <0>, <a>, <b>, <c>;", gives=(u32,), least=(8, 0), memory=False)
def fma_rn_bf16x2(a: u32, b: u32, c: u32):
    """Return a · b + c of each half, numbers of bfloat16, rounded once; sm_80."""


@assembly("prmt.b32 <0>, <a>, <b>, <selector>;", gives=(u32,), memory=False)
def prmt(a: u32, b: u32, selector: u32):
    """Return four of eight bytes, those of `a` and then of `b`: which, a hexadecimal digit each."""


@assembly("mov.b32 <0>, <x>;", gives=(u32,), memory=False)
def float_as_uint(x: f32):
    """Return the bits of a float32: ``mov.b32``, and CUDA C++'s ``__float_as_uint``."""


@assembly("mov.b32 <0>, <bits>;", gives=(f32,), memory=False)
def uint_as_float(bits: u32):
    """Return the float32 of some bits: ``mov.b32``, and CUDA C++'s ``__uint_as_float``."""


@assembly("dp4a.s32.s32 <0>, <a>, <b>, <c>;", gives=(i32,), memory=False)
def dp4a(a: i32, b: i32, c: i32):
    """Return c + Σ a[i] · b[i] over the four signed bytes of two words; sm_75."""


@assembly("rcp.approx.ftz.f32 <0>, <x>;", gives=(f32,), memory=False)
def rcp_approx(x: f32):
    """Return 1 / x, off by one unit in the last place at most; sm_75."""


@assembly("redux.sync.add.s32 <0>, <value>, <members>;", gives=(i32,), least=(8, 0))
def redux_sync_add(members: u32, value: i32):
    """Return the sum over the lanes whose bit in `members` is set; all of them call it, sm_80."""


@assembly("redux.sync.max.s32 <0>, <value>, <members>;", gives=(i32,), least=(8, 0))
def redux_sync_max(members: u32, value: i32):
    """Return the largest value, as `redux_sync_add` the sum; sm_80."""


@assembly("redux.sync.min.s32 <0>, <value>, <members>;", gives=(i32,), least=(8, 0))
def redux_sync_min(members: u32, value: i32):
    """Return the smallest value, as `redux_sync_add` the sum; sm_80."""


@assembly("ex2.approx.ftz.f32 <0>, <x>;", gives=(f32,), memory=False)
def ex2_approx(x: f32):
    """Return 2 to the power of x, to about 22 bits; sm_75."""

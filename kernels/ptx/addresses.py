"""Addresses as instructions take them, and the accesses of several registers that Numba lacks.

Source: NVIDIA, *PTX ISA*, sections "State Spaces", "ld", "st" and "mapa".
"""

from kernels.ptx.instruction import Instruction, assembly, made
from kernels.ptx.operands import SharedArray, TensorMap, f32, u32, u64

__all__ = [
    "global_address",
    "ld_acquire_gpu_u32",
    "ld_global_cg_v4_f32",
    "ld_global_u32",
    "ld_global_v4_u32",
    "ld_shared_u32",
    "ld_shared_v4_f32",
    "shared_address",
    "st_global_cg_v4_f32",
    "st_global_u16",
    "st_global_u32",
    "st_global_v2_u32",
    "st_release_gpu_u32",
    "st_shared_u32",
    "st_shared_v2_f32",
    "st_shared_v4_f32",
    "st_shared_v4_u32",
    "store_pair",
]


@assembly("mov.b32 <0>, <array>;", gives=(u32,), memory=False)
def shared_address(array: SharedArray):
    """Return the address of a shared array's first element, in bytes: what instructions take.

    It counts from the start of the block's shared memory. An array of ``cuda.shared.array(0, …)``
    starts on a 16-byte boundary: round up, and ask for so much more at the launch.
    """


@assembly("mov.b64 <0>, <array>;", gives=(u64,), memory=False)
def global_address(array: TensorMap):
    """Return the address of a global array's first element, in bytes."""


class _StorePair(Instruction):
    """A store whose width depends on the array's number format."""

    intrinsic = "store_pair"


store_pair = made(_StorePair("ptx.store_pair", "", {}))
"""``store_pair(C, row, col, first, second)``: two neighbours in a row of C, in one store.

C is a contiguous matrix in global memory, `col` and its width are even. Of float32 the store is
``st.global.v2.f32``; float16, and bfloat16 as the bits in uint16 (sm_80), are rounded to nearest.
"""


@assembly("st.shared.u32 [<to>], <value>;")
def st_shared_u32(to: u32, value: u32):
    """Store a word in shared memory, on a 4-byte boundary."""


@assembly("st.shared.v2.f32 [<to>], {<a>, <b>};")
def st_shared_v2_f32(to: u32, a: f32, b: f32):
    """Store two neighbours in shared memory, on an 8-byte boundary."""


@assembly("st.shared.v4.f32 [<to>], {<a>, <b>, <c>, <d>};")
def st_shared_v4_f32(to: u32, a: f32, b: f32, c: f32, d: f32):
    """Store four neighbours in shared memory, on a 16-byte boundary."""


@assembly("st.shared.v4.u32 [<to>], {<a>, <b>, <c>, <d>};")
def st_shared_v4_u32(to: u32, a: u32, b: u32, c: u32, d: u32):
    """Store four words in shared memory, on a 16-byte boundary: eight numbers of 16 bits."""


@assembly("ld.shared.v4.f32 {<0>, <1>, <2>, <3>}, [<source>];", gives=(f32,) * 4)
def ld_shared_v4_f32(source: u32):
    """Return four neighbours from shared memory, on a 16-byte boundary."""


@assembly("ld.shared.u32 <0>, [<source>];", gives=(u32,))
def ld_shared_u32(source: u32):
    """Return a word from shared memory, on a 4-byte boundary: two numbers of 16 bits."""


@assembly("ld.global.u32 <0>, [<source>];", gives=(u32,))
def ld_global_u32(source: u64):
    """Return a word from global memory, on a 4-byte boundary: two numbers of 16 bits."""


@assembly("ld.global.v4.u32 {<0>, <1>, <2>, <3>}, [<source>];", gives=(u32,) * 4)
def ld_global_v4_u32(source: u64):
    """Return four words from global memory (`global_address`), on a 16-byte boundary."""


@assembly(
    "{ .reg .b16 half;\n  cvt.u16.u32 half, <value>;\n  st.global.u16 [<to>], half; }",
)
def st_global_u16(to: u64, value: u32):
    """Store the lower half of a word in global memory: one number of 16 bits."""


@assembly("st.global.u32 [<to>], <value>;")
def st_global_u32(to: u64, value: u32):
    """Store a word in global memory, on a 4-byte boundary."""


@assembly("st.global.v2.u32 [<to>], {<a>, <b>};")
def st_global_v2_u32(to: u64, a: u32, b: u32):
    """Store two words in global memory (`global_address`), on an 8-byte boundary."""


@assembly("st.global.cg.v4.f32 [<to>], {<a>, <b>, <c>, <d>};")
def st_global_cg_v4_f32(to: u64, a: f32, b: f32, c: f32, d: f32):
    """Store four neighbours past the L1 cache, on a 16-byte boundary: for another block."""


@assembly("ld.global.cg.v4.f32 {<0>, <1>, <2>, <3>}, [<source>];", gives=(f32,) * 4)
def ld_global_cg_v4_f32(source: u64):
    """Return four neighbours from past the L1 cache, on a 16-byte boundary: of another block."""


@assembly("st.release.gpu.global.u32 [<to>], <value>;")
def st_release_gpu_u32(to: u64, value: u32):
    """Store a word behind all that this thread has stored: whoever acquires it sees that, too."""


@assembly("ld.acquire.gpu.global.u32 <0>, [<source>];", gives=(u32,))
def ld_acquire_gpu_u32(source: u64):
    """Return a word that a thread of the GPU has released; what is read later is no older."""

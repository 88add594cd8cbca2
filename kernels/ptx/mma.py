"""``mma``: a small matrix product of a warp, all operands in registers.

Source: NVIDIA, *PTX ISA*, section "Matrix multiply-accumulate operation using mma instruction".
"""

from functools import cache

from kernels.ptx.instruction import Instruction, made
from kernels.ptx.operands import floats, words

__all__ = ["mma"]

#: By number format: its name in PTX, its bits, and by k the least compute capability.
FORMATS = {
    "float16": ("f16", 16, {8: (7, 5), 16: (8, 0)}),
    "bfloat16": ("bf16", 16, {8: (8, 0), 16: (8, 0)}),
    "tf32": ("tf32", 32, {4: (8, 0), 8: (8, 0)}),
}


@cache
def mma(k: int, dtype: str):
    """Return ``multiply_add(acc, a, b)``, which adds A·B to 16×8 sums; a warp calls it.

    `acc` is a local array of 4 float32: thread `lane` holds row lane // 4, columns
    2 · (lane % 4) and the next, and the same 8 rows below. `a` and `b` are local arrays of uint32,
    the blocks of A (16×k) and B (k×8) as `ldmatrix_x4` returns them: of 16 bits and k = 16, four of
    A (upper left, lower left, upper right, lower right) and two of Bᵀ.

    Parameters
    ----------
    k : int
        Of float16 and bfloat16 8 or 16, of tf32 4 or 8. float16 with k = 8 needs sm_75, the others
        sm_80.
    dtype : {"float16", "bfloat16", "tf32"}
        Number format of A and B.

    Raises
    ------
    ValueError
        If there is no such instruction.
    """
    if dtype not in FORMATS:
        raise ValueError(f"mma has no operands of {dtype}: use {', '.join(FORMATS)}")
    short, bits, least = FORMATS[dtype]
    if k not in least:
        raise ValueError(f"mma of {dtype} has no k={k}: use {' or '.join(map(str, least))}")
    registers = 8 * k * bits // 32 // 32  # of B
    return made(
        Instruction(
            "ptx.mma",
            f"mma.sync.aligned.m16n8k{k}.row.col.f32.{short}.{short}.f32 <acc>, <a>, <b>, <acc>;",
            {"acc": floats(4), "a": words(2 * registers), "b": words(registers)},
            least=least[k],
            choices={"k": k, "dtype": dtype},
            memory=False,
        )
    )

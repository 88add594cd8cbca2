"""``wgmma``: a matrix product of a warpgroup (128 threads), read from shared memory.

It runs behind the compiler's back: between its request and `wgmma_wait_group` it reads shared
memory and writes the sums' registers when it likes. In between nobody may touch either.

Source: NVIDIA, *PTX ISA*, section "Asynchronous Warpgroup Level Matrix Multiply-Accumulate
Instructions".
"""

from functools import cache

from kernels.ptx.instruction import Instruction, assembly, made
from kernels.ptx.operands import Literal, floats, i32, u32, u64, words

__all__ = [
    "matrix_descriptor",
    "settle",
    "wgmma",
    "wgmma_commit_group",
    "wgmma_fence",
    "wgmma_wait_group",
]

#: By number format: its name in PTX, its bytes.
FORMATS = {"float16": ("f16", 2), "bfloat16": ("bf16", 2), "tf32": ("tf32", 4), "e4m3": ("e4m3", 1)}
HOPPER = {"least": (9, 0), "only": True}


@cache
def wgmma(
    columns: int,
    dtype: str,
    a_in: str = "shared",
    transposed_B: bool = True,
    transposed_A: bool = False,
):
    """Return ``multiply_add(acc, a, b, add)`` of 64 rows, which a warpgroup calls; sm_90a.

    It asks for acc = A·B, or acc += A·B where `add` is not 0. A has 64 rows of 32 bytes: 16
    numbers of 16 bits, 8 of tf32 or 32 of e4m3; B has as many rows, and `columns`.

    `acc` is a local array of columns / 2 float32. Thread `lane` of warp w holds, of columns 8j to
    8j + 7, those numbered 2 · (lane % 4) and the next, in row 16w + lane // 4 (``acc[4 * j]``,
    ``acc[4 * j + 1]``) and 8 rows below (``acc[4 * j + 2]``, ``acc[4 * j + 3]``). Its indices must
    be constants where loops are written out (`unrolled`). `a` and `b` are descriptors
    (`matrix_descriptor`); A from registers is a local array of 4 uint32, the fragment that
    `kernels.ptx.mma.mma` takes, for each warp 16 rows.

    Parameters
    ----------
    columns : int
        Of B and of the sums: a multiple of 8, from 8 to 256.
    dtype : {"float16", "bfloat16", "tf32", "e4m3"}
        Number format of A and B.
    a_in : {"shared", "registers"}
        Where A lies.
    transposed_B : bool
        Whether B lies by rows, as matrices do, and is transposed as it is read: 16 bits only.
        Otherwise the values of k of each column lie side by side.
    transposed_A : bool
        Whether the rows of A lie side by side for each k, as the columns of B by rows do: 16 bits
        in shared memory only. Otherwise the values of k of each row do.

    Raises
    ------
    ValueError
        If there is no such instruction.
    """
    if dtype not in FORMATS:
        raise ValueError(f"wgmma has no operands of {dtype}: use {', '.join(FORMATS)}")
    if columns % 8 or not 8 <= columns <= 256:
        raise ValueError(f"wgmma has no {columns} columns: use a multiple of 8, from 8 to 256")
    if a_in not in ("shared", "registers"):
        raise ValueError(f"A lies in {a_in!r}: use 'shared' or 'registers'")
    short, size = FORMATS[dtype]
    if transposed_B and size != 2:
        raise ValueError(
            f"wgmma transposes no {dtype}: lay B by columns and use transposed_B=False"
        )
    in_shared = a_in == "shared"
    if transposed_A and (size != 2 or not in_shared):
        raise ValueError(
            f"wgmma transposes no A of {dtype} in {a_in}: lay A by rows and use transposed_A=False"
        )
    # Signs of A and B, then of 16 bits whether each is transposed; A in registers never is.
    flags = ["1", "1"]
    if size == 2:
        flags += [str(int(transposed_A))] * in_shared + [str(int(transposed_B))]
    return made(
        Instruction(
            "ptx.wgmma",
            "{ .reg .pred add;\n"
            "  setp.ne.b32 add, <add>, 0;\n"
            f"  wgmma.mma_async.sync.aligned.m64n{columns}k{32 // size}.f32.{short}.{short}"
            f" <acc>, <a>, <b>, add, {', '.join(flags)}; }}",
            {
                "acc": floats(columns // 2),
                "a": u64 if in_shared else words(4),
                "b": u64,
                "add": i32,
            },
            **HOPPER,
            choices={
                "columns": columns,
                "dtype": dtype,
                "a_in": a_in,
                "transposed_B": transposed_B,
                "transposed_A": transposed_A,
            },
        )
    )


@assembly("wgmma.fence.sync.aligned;", **HOPPER)
def wgmma_fence():
    """Order wgmma after all that this thread did to its registers; a warpgroup calls it, sm_90a.

    It comes before the first wgmma, and wherever others have touched the sums or A in registers.
    """


@assembly("wgmma.commit_group.sync.aligned;", **HOPPER)
def wgmma_commit_group():
    """Close a group: all wgmma asked for since the last; a warpgroup calls it, sm_90a."""


def _check_wait(pending: int, count: int) -> None:
    if not 0 <= pending <= 7:
        raise ValueError(f"wgmma_wait_group waits for all but 0 to 7 groups, got {pending}")


@assembly("wgmma.wait_group.sync.aligned <pending>;", check=_check_wait, **HOPPER)
def wgmma_wait_group(pending: Literal, acc: floats("count"), count: Literal):
    """Wait until at most `pending` groups of products are unfinished; a warpgroup calls it, sm_90a.

    `acc` is the array of sums, `count` its length. That they are operands tells the compiler that
    they change here: without it, it may read them before the wait. Of several arrays, call it once
    for each.
    """


@assembly("// settled", **HOPPER)
def settle(numbers: floats("count"), count: Literal):
    """Compute these floats before whatever comes next; no instruction, for the compiler; sm_90a.

    `numbers` is a local array, `count` its length. What could be computed later, behind a wait for
    products, would no longer overlap with them.
    """


@assembly(
    "{ .reg .b32 start, apart;\n"
    "  bfe.u32 start, <start>, 4, 14;\n"
    "  shr.u32 apart, <leading>, 4;\n"
    "  shl.b32 apart, apart, 16;\n"
    "  or.b32 start, start, apart;\n"
    "  mov.b64 <0>, {start, 0x40000040}; }",
    gives=(u64,),
    memory=False,
)
def matrix_descriptor(start: u32, leading: u32):
    """Return where wgmma finds an operand in shared memory, swizzled by 128 bytes: 64 bits.

    Rows of A, or of B by columns, have 128 bytes, and 8 of them lie 1024 bytes before the next 8:
    `start` is the address of the first number, `leading` 16. B by rows, or A by columns, comes in
    panels of 128 bytes (64 columns of B or rows of A, of 16 bits), each a whole number of 8 rows
    high: `leading` is the bytes from a panel to the next. Tiles lie on 1024-byte boundaries. In
    bits: start / 16 in 0 to 13, leading / 16 in 16 to 29, 1024 / 16 in 32 to 45, the swizzle (1:
    128 bytes) in 62 and 63.
    """

"""Four float32 at once: the 16-byte loads and stores of the faster kernels.

A thread that asks for four neighbours in one instruction moves 16 bytes where four instructions
moved 4 each: fewer instructions for the same bytes. The hardware wants the address to be a
multiple of 16. Numba has no word for such a load, so this module adds them:

``load4(array, row, col)``
    The elements ``array[row, col]`` to ``array[row, col + 3]``, as a tuple of four.
``store4(array, row, col, a, b, c, d)``
    The same way back.
``load4_guarded(array, row, col, wide)``, ``store4_guarded(array, row, col, a, b, c, d, wide)``
    For the edges of a matrix: elements beyond them are read as 0 and not written. Where `wide`
    is false, the four go one by one: then any strides and any address will do.
``aligned16(array)``
    Whether four neighbours may go at once: the rows are without gaps between the elements, each
    begins at a multiple of 16 bytes, and their length is a multiple of four elements. It is the
    `wide` of the two above, the same for all threads.
``unrolled()``
    Right below a loop over a constant range: the compiler writes the loop out, a copy of its body
    per iteration, as CUDA C++ does after ``#pragma unroll``. Indices become constants, and nothing
    is left of the counting. It changes no result.

`col` is a multiple of four wherever four go at once. In the guarded functions all four are then
within the matrix or all outside, since the length of a row is a multiple of four too.

On a GPU these are `numba` intrinsics (`kernels.backend.vector_numba`); without one the microscope
knows them, and counts one request where there is one.
"""

from kernels.backend import on_gpu
from microscope import Intrinsic, also_known

__all__ = ["aligned16", "load4", "load4_guarded", "store4", "store4_guarded", "unrolled"]

if on_gpu:
    from kernels.backend import vector_numba

    for _name in __all__:
        also_known(getattr(vector_numba, _name), Intrinsic(_name))
    from kernels.backend.vector_numba import (
        aligned16,
        load4,
        load4_guarded,
        store4,
        store4_guarded,
        unrolled,
    )
else:
    aligned16 = Intrinsic("aligned16")
    load4, load4_guarded = Intrinsic("load4"), Intrinsic("load4_guarded")
    store4, store4_guarded = Intrinsic("store4"), Intrinsic("store4_guarded")
    unrolled = Intrinsic("unrolled")

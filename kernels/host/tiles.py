"""Tile sizes, checked before anything is compiled: one line says what does not fit, and what would.

The names are those of the rungs' options and of the C++ macros: a block of threads computes a
tile of BM × BN results, BK steps of K at a time; a warp of it WM × WN; a thread TM × TN.
"""

from kernels.engine.device import device
from kernels.host import check_whole

__all__ = ["check_limits", "check_multiple", "check_rows", "check_whole_tiles", "registers_of"]

MAX_REGISTERS = 255  # a thread cannot name more
SPARE_REGISTERS = 24  # addresses, counters and limits, at the least


def check_whole_tiles(**tiles) -> tuple[int, ...]:
    """Return the sizes as ints of at least 1; TypeError or ValueError otherwise."""
    way_out = "give a number of elements, such as 8"
    return tuple(check_whole(size, name, way_out) for name, size in tiles.items())


def check_multiple(**pair) -> None:
    """Raise ValueError unless the first size is a multiple of the second: ``BM=128, TM=8``."""
    (name, size), (of, unit) = pair.items()
    if size % unit:
        fitting = max(size // unit, 1) * unit
        raise ValueError(f"{name}={size} is no multiple of {of}={unit}: use {name}={fitting}")


def check_rows(at_once: int, **tiles) -> None:
    """Raise ValueError unless `at_once` elements fill whole rows of each tile: ``512, BK=16``.

    A thread of such kernels loads the same columns of several rows.
    """
    for name, width in tiles.items():
        if at_once % width:
            raise ValueError(
                f"the {at_once} elements that the threads load at once fill no whole rows of"
                f" {name}={width}: use {name}={1 << (width.bit_length() - 1)}"
            )


def check_limits(threads: int, shared_bytes: int, registers: int, loaded=()) -> None:
    """Raise ValueError where a block asks for more than the device has.

    Parameters
    ----------
    threads : int
        Threads of a block.
    shared_bytes : int
        Shared memory of a block.
    registers : int
        Values that a thread holds at once in its arrays; addresses come on top.
    loaded : sequence of (str, int, int)
        Tiles that all threads load together: a name, such as ``"BM·BK"``, its elements, and how
        many the threads load at once, of which the tile must be a multiple.
    """
    limit = device().max_threads_per_block
    if threads > limit:
        raise ValueError(
            f"these tiles need {threads} threads a block; this GPU allows {limit}:"
            " use larger tiles a thread, or smaller ones a block"
        )
    if threads % device().warp_size:
        raise ValueError(
            f"these tiles need {threads} threads a block, which are no whole warps of"
            f" {device().warp_size}: use larger tiles a block, or smaller ones a thread"
        )
    for name, elements, at_once in loaded:
        if elements % at_once:
            raise ValueError(
                f"{name}={elements} is no multiple of the {at_once} elements that {threads} threads"
                " load at once: use a larger BK"
            )
    limit = device().shared_per_block
    if shared_bytes > limit:
        raise ValueError(
            f"these tiles need {shared_bytes} bytes of shared memory a block; the limit is {limit}:"
            " use a smaller BK, BM or BN"
        )
    if registers + SPARE_REGISTERS > MAX_REGISTERS:
        raise ValueError(
            f"these tiles need {registers} registers a thread and {SPARE_REGISTERS} for addresses;"
            f" a thread has {MAX_REGISTERS}: use a smaller TM or TN"
        )
    held = device().registers_per_block or 65536
    if (registers + SPARE_REGISTERS) * threads > held:
        raise ValueError(
            f"{threads} threads of {registers + SPARE_REGISTERS} registers need more than the"
            f" {held} of a block: use fewer threads, or a smaller TM or TN"
        )


def registers_of(threads: int, values: int) -> int:
    """Return how many registers a thread may have, for Numba's ``max_registers``.

    Parameters
    ----------
    threads : int
        Threads of a block.
    values : int
        Values that a thread holds at once in its arrays.

    Returns
    -------
    int
        So many that two blocks fit on an SM: while the threads of one wait at its barrier, those
        of the other compute. Where the values need more, as many as one block leaves.
    """
    held = device().registers_per_sm or 65536
    at_least = values + 16
    fitting = [held // (blocks * threads) // 8 * 8 for blocks in (2, 1)]
    return min(MAX_REGISTERS, next((most for most in fitting if most >= at_least), fitting[-1]))

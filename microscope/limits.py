"""What a launch may ask for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """CUDA's common limits, and some of the interpreter's own.

    Attributes
    ----------
    threads : int
        Threads of a block.
    shared_bytes : int
        Shared memory of a block.
    block, grid : tuple of int
        Largest sizes (x, y, z).
    trips : int
        Iterations of one loop, after which it counts as endless.
    loop_steps : int
        The same times the threads that run together: many threads need a long time for a trip.
    all_trips : int
        Iterations of all loops of a launch.
    launch_threads : int
        Threads of a whole launch.
    """

    threads: int = 1024
    shared_bytes: int = 48 * 1024
    block: tuple[int, int, int] = (1024, 1024, 64)
    grid: tuple[int, int, int] = (2**31 - 1, 65535, 65535)
    trips: int = 250_000
    loop_steps: int = 2**31
    all_trips: int = 10_000_000
    launch_threads: int = 2**31


LIMITS = Limits()

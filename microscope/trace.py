"""The record of one traced launch: its sites, problems and work, counted, mapped and told.

The counts are of the kernel *as written*: a compiler may merge, hoist or unroll loads, so the
hardware can issue fewer requests than a trace shows, never other ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from . import report
from .errors import KernelError
from .sites import WARP, ArraySeen, Heat, Problem, Site, Work

if TYPE_CHECKING:
    from .ptx.timeline import Timeline


@dataclass(eq=False)
class Trace:
    """The record of one traced launch.

    Attributes
    ----------
    kernel : str
        Name of the kernel.
    source : list of str
        Its source lines; the first is line `first_line` of `filename`.
    grid, block : tuple of int
        Launch configuration (x, y, z).
    blocks : int
        Number of blocks traced.
    schedule : str
    sites : list of Site
        In the order of the source.
    problems : list of Problem
        In the order they were found; empty for a sound kernel.
    barriers : dict of int to int
        Line to the number of barriers passed there, each block counted once.
    work : Work
    arrays : dict of str to ArraySeen
    shared_bytes : int
        Shared memory of a block, static and dynamic.
    local_bytes : int
        Bytes of `cuda.local.array` a thread declares.
    outputs : dict of str to ndarray
        The array arguments as the launch left them (copies: the caller's are never changed).
    asynchronous : dict of str to int
        Bytes that copies moved ("tma_load_bytes", read once; "tma_delivered_bytes", a multicast
        counted once a block; "tma_store_bytes", "cp_async_bytes"), blocks of "ldmatrix", and
        multiply-adds by pipe and format, such as "wgmma bfloat16".
    timeline : microscope.ptx.timeline.Timeline or None
        What happened when in the first cluster, of a kernel with asynchronous copies or products.
    """

    kernel: str
    source: list[str]
    first_line: int
    filename: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    blocks: int = 0
    schedule: str = "lockstep"
    sites: list[Site] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    barriers: dict[int, int] = field(default_factory=dict)
    work: Work = field(default_factory=Work)
    arrays: dict[str, ArraySeen] = field(default_factory=dict)
    shared_bytes: int = 0
    local_bytes: int = 0
    outputs: dict[str, np.ndarray] = field(default_factory=dict, repr=False)
    asynchronous: dict[str, int] = field(default_factory=dict)
    timeline: Timeline | None = field(default=None, repr=False)

    @property
    def threads_per_block(self) -> int:
        """Threads of a block."""
        x, y, z = self.block
        return x * y * z

    @property
    def warps_per_block(self) -> int:
        """Warps of a block; the last one may be partly empty."""
        return -(-self.threads_per_block // WARP)

    @property
    def resources(self) -> dict[str, int]:
        """What a block declares, as the occupancy calculator takes it."""
        return {"threads": self.threads_per_block, "shared_bytes": self.shared_bytes}

    def heat(self, name: str) -> Heat:
        """Loads and stores of every element of one array.

        Parameters
        ----------
        name : str
            The array's name in the kernel. For a shared array the counts of all traced blocks
            are added up.

        Returns
        -------
        Heat
            `loads` and `stores`, integer arrays of the array's shape.

        Raises
        ------
        KernelError
            When the launch was refused, as one of too many threads is.
        KeyError
            When the kernel has no such array.
        """
        if not self.arrays and self.problems:
            raise KernelError(f"the kernel did not run: {self.problems[0].message}")
        if name not in self.arrays:
            known = ", ".join(self.arrays) or "none"
            raise KeyError(f"no array {name!r} in this trace; it has: {known}")
        seen = self.arrays[name]
        return Heat(seen.loads, seen.stores)

    def count(self, *, space=None, op=None, array=None, line=None) -> dict[str, int]:
        """Counters summed over the sites that match.

        Returns
        -------
        dict
            requests, lanes, sectors, lines, wavefronts, conflicts, bytes_requested, bytes_used,
            bytes_transferred.
        """
        wanted = {"space": space, "op": op, "array": array, "line": line}
        chosen = [
            s for s in self.sites if all(v is None or getattr(s, k) == v for k, v in wanted.items())
        ]
        names = "requests lanes sectors lines wavefronts conflicts bytes_requested bytes_used"
        names = (*names.split(), "bytes_transferred")
        return {n: sum(getattr(s, n) for s in chosen) for n in names}

    def summary(self) -> dict:
        """The launch in one flat dictionary of numbers."""
        work = self.work
        shared = self.count(space="shared")
        global_ = self.count(space="global")
        return {
            "kernel": self.kernel,
            "grid": self.grid,
            "block": self.block,
            "blocks": self.blocks,
            "flops": dict(work.flops),
            "special": work.special,
            "requests": global_["requests"],
            "sectors": global_["sectors"],
            "bytes_requested": work.bytes_requested,
            "bytes_transferred": work.bytes_transferred,
            "bytes_unique": work.bytes_unique,
            "intensity_requested": work.intensity_requested,
            "intensity_transferred": work.intensity_transferred,
            "intensity_unique": work.intensity_unique,
            "shared_requests": shared["requests"],
            "wavefronts": shared["wavefronts"],
            "conflicts": shared["conflicts"],
            "barriers": sum(self.barriers.values()),
            "shared_bytes": self.shared_bytes,
            "problems": len(self.problems),
        }

    def table(self):
        """The sites under the kernel's own source lines (see `report.table`)."""
        return report.table(self)

    def __repr__(self) -> str:
        verdict = f"{len(self.problems)} problem(s)" if self.problems else "no problem"
        return (
            f"<Trace of {self.kernel}: {self.blocks} block(s) of {self.threads_per_block} threads, "
            f"{len(self.sites)} memory accesses in the source, {verdict}>"
        )

"""What the microscope sees at one place of a kernel: plain data, and the arithmetic on it."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass, field

import numpy as np

SECTOR = 32  #: bytes the memory system moves at least
LINE = 128  #: bytes of a cache line: four sectors
WARP = 32  #: threads that run in lockstep
BANKS = 32  #: banks of shared memory, four bytes wide each
BANK_BYTES = 4

Heat = namedtuple("Heat", "loads stores")
Heat.__doc__ = "How often every element of an array was loaded and stored: two integer arrays."


class Kind:
    """The kinds of `Problem`."""

    READ_AFTER_WRITE = "race: read after write"
    WRITE_AFTER_READ = "race: write after read"
    WRITE_AFTER_WRITE = "race: write after write"
    DIVERGENT_BARRIER = "divergent barrier"
    BARRIER_AFTER_RETURN = "barrier after return"
    OUT_OF_BOUNDS = "out of bounds"
    NEGATIVE_INDEX = "negative index"
    UNINITIALISED = "uninitialised read"
    SHARED_LIMIT = "too much shared memory"
    BLOCK_LIMIT = "too many threads"
    ENDLESS_LOOP = "endless loop"
    MISALIGNED = "misaligned access"
    TOO_EARLY = "read before the copy has landed"
    OVERWRITTEN = "overwritten while still read"
    ACCUMULATORS = "sums touched before their wait"
    REGISTER_FENCE = "missing wgmma fence"
    COMMIT = "missing commit"
    PROXY_FENCE = "missing proxy fence"
    NO_BARRIER = "no barrier here"
    ARRIVALS = "wrong arrivals"
    BYTES = "wrong bytes at a barrier"
    DESCRIPTOR = "wrong descriptor"
    SWIZZLE = "swizzles differ"
    BLOCK_LEFT = "block has left"
    DEADLOCK = "deadlock"


@dataclass(eq=False)
class Request:
    """One warp's memory instruction, kept as the example of its site.

    Attributes
    ----------
    addresses : ndarray of int64, shape (32,)
        Byte address each lane asks for, counted from the start of the array's allocation
        (global, taken to be 256-byte aligned) or of the block's shared memory.
    active : ndarray of bool, shape (32,)
        Lanes that take part.
    block : tuple of int
        Block index (x, y, z).
    warp : int
        Number of the warp in its block.
    itemsize : int
        Bytes a lane asks for.
    space : str
        "global" or "shared".
    """

    addresses: np.ndarray
    active: np.ndarray
    block: tuple[int, int, int]
    warp: int
    itemsize: int
    space: str = "global"

    @property
    def sectors(self) -> list[int]:
        """Start addresses of the 32-byte sectors the warp touches, ascending."""
        asked = self.addresses[self.active]
        return [int(s) * SECTOR for s in np.unique(asked // SECTOR)]

    @property
    def banks(self) -> np.ndarray:
        """Bank (0 to 31) of the first four bytes each lane asks for."""
        return self.addresses // BANK_BYTES % BANKS


@dataclass(eq=False)
class Site:
    """Everything counted at one memory access of the source.

    Attributes
    ----------
    line : int
        Line of the source file.
    column : int
        Column of the expression in that line.
    expr : str
        The access as it stands in the source, such as ``A[row, k]``.
    array : str
        Name of the array.
    space : {"global", "shared", "local", "constant"}
        Of "local" and "constant" accesses only requests and lanes are meaningful.
    op : {"load", "store", "atomic"}
    itemsize : int
        Bytes a lane asks for: those of an element, or of four where they go at once.
    requests : int
        Warp instructions issued.
    lanes : int
        Active threads, summed over the requests.
    sectors, lines : int
        32-byte sectors and 128-byte lines, summed over the requests (global memory).
    wavefronts, conflicts : int
        Passes over the banks, and those of them that a conflict-free layout would not need
        (shared memory).
    bytes_used : int
        Distinct bytes asked for, request by request: a broadcast counts once.
    histogram : dict of int to int
        Requests by their number of sectors (global) or wavefronts (shared).
    example : Request or None
        The first request, for a picture.
    unit : {"LSU", "TMA"}
        Who makes the requests: the load/store unit, of a warp each, or the TMA unit, of a box each.
    ordered : bool
        Whether it orders other accesses: a store that releases, a load that acquires.
    """

    line: int
    column: int
    expr: str
    array: str
    space: str
    op: str
    itemsize: int
    requests: int = 0
    lanes: int = 0
    sectors: int = 0
    lines: int = 0
    wavefronts: int = 0
    conflicts: int = 0
    bytes_used: int = 0
    histogram: dict[int, int] = field(default_factory=dict)
    example: Request | None = field(default=None, repr=False)
    unit: str = "LSU"
    ordered: bool = False

    @property
    def tells(self) -> bool:
        """Whether blocks may tell each other something by it: two of these do not race."""
        return self.ordered or self.op == "atomic"

    @property
    def bytes_requested(self) -> int:
        """Bytes asked for by all threads together: a broadcast counts once a thread.

        Of boxes by the TMA unit: the bytes of them that lie in the matrix.
        """
        return self.bytes_used if self.unit == "TMA" else self.lanes * self.itemsize

    @property
    def bytes_transferred(self) -> int:
        """Bytes moved: whole sectors (global), 128 bytes a wavefront (shared)."""
        return self.wavefronts * LINE if self.space == "shared" else self.sectors * SECTOR

    @property
    def sectors_per_request(self) -> float:
        """Sectors an average request needs; 4 is the best for 32 different floats."""
        return self.sectors / self.requests if self.requests else 0.0

    @property
    def wavefronts_per_request(self) -> float:
        """Wavefronts an average request needs; 1 means no conflict (for elements to 4 bytes)."""
        return self.wavefronts / self.requests if self.requests else 0.0


@dataclass
class Problem:
    """Something the kernel must not do, with one example and a count.

    Attributes
    ----------
    kind : str
        One of `Kind`.
    line, other_line : int or None
        Line of the access, and of the other access of a race.
    array : str or None
    element : tuple of int or None
        Index of the element, as the kernel wrote it when it is out of bounds.
    block, thread, other_thread : tuple of int or None
        The example: block index, and thread indices, as (x, y, z).
    other_block : tuple of int or None
        Block of the other thread where it is another one.
    same_warp : bool or None
        Of a race: do both threads belong to one warp?
    stage, step : int or None
        Of a copy: which of the mbarriers made at one line counts it, by address, and in which of
        its phases.
    count : int
        Threads concerned; for a race, elements concerned.
    message : str
        One sentence for a learner.
    """

    kind: str
    line: int | None = None
    other_line: int | None = None
    array: str | None = None
    element: tuple | None = None
    block: tuple | None = None
    thread: tuple | None = None
    other_thread: tuple | None = None
    other_block: tuple | None = None
    same_warp: bool | None = None
    stage: int | None = None
    step: int | None = None
    count: int = 1
    message: str = ""

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line is not None else ""
        return f"{where}{self.message}"


@dataclass
class Work:
    """What a traced launch computes and moves.

    Attributes
    ----------
    flops : dict of str to int
        Floating-point operations by type; a multiplication and an addition are two.
    flops_by_line : dict of int to int
    special : int
        Calls of functions such as `math.exp`.
    bytes_requested : int
        Global bytes asked for, thread by thread, and those of boxes by TMA.
    bytes_transferred : int
        Global bytes moved: sectors times 32.
    bytes_unique : int
        Distinct global bytes loaded plus distinct global bytes stored: the least possible.
    """

    flops: dict[str, int] = field(default_factory=dict)
    flops_by_line: dict[int, int] = field(default_factory=dict)
    special: int = 0
    bytes_requested: int = 0
    bytes_transferred: int = 0
    bytes_unique: int = 0

    @property
    def total_flops(self) -> int:
        """Operations of all types together."""
        return sum(self.flops.values())

    @property
    def intensity_requested(self) -> float:
        """FLOP per byte asked for."""
        return self._per(self.bytes_requested)

    @property
    def intensity_transferred(self) -> float:
        """FLOP per byte moved in sectors."""
        return self._per(self.bytes_transferred)

    @property
    def intensity_unique(self) -> float:
        """FLOP per byte if every element moved once: the most a kernel can reach."""
        return self._per(self.bytes_unique)

    def _per(self, n: int) -> float:
        return self.total_flops / n if n else 0.0


@dataclass(eq=False)
class ArraySeen:
    """An array the kernel touched, and how often it touched each element."""

    name: str
    space: str
    shape: tuple[int, ...]
    dtype: np.dtype
    loads: np.ndarray = field(repr=False)
    stores: np.ndarray = field(repr=False)

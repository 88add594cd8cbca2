"""What a block has besides its threads: shared memory by address, queues, and who knows what.

Shared memory is addressed in bytes, as instructions take it. The system keeps the first KiB;
dynamic memory begins 16 bytes behind it, as it may on a GPU, unless it is declared with an
alignment: a kernel which forgets to round its address up to 1024 is found out. Declared arrays
come after it.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

import numpy as np

from ..errors import KernelError
from ..memory import Array
from ..sites import WARP, Kind, Problem, Site
from ..values import is_value
from .clocks import Clash, ClockedAccess, Words, words_of
from .timeline import Timeline

SPACE = 1 << 18  # bytes that 18 bits of address reach
DYNAMIC = 1024 + 16
MOST_SHARED = 227 * 1024  # bytes of a block on a GPU of sm_90
MOST_STATIC = 48 * 1024  # bytes of declared arrays
MOST_BARRIERS = 64  # of a block
SM_REGISTERS, MOST_REGISTERS = 65536, 256  # of an SM, of a thread
KEY = "ptx"  # under which runners find their block


@dataclass(eq=False)
class Wait:
    """A request to wait for something that other warps, or copies, bring about.

    Attributes
    ----------
    line : int
    ready : callable
        Says whether it has come.
    missing : callable
        Says in words what is lacking.
    barrier : int or None
        Shared address of the mbarrier, if it is one.
    why : callable
        Says in words what may be the cause, behind `missing`, if nothing can go on.
    """

    line: int
    ready: object
    missing: object
    barrier: int | None = None
    why: object = str


@dataclass(eq=False)
class Queue:
    """Copies of one warp that complete in the groups in which they were committed."""

    actor: int
    groups: list = field(default_factory=list)  # of committed operations
    open: list = field(default_factory=list)
    waited: int = 0  # groups known to be over
    lane: int | None = None  # the thread that asked, where it is one


class Warp:
    """One warp of a block, as the asynchronous hardware sees it."""

    def __init__(self, block: Block, index: int):
        cluster = block.cluster
        self.block, self.index, self.actor = block, index, cluster.actor()
        self.copies, self.stores = Queue(cluster.actor()), Queue(cluster.actor())
        self.clock = np.zeros(cluster.actors, np.int64)
        self.fenced = np.zeros(cluster.actors, np.int64)
        self.clock[self.actor] = 1
        self.registers = block.registers  # of a thread
        self.registers_fenced = False  # whether wgmma may touch registers
        self.ended = False
        self.at = None  # phase of the cluster's barrier that it waits for

    @property
    def warpgroup(self):
        return self.block.warpgroups[self.index // 4]

    def thread(self, lane: int) -> tuple:
        """Index (x, y, z) of a lane's thread."""
        bx, by, _ = self.block.cluster.session.block
        t = self.index * 32 + lane
        return t % bx, t // bx % by, t // (bx * by)

    def acquire(self, clock: np.ndarray, fenced: np.ndarray) -> None:
        """Take over the clocks that others have released."""
        np.maximum(self.clock, clock, out=self.clock)
        np.maximum(self.fenced, fenced, out=self.fenced)

    def release(self) -> tuple[np.ndarray, np.ndarray]:
        """The clocks of what this warp knows, for others; what it does from now on is later."""
        known = self.clock.copy(), self.fenced.copy()
        self.clock[self.actor] += 1
        return known


class Block:
    """One block of a cluster."""

    def __init__(self, cluster: Cluster, rank: int, number: tuple):
        session = cluster.session
        self.cluster, self.rank, self.number = cluster, rank, number
        self.memory = np.full(SPACE, 0xFF, np.uint8)
        padded = -(-max(session.dynamic_bytes, 1) // 16) * 16
        alignment = session.compiled.alignment
        self.start = -(-DYNAMIC // alignment) * alignment
        self.static = -(-(self.start + padded) // 1024) * 1024
        self.dynamic = self.memory[self.start : self.start + padded]
        self.end = self.start + session.dynamic_bytes  # of what the block has asked for
        self.words = None
        if session.tracer is not None:
            self.words = Words(min(SPACE, self.static + MOST_STATIC), cluster.actors)
        self.free = 0  # registers that warps have given back
        self.warps = [Warp(self, w) for w in range(session.warps_per_block)]
        self.warpgroups: list = []
        self.arrays: dict[int, object] = {}  # buffers by their first byte
        self.barriers: dict[int, object] = {}
        self.named: dict[int, object] = {}
        self.left = False
        self.deliveries: list[tuple] = []  # copies into this block: (actor, step, event)
        self.arrivals: list[tuple] = []  # from other blocks: (actor, step, line, thread, block)
        self.events: dict[tuple, ClockedAccess] = {}

    @property
    def registers(self) -> int:
        """Of a thread at the launch: the compiler gives as many as the SM has for such a block."""
        threads = WARP * self.cluster.session.warps_per_block
        return min(MOST_REGISTERS, SM_REGISTERS // threads // 8 * 8)

    @property
    def all_registers(self) -> int:
        """Of all threads together."""
        return self.registers * WARP * len(self.warps)

    def place(self, base: int, buffer) -> None:
        """Let a declared array lie at `base` behind dynamic memory."""
        start, size = self.static + base, buffer.flat.nbytes
        self.arrays[start] = buffer
        self.end = max(self.end, start + size)
        buffer.flat = self.memory[start : start + size].view(buffer.dtype)

    def place_of(self, byte: int) -> str:
        """What messages call a byte: its element, or its number in an array of bytes."""
        start = max((start for start in self.arrays if start <= byte), default=None)
        if start is None or self.arrays[start].name is None:
            return f"byte {byte} of shared memory"
        buffer = self.arrays[start]
        element = (byte - start) // buffer.dtype.itemsize
        if buffer.dtype == np.uint8 or element >= buffer.size:
            return f"byte {byte - start} of `{buffer.name}`"
        index = ", ".join(str(int(i)) for i in np.unravel_index(element, buffer.shape))
        return f"{buffer.name}[{index}]"

    def address_of(self, a: Array):
        """Address of an array's first element."""
        start = a.buffer.flat.__array_interface__["data"][0]
        return start - self.memory.__array_interface__["data"][0] + a.offset * a.dtype.itemsize

    def has(self, address, size: int):
        """Say whether some bytes are the block's own; of several addresses, of each."""
        gap = self.start + self.cluster.session.dynamic_bytes
        inside = (self.start <= address) & (address + size <= self.end)
        return inside & ((address >= self.static) | (address + size <= gap))

    # -- who touches what

    def watch(self, tracer, buffer) -> None:
        """Let ordinary accesses of a shared array be compared with asynchronous ones."""
        tracer.races[buffer] = Watched(self, buffer)
        tracer.written.pop(buffer, None)

    def reads(
        self, where, warp: Warp, event: ClockedAccess, actor=None, step=None, knows=None
    ) -> None:
        """Note that words are read."""
        if self.words is None:
            return
        clock, fenced = knows or (warp.clock, warp.fenced)
        actor = warp.actor if actor is None else actor
        step = warp.clock[actor] if step is None else step
        clash = self.words.read(where, clock, fenced, actor, int(step), event)
        if clash is not None:
            self.clashes(clash, event, "reads")

    def writes(self, where, warp: Warp, event: ClockedAccess, actor=None, step=None) -> None:
        """Note that words are written."""
        if self.words is None:
            return
        actor = warp.actor if actor is None else actor
        step = warp.clock[actor] if step is None else step
        clash = self.words.write(where, warp.clock, warp.fenced, actor, int(step), event)
        if clash is not None:
            self.clashes(clash, event, "writes")

    def event(self, what: str, line: int, warp: Warp, lane: int) -> ClockedAccess:
        """An ordinary access, the same object each time."""
        key = what, line, warp.index, lane
        if key not in self.events:
            self.events[key] = ClockedAccess(what, line, self.number, warp.thread(lane))
        return self.events[key]

    def warp_of(self, thread: tuple) -> int:
        """Number of a thread's warp."""
        bx, by, _ = self.cluster.session.block
        x, y, z = thread
        return (x + bx * (y + by * z)) // WARP

    def who(self, event: ClockedAccess) -> str:
        """Whose access it is: a warp's, where its threads act together."""
        if event.what == "wgmma":
            return f"warp {self.warp_of(event.thread)}"
        return f"thread {event.thread}"

    def clashes(self, clash: Clash, second: ClockedAccess, op: str) -> None:
        """Turn a clash into a problem."""
        first, byte = clash.first, clash.word * 4
        where = self.place_of(byte)
        if first is None:
            kind = Kind.UNINITIALISED
            text = (
                f"{second.what} of thread {second.thread} reads {where}, which nobody has written "
                "yet: wait for the copy that brings it, or fill it first"
            )
        elif clash.unfenced and first.reads:
            kind = Kind.PROXY_FENCE
            text = (
                f"{second.what} of line {second.line} {op} {where}, which thread {first.thread} "
                f"has read at line {first.line} by {first.what}: the asynchronous proxy may "
                "overtake it; call fence_proxy_async() behind the read, before the barrier"
            )
        elif clash.unfenced:
            kind = Kind.PROXY_FENCE
            text = (
                f"{second.what} of line {second.line} {op} {where}, where thread {first.thread} "
                f"has put something at line {first.line} by an ordinary store: the asynchronous "
                "proxy need not see it; call fence_proxy_async() behind the store, in the thread "
                "that stores, before the barrier"
            )
        elif first.barrier is not None and op == "reads":
            kind, bar = Kind.TOO_EARLY, first.barrier
            text = (
                f"{second.what} of {self.who(second)} of block {second.block} reads {where} "
                f"while the copy of line {first.line} may still be writing it: nothing here has "
                f"waited for phase {first.phase} (parity {first.phase % 2}) of {bar.name}"
            )
            passed = bar.passed.get(self.warp_of(second.thread), (0, 0, -1, False))
            line, bit, phase, idle = passed[:4]
            if idle and phase == first.phase:
                text += f": line {line} asked for parity {bit} in phase {phase}, and didn't wait"
        elif op == "writes" and first.reads:
            kind = Kind.OVERWRITTEN
            what = "wgmma_wait_group" if "wgmma" in first.what else "their barrier"
            if "bulk" in first.what:
                what = "cp_async_bulk_wait_group_read"
            text = (
                f"{second.what} of line {second.line} writes {where} while {first.what} of line "
                f"{first.line} ({self.who(first)} of block {first.block}) may still read it: "
                f"free it only behind {what}"
            )
        else:
            kind = Kind.READ_AFTER_WRITE if op == "reads" else Kind.WRITE_AFTER_WRITE
            text = (
                f"{second.what} of line {second.line} (thread {second.thread}) {op} {where}, which "
                f"{first.what} of line {first.line} (thread {first.thread}) writes: nothing orders "
                "the two; put a barrier, or a wait for the copy, between them"
            )
        copies = (e for e in (second, first) if e is not None and e.barrier is not None)
        copy = next(copies, None)
        self.cluster.problem(
            kind, second.line, text, self.number, second.thread,
            key=(first and first.line, first and first.what), count=clash.count,
            other_line=first.line if first is not None else None,
            stage=copy and copy.barrier.stage, step=copy and copy.phase,
        )  # fmt: skip


class Watched:
    """Stands where the tracer keeps its races of a buffer; warps meet by clocks instead."""

    def __init__(self, block: Block, buffer):
        self.block, self.buffer = block, buffer
        start = buffer.flat.__array_interface__["data"][0]
        self.start = start - block.memory.__array_interface__["data"][0]

    def note(self, access) -> None:
        """An ordinary access by some lanes of a warp."""
        site, cells, mask, lanes = access
        warp, size = self.block.warps[lanes.warp], self.buffer.dtype.itemsize
        cells = lanes.full(cells).reshape(-1)
        if mask.array is not None:
            on = lanes.full(mask.array).reshape(-1)
            cells, lane = cells[on], int(np.argmax(on))
        else:
            lane = 0
        what = {"load": "a load", "store": "a store"}.get(site.op, "an atomic")
        event = self.block.event(what, site.line, warp, lane)
        where = words_of(self.start + cells * size, size)
        if site.op == "load":
            event.reads = True
            self.block.reads(where, warp, event)
        elif site.op == "store":
            self.block.writes(where, warp, event)

    def finish(self) -> None:
        """Nothing is put by."""

    def sync_blocks(self, blocks) -> None:
        """Clocks do it."""

    sync_warps = release = sync_blocks
    sync_grid = finish


class Cluster:
    """Blocks that run together, one if the kernel asks for no cluster.

    Attributes
    ----------
    flying : list
        What has been asked for and has not happened yet: each has ``land()``.
    landing : {"earliest", "latest", "mixed"}
    """

    def __init__(self, session, numbers: list[tuple], landing: str, seed: int):
        self.session, self.landing = session, landing
        per_block = 3 * session.warps_per_block + -(-session.warps_per_block // 4) + MOST_BARRIERS
        self.actors, self._next = 1 + len(numbers) * per_block, 1
        self.flying: list = []
        self.chance = np.random.default_rng(seed)
        self.blocks = [Block(self, rank, number) for rank, number in enumerate(numbers)]
        self.phase, self.arrived, self.released = 0, {}, ()  # of the cluster's own barrier
        self.timeline = None
        if session.tracer is not None and session.tracer.trace.timeline is None:
            self.timeline = session.tracer.trace.timeline = Timeline()

    def actor(self) -> int:
        """A number for one more actor."""
        self._next += 1
        if self._next > self.actors:
            raise KernelError(f"a block has more than {MOST_BARRIERS} mbarriers: use fewer")
        return self._next - 1

    def ask(self, operation) -> None:
        """Something is to happen from now on: at once, or later."""
        if self.landing == "earliest":
            operation.land()
        else:
            self.flying.append(operation)

    def land(self, operation) -> None:
        """Let something happen that may not have happened yet."""
        if operation in self.flying:
            self.flying.remove(operation)
            operation.land()

    def some_land(self) -> None:
        """Let chance decide what happens now."""
        while self.flying and self.chance.random() < 0.4:
            self.land(self.flying[int(self.chance.integers(len(self.flying)))])

    def note(self, what: str, block: Block, line: int, *rest, **named) -> None:
        """Record what happens in a traced launch's first cluster: see `Timeline.note`."""
        if self.timeline is not None:
            self.timeline.note(what, block.rank, line, *rest, **named)

    def count(self, what: str, n: int) -> None:
        """Add to a trace's counts."""
        if self.session.tracer is not None:
            seen = self.session.tracer.trace.asynchronous
            seen[what] = seen.get(what, 0) + int(n)

    def problem(
        self, kind, line, message, block=None, thread=None, key=(), count=1, other_line=None,
        stage=None, step=None,
    ) -> None:  # fmt: skip
        """Note a problem; a plain launch stops at it."""
        problem = Problem(
            kind, line=line, other_line=other_line, block=block, thread=thread, stage=stage,
            step=step, message=message,
        )  # fmt: skip
        tracer = self.session.tracer
        if tracer is None:
            raise KernelError(str(problem))
        tracer.problem((kind, line, *key), problem, count)


# -- what instructions need of a runner


def here(run) -> Warp:
    """The warp that runs."""
    return run.shared[KEY].warps[run.lanes.warp]


def spread(run, v) -> np.ndarray:
    """A lane value as one number a lane."""
    return run.lanes.full(v).reshape(-1)


def active(run, m) -> np.ndarray:
    """The active lanes."""
    return run.lanes.full(run.array_of(m)).reshape(-1)


def chosen(run, m, *numbers) -> list:
    """Lane values as those of the active lanes."""
    on = active(run, m)
    return [spread(run, v)[on] for v in numbers]


def first_lane(run, m) -> int:
    return int(np.argmax(active(run, m)))


def together(run, n, m, who="the 32 threads of a warp") -> None:
    """Note an instruction for all threads of a warp that some do not come to."""
    if m.array is None or active(run, m).all():
        return
    lane = int(np.argmin(active(run, m)))
    warp = here(run)
    message = (
        f"{ast.unparse(n.func)} is called by all of {who}, and thread {warp.thread(lane)} of block "
        f"{warp.block.number} takes another way"
    )
    warp.block.cluster.problem(
        Kind.DIVERGENT_BARRIER, n.lineno, message, warp.block.number, warp.thread(lane)
    )


def access(run, n, m, op: str, addresses: np.ndarray, size: int, what: str) -> np.ndarray:
    """Check and count an access of a warp to shared memory by address.

    Parameters
    ----------
    addresses : ndarray of int, shape (lanes,)
    size : int
        Bytes a lane accesses.

    Returns
    -------
    ndarray of bool, shape (lanes,)
        Active lanes whose bytes are there.
    """
    warp = here(run)
    block, on = warp.block, active(run, m).copy()
    fit = block.has(addresses, size)
    wrong = on & ~(fit & (addresses % size == 0))
    for lane in np.nonzero(wrong)[0]:
        address, fits = int(addresses[lane]), fit[lane]
        on[lane] = False
        kind = Kind.MISALIGNED if fits else Kind.OUT_OF_BOUNDS
        why = f"no multiple of {size}" if fits else "outside the shared memory that the block has"
        block.cluster.problem(
            kind, n.lineno, f"thread {warp.thread(lane)} of block {block.number} {op} {size} bytes "
            f"at shared address {address}, {why}", block.number, warp.thread(lane),
        )  # fmt: skip
    if not on.any():
        return on
    if run.tracer is not None:
        _count(run, n, "load" if op == "reads" else "store", addresses, on, size)
    event = block.event(what, n.lineno, warp, int(np.argmax(on)))
    where = words_of(addresses[on], size)
    if op == "reads":
        event.reads = True
        block.reads(where, warp, event)
    else:
        block.writes(where, warp, event)
    return on


def _count(run, n, op: str, addresses, on, size: int) -> None:
    """Wavefronts of an access by address."""
    key = n, op, "shared memory", "shared", size
    site = run.tracer.sites.get(key)
    if site is None:
        text = ast.unparse(n)
        site = Site(n.lineno, n.col_offset, text, "shared memory", "shared", op, size)
        run.tracer.sites[key] = site
    shape = run.lanes.shape
    mask = run.lanes.mask(on.reshape(shape), run.lanes.all)
    run.tracer._cost(site, _Bytes, addresses.astype(np.int64).reshape(shape), mask, run.lanes)


class _Bytes:
    """Shared memory, as the tracer counts it: elements are bytes."""

    space, base, dtype, pitch = "shared", 0, np.dtype(np.uint8), 1


def number(v, what: str, n) -> int:
    """A number that all threads agree on."""
    if not is_value(v) or isinstance(v, np.ndarray):
        raise KernelError(f"line {n.lineno}: {what} must be the same in all threads")
    return int(v)

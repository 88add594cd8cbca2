"""Launches: check the configuration, cut the grid into chunks, decide who runs when."""

from __future__ import annotations

import numbers
import os
import sys
import time
import types
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from . import signatures, values
from .arguments import bind, host_array, private
from .compiled import Compiled
from .errors import KernelError, StopRun
from .inference import compile_kernel
from .interpreter import Runner
from .lanes import Lanes
from .limits import LIMITS, Limits
from .memory import Array, contents
from .ptx.blocks import MOST_SHARED
from .ptx.schedule import LANDINGS, run_cluster
from .ptx.tensor_maps import MapBuffer
from .session import Barrier, Session
from .sites import Kind, Problem
from .source import Code, code_of
from .trace import Trace
from .tracer import Tracer
from .variables import item_at, type_of

SCHEDULES = ("lockstep", "warps", "warps-reversed")
CHUNK_LANES = 1 << 16  # threads run at once: enough for speed, little enough for the caches
COOPERATIVE_THREADS = 132 * 2048  # what an H100 holds at once
CHUNK_BLOCKS = 1 << 10  # blocks run at once: each holds shared memory
PROGRESS_AFTER = 2.0  # seconds


class Launch(Session):
    """One launch of a kernel.

    Parameters
    ----------
    compiled : Compiled
    grid, block : tuple of int
    arguments : list
        Arrays and numbers, as `arguments.argument` makes them.
    tracer : Tracer or None
    shared_bytes : int
        Dynamic shared memory of a block.
    limits : Limits, optional
        How long its loops may run; `LIMITS` if left out.
    debug : bool
        Whether the kernel was compiled with ``debug=True``: a division by zero is an error then.
    """

    def __init__(
        self, compiled, grid, block, arguments, tracer, shared_bytes, limits=None, debug=False
    ):
        limits = limits or LIMITS
        if compiled.asynchronous:
            limits = replace(limits, shared_bytes=max(limits.shared_bytes, MOST_SHARED))
        super().__init__(grid, block, tracer, shared_bytes, limits)
        self.compiled, self.arguments = compiled, arguments
        self.debug = debug
        self.threads = block[0] * block[1] * block[2]

    def run(self, blocks: np.ndarray | range, schedule: str, landing: str) -> None:
        """Run some blocks of the grid.

        Parameters
        ----------
        blocks : sequence of int
            Their numbers, x running fastest.
        schedule : str
            One of `SCHEDULES`.
        landing : str
            One of `LANDINGS`.
        """
        if self.compiled.asynchronous:
            self.by_clusters(blocks, schedule, landing)
            return
        if self.threads == 1 and _spins(self.compiled, set()):
            schedule = "warps"  # whoever holds a lock must be able to go on
        step = 1
        if self.compiled.cooperative:
            step = self.all_at_once(len(blocks))
        elif schedule == "lockstep":
            step = min(CHUNK_BLOCKS, max(1, CHUNK_LANES // self.threads))
        progress = ProgressBar(self.compiled.code.name, len(blocks))
        start = 0
        with np.errstate(all="ignore"), self.explained():
            while start < len(blocks):
                chunk = np.asarray(blocks[start : start + step], np.int64)
                if schedule == "lockstep":
                    self.in_lockstep(chunk)
                else:
                    self.by_warps(chunk, reverse=schedule == "warps-reversed")
                if self.tracer is not None:
                    self.tracer.unwatch_shared()
                start += step
                progress.show(min(start, len(blocks)))
        progress.close()

    def by_clusters(self, blocks: np.ndarray | range, schedule: str, landing: str) -> None:
        """One cluster after the other; those of which a block is chosen run whole."""
        size = self.compiled.cluster
        if self.grid[0] % size:
            raise KernelError(
                f"a grid of {self.grid[0]} blocks in x has no whole clusters of {size}: round up"
            )
        if self.compiled.cooperative:
            raise KernelError("a kernel of asynchronous copies can't wait for the grid here")
        firsts = sorted({int(b) // size * size for b in blocks})
        progress = ProgressBar(self.compiled.code.name, len(firsts))
        with np.errstate(all="ignore"), self.explained():
            for k, first in enumerate(firsts):
                run_cluster(self, np.arange(first, first + size), schedule, landing)
                if self.tracer is not None:
                    self.tracer.unwatch_shared()
                progress.show(k + 1)
        progress.close()

    def all_at_once(self, blocks: int) -> int:
        """Blocks that run together if they wait for each other: all, and not too many."""
        most = COOPERATIVE_THREADS // self.threads
        if blocks > most:
            raise KernelError(
                f"{self.compiled.code.name} waits for the whole grid, so its {blocks} blocks must "
                f"run at once; {most} of this size can: launch fewer, and let each do more"
            )
        return blocks

    def indices(self, numbers: np.ndarray) -> np.ndarray:
        """Block indices (x, y, z) of block numbers, one a row."""
        gx, gy, _ = self.grid
        return np.stack([numbers % gx, numbers // gx % gy, numbers // (gx * gy)], axis=1)

    def in_lockstep(self, chunk: np.ndarray) -> None:
        """All threads of some blocks, instruction by instruction together."""
        runner = Runner(self, Lanes(self.block, self.indices(chunk), self.grid), {})
        generator = self.start(runner)
        answer = None
        while True:
            try:
                barrier = generator.send(answer)
            except StopIteration:
                return
            self.meet([barrier])
            answer = barrier.result

    def by_warps(self, chunk: np.ndarray, reverse: bool) -> None:
        """One warp after another, each running until it meets a barrier or ends."""
        shared: dict = {}
        warps = range(self.warps_per_block)
        runners = [
            Runner(self, Lanes(self.block, self.indices(chunk), self.grid, w), shared)
            for w in (reversed(warps) if reverse else warps)
        ]
        waiting = {r: self.start(r) for r in runners}
        answers: dict = dict.fromkeys(runners)
        while waiting:
            barriers = []
            for r, generator in list(waiting.items()):
                try:
                    barriers.append(generator.send(answers[r]))
                except StopIteration:
                    del waiting[r]
                self.turns += len(runners) > 1
            if barriers:
                self.meet(barriers, [r for r in runners if r not in waiting])
                answers = {b.runner: b.result for b in barriers}

    def start(self, runner: Runner):
        """The kernel in one group of lanes, as a generator that yields at barriers."""
        env = dict(zip(self.compiled.code.parameters, self.arguments, strict=True))
        return runner.call(self.compiled, env, runner.lanes.all)

    # -- barriers

    def meet(self, barriers: list[Barrier], ended: Iterable[Runner] = ()) -> None:
        """Let the threads that have come to a barrier pass it; note who is missing."""
        first = barriers[0]
        lanes = first.runner.lanes
        present = [b.runner.array_of(b.mask) for b in barriers]
        came = np.broadcast_to(present[0], lanes.shape).reshape(lanes.blocks, -1).any(axis=1)
        if first.mask.array is None or len(barriers) > 1 or first.whole_grid:
            came = np.ones(lanes.blocks, bool)
        if any(b.mask.array is not None for b in barriers) or ended:
            self.check_complete(barriers, ended, came)
        lines = {b.line for b in barriers}
        if len(lines) > 1:
            a, b = sorted(lines)[:2]
            self.divergence(
                first, first.mask, Kind.DIVERGENT_BARRIER, 0,
                f"some warps of block {lanes.block_at(0)} wait at the barrier of line {a}, others "
                f"at that of line {b}: every thread of a block must reach the same barrier",
            )  # fmt: skip
        if self.tracer is not None:
            for line in lines:
                self.tracer.barriers[line] += int(came.sum())
            if first.whole_grid:
                for races in self.tracer.races.values():
                    races.sync_grid()
                return
            blocks = None if came.all() else lanes.block_number[came].reshape(-1)
            for races in self.tracer.races.values():
                races.sync_blocks(blocks)
        if first.reduce is not None:
            self.reduce(barriers)

    def check_complete(self, barriers, ended, came: np.ndarray) -> None:
        """Look for threads that a barrier waits for in vain."""
        for b in barriers:
            lanes = b.runner.lanes
            if b.mask.array is None:
                continue
            column = came.reshape(-1, 1, 1, 1)
            missing = ~np.broadcast_to(b.mask.array, lanes.shape) & column
            gone = np.zeros((1, 1, 1, 1), bool)
            if b.runner.exited is not None:
                gone = b.runner.array_of(b.runner.exited)
            for kind, lost in (
                (Kind.BARRIER_AFTER_RETURN, missing & gone),
                (Kind.DIVERGENT_BARRIER, missing & ~gone),
            ):
                if lost.any():
                    self.incomplete(b, kind, lanes, lost)
        for r in ended:
            everyone = np.ones(r.lanes.shape, bool)
            self.incomplete(barriers[0], Kind.BARRIER_AFTER_RETURN, r.lanes, everyone)

    def incomplete(self, barrier: Barrier, kind: str, lanes: Lanes, lost: np.ndarray) -> None:
        n = int(np.count_nonzero(lost))
        block, thread, _ = lanes.first(lost)
        if kind == Kind.BARRIER_AFTER_RETURN:
            why = (
                "has already returned: let every thread reach the barrier, and guard the loads "
                "and stores instead of returning early"
            )
        else:
            why = (
                "takes another way: a barrier inside an if or a loop must be reached by all "
                "threads of the block or by none"
            )
        message = f"the barrier waits for thread {thread} of block {block}, which {why}"
        self.divergence(barrier, None, kind, n, message, block, thread)

    def divergence(self, barrier, mask, kind, n, message, block=None, thread=None) -> None:
        problem = Problem(kind, line=barrier.line, block=block, thread=thread, message=message)
        barrier.runner.problem((kind, barrier.line), problem, n)

    @staticmethod
    def reduce(barriers: list[Barrier]) -> None:
        """The answer of ``syncthreads_count`` and its like, the same for the whole block."""
        counts, present = 0, 0
        for b in barriers:
            lanes = b.runner.lanes
            active = lanes.full(b.runner.array_of(b.mask)).reshape(lanes.blocks, -1)
            holds = lanes.full(values.truth(b.predicate)).reshape(lanes.blocks, -1) & active
            counts = counts + holds.sum(axis=1)
            present = present + active.sum(axis=1)
        how = barriers[0].reduce
        answer = {"count": counts, "and": counts == present, "or": counts > 0}[how]
        answer = answer.astype(np.int32)
        for b in barriers:
            b.result = answer[0] if answer.size == 1 else answer.reshape(-1, 1, 1, 1)


def _spins(compiled: Compiled, seen: set) -> bool:
    """Say whether a function, or one that it calls, tries for a lock in a loop."""
    if compiled in seen:
        return False
    seen.add(compiled)
    return compiled.code.flow.spins or any(_spins(c, seen) for c in compiled.calls.values())


class ProgressBar:
    """A bar on stderr for launches that take their time.

    Shown on a terminal only, so that it leaves no trace in a notebook's outputs;
    ``KERNELS_PROGRESS=1`` shows it everywhere, ``KERNELS_PROGRESS=0`` nowhere.
    """

    def __init__(self, name: str, total: int):
        self.name, self.total = name, total
        self.begin = time.perf_counter()
        self.shown = False
        forced = os.environ.get("KERNELS_PROGRESS", "")
        self.wanted = forced != "0" and (bool(forced) or sys.stderr.isatty())

    def show(self, done: int) -> None:
        """Say how many blocks are done."""
        seconds = time.perf_counter() - self.begin
        if not self.wanted or seconds < PROGRESS_AFTER or done >= self.total:
            return
        filled = 30 * done // self.total
        bar = "#" * filled + "." * (30 - filled)
        left = seconds * (self.total - done) / done
        sys.stderr.write(
            f"\r{self.name} [{bar}] {done} of {self.total} blocks, about {left:.0f} s left "
        )
        sys.stderr.flush()
        self.shown = True

    def close(self) -> None:
        """Wipe the bar away."""
        if self.shown:
            sys.stderr.write("\r" + " " * 79 + "\r")
            sys.stderr.flush()


# -- checks of what a launch is given


def dimensions(what: str, size) -> tuple[int, int, int]:
    """A grid or block size as (x, y, z).

    Raises
    ------
    KernelError
        If it is not one to three whole positive numbers.
    """
    sizes = tuple(size) if isinstance(size, (tuple, list)) else (size,)
    if not 1 <= len(sizes) <= 3:
        raise KernelError(f"{what} {size!r} has {len(sizes)} axes: give one to three")
    for s in sizes:
        if isinstance(s, bool) or not isinstance(s, numbers.Integral):
            raise KernelError(f"{what} {size!r} must be whole numbers: divide with //, round up")
        if s < 1:
            none = what == "grid" and s == 0
            why = ": N // tile is 0 where the tile is larger than the matrix" if none else ""
            raise KernelError(f"{what} {size!r} has an axis of {s}: give at least 1{why}")
    return tuple(int(s) for s in (*sizes, 1, 1)[:3])


def block_problem(block) -> str:
    """Why a block is too large; empty if it is not."""
    threads = block[0] * block[1] * block[2]
    if threads > LIMITS.threads:
        return (
            f"a block of {_times(block)} is {threads} threads; the limit is {LIMITS.threads}: "
            "use a smaller block, or let each thread own several elements"
        )
    for axis, size, limit in zip("xyz", block, LIMITS.block, strict=True):
        if size > limit:
            return f"block axis {axis} is {size}; the limit is {limit}: use another axis"
    return ""


def check_grid(grid, block) -> None:
    """Refuse a grid that no GPU or no patience can take."""
    for axis, size, limit in zip("xyz", grid, LIMITS.grid, strict=True):
        if size > limit:
            raise KernelError(f"grid axis {axis} is {size}; the limit is {limit}: use axis x")
    threads = grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2]
    if threads > LIMITS.launch_threads:
        raise KernelError(
            f"the launch has {threads} threads; the interpreter takes {LIMITS.launch_threads}: "
            "use a smaller grid, or a GPU"
        )


def _times(block) -> str:
    sizes = list(block)
    while len(sizes) > 1 and sizes[-1] == 1:
        sizes.pop()
    return " × ".join(map(str, sizes))


# -- the two ways to launch

_versions: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def compiled_for(kernel, code: Code, arguments: list) -> Compiled:
    """A kernel compiled for the types of its arguments: once, as Numba does.

    What a kernel takes from outside stays what it was then. A plain function is compiled anew
    each time.
    """
    if isinstance(kernel, types.FunctionType):
        return compile_kernel(code, arguments)
    versions = _versions.setdefault(kernel, {})
    key = tuple(map(type_of, arguments))
    if key not in versions:
        versions[key] = compile_kernel(code, arguments)
    return versions[key]


def versions(kernel) -> dict[tuple, Compiled]:
    """What a kernel has been compiled for."""
    return _versions.get(kernel, {})


def check_signatures(kernel) -> None:
    """Compile a kernel for the types that its decorator names, as Numba does at once.

    Raises
    ------
    KernelError
        If Numba would refuse it for them.
    """
    code = code_of(kernel)
    for one in signatures.of_kernel(kernel):
        arguments = [signatures.stand_in(t) for t in one.parameters]
        if len(arguments) == len(code.parameters):
            if all(a is not None for a in arguments):
                compile_kernel(code, arguments)


def execute(function, grid, block, given: tuple, shared_bytes: int = 0) -> None:
    """Run a kernel for its results: fast, unwatched, stopping at the first error.

    Raises
    ------
    KernelError
        For a configuration no GPU takes, and for what a kernel must never do.
    """
    code = code_of(function)
    for traces, schedule in _recordings:
        seen = trace(function, grid, block, *given, schedule=schedule, shared_bytes=shared_bytes)
        traces.append(seen)
    grid, block = dimensions("grid", grid), dimensions("block", block)
    why = block_problem(block)
    if why:
        raise KernelError(why)
    check_grid(grid, block)
    _check_dynamic(shared_bytes)
    arguments = signatures.applied(function, code.name, bind(code, given, host_array))
    compiled = compiled_for(function, code, arguments)
    _check_dynamic(shared_bytes, compiled)
    launch = Launch(compiled, grid, block, arguments, None, shared_bytes, debug=_debugs(function))
    for a in given:
        if hasattr(a, "blank"):
            a.blank = False
    launch.run(range(grid[0] * grid[1] * grid[2]), "lockstep", "earliest")


def _debugs(kernel) -> bool:
    """Say whether a kernel was compiled so that a division by zero is an error."""
    options = getattr(kernel, "targetoptions", {})
    return bool(options.get("debug")) and not options.get("fastmath")


_recordings: list[tuple[list[Trace], str]] = []


@contextmanager
def recording(schedule: str = "lockstep") -> Iterator[list[Trace]]:
    """Trace every launch of a with block; the launches have their effects as well.

    Parameters
    ----------
    schedule : str
        As `trace` takes it; the launches themselves run in lockstep.

    Yields
    ------
    list of Trace
        Grows by one with each launch of a kernel that this package's ``cuda.jit`` has made.
    """
    entry: tuple[list[Trace], str] = ([], schedule)
    _recordings.append(entry)
    try:
        yield entry[0]
    finally:
        _recordings.remove(entry)


def _check_dynamic(shared_bytes, compiled: Compiled | None = None) -> None:
    """Refuse dynamic shared memory that no kernel, or not this one, can have."""
    if isinstance(shared_bytes, bool) or not isinstance(shared_bytes, numbers.Integral):
        raise KernelError(f"shared memory of {shared_bytes!r} bytes: give a whole number")
    plain = compiled is not None and not compiled.asynchronous
    if not 0 <= shared_bytes <= (LIMITS.shared_bytes if plain else MOST_SHARED):
        raise KernelError(
            f"{shared_bytes} bytes of dynamic shared memory a block; the limit is "
            f"{LIMITS.shared_bytes}, for kernels of asynchronous copies {MOST_SHARED}: "
            "use a smaller tile"
        )


def trace(
    kernel,
    grid,
    block,
    *args,
    blocks=None,
    schedule: str = "lockstep",
    shared_bytes: int = 0,
    limits: Limits | None = None,
    landing: str = "latest",
) -> Trace:
    """Run a kernel under the microscope.

    Parameters
    ----------
    kernel : function or compiled kernel
        A plain function, one made by ``cuda.jit`` (Numba's or this package's).
    grid, block : int or tuple of int
        Launch configuration, x first.
    *args
        Arrays (NumPy, Numba, CuPy), numbers, tuples of them. They are copied, never changed.
    blocks : list of (int or tuple of int), optional
        Blocks to run; all of the grid if left out.
    schedule : {"lockstep", "warps", "warps-reversed"}
        Who runs when: all threads together, or one warp after another (from the first or from the
        last), each until it meets a barrier. A missing barrier shows its wrong numbers under one
        of the latter.
    shared_bytes : int
        Dynamic shared memory of a block.
    limits : Limits, optional
        How long loops may run before they count as endless; `LIMITS` if left out.
    landing : {"latest", "earliest", "mixed"}
        When asynchronous copies and products happen: when nothing else can go on or somebody waits
        for them, at once, or at a moment in between that chance decides, the same each time.

    Returns
    -------
    Trace

    Raises
    ------
    KernelError
        For a kernel that cannot be run at all. What is wrong with one that can is in
        ``Trace.problems``.
    """
    if schedule not in SCHEDULES:
        raise KernelError(f"schedule {schedule!r} is unknown: use one of {', '.join(SCHEDULES)}")
    if landing not in LANDINGS:
        raise KernelError(f"landing {landing!r} is unknown: use one of {', '.join(LANDINGS)}")
    code = code_of(kernel)
    grid, block = dimensions("grid", grid), dimensions("block", block)
    check_grid(grid, block)
    chosen = _chosen_blocks(blocks, grid)
    result = Trace(
        code.name, code.source, code.first_line, code.filename, grid, block,
        blocks=len(chosen), schedule=schedule,
    )  # fmt: skip
    tracer = Tracer(result, code.node)
    blank = [getattr(a, "blank", False) for a in args]
    arguments = signatures.applied(kernel, code.name, bind(code, args, private))
    why = block_problem(block)
    if why:
        tracer.problem((Kind.BLOCK_LIMIT,), Problem(Kind.BLOCK_LIMIT, message=why), 1)
        return tracer.finish()
    compiled = compiled_for(kernel, code, arguments)
    try:
        _check_dynamic(shared_bytes, compiled)
    except KernelError as error:
        tracer.problem((Kind.SHARED_LIMIT,), Problem(Kind.SHARED_LIMIT, message=str(error)), 1)
        return tracer.finish()
    launch = Launch(compiled, grid, block, arguments, tracer, shared_bytes, limits, _debugs(kernel))
    for path in sorted(compiled.written):
        buffer = item_at(arguments, path).buffer
        if buffer not in tracer.races:
            tracer.watch(buffer, launch.warps_per_block)
    for a, untouched in zip(arguments, blank, strict=False):
        if untouched:
            tracer.watch_blank(a.buffer)
    try:
        launch.run(chosen, schedule, landing)
    except StopRun:
        pass
    result.shared_bytes = launch.static_bytes + launch.dynamic_bytes
    result.local_bytes = sum(launch.local_bytes.values())
    for name, a in zip(code.parameters, arguments, strict=True):
        if isinstance(a, Array) and not getattr(a.buffer, "several", ()):
            matrix = a.buffer.of if isinstance(a.buffer, MapBuffer) else a
            result.outputs[name] = contents(matrix)
    return tracer.finish()


def _chosen_blocks(blocks, grid) -> np.ndarray | range:
    """Numbers of the blocks to trace."""
    gx, gy, gz = grid
    if blocks is None:
        return range(gx * gy * gz)
    if isinstance(blocks, numbers.Integral):
        blocks = [blocks]
    elif isinstance(blocks, tuple) and all(isinstance(b, numbers.Integral) for b in blocks):
        blocks = [blocks]
    chosen = []
    for b in blocks:
        x, y, z = (*b, 0, 0)[:3] if isinstance(b, (tuple, list)) else (b, 0, 0)
        if not (0 <= x < gx and 0 <= y < gy and 0 <= z < gz):
            raise KernelError(f"block {b!r} is outside the grid {grid}")
        chosen.append(int(x + gx * (y + gy * z)))
    if not chosen:
        raise KernelError("blocks is empty: name at least one block, or leave it out for all")
    return np.array(sorted(set(chosen)), np.int64)

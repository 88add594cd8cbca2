"""A stopwatch for launches: CUDA events on a GPU, the interpreter's own time elsewhere."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter, sleep

import numpy as np

from kernels.backend import cupy, on_gpu
from kernels.backend.device import device
from kernels.host import memory_errors

__all__ = ["Timing", "seconds", "time", "time_in_turn"]

SHORTEST = 1e-3  #: seconds a batch must take for the resolution of an event not to matter
MOST_FLUSHES = 64
LONGEST_REST = 0.1  #: seconds; what runs longer than a few milliseconds draws its power evenly


@dataclass(frozen=True)
class Timing:
    """How long one launch took, in seconds.

    Attributes
    ----------
    median, q1, q3 : float
        Median and quartiles of the repeats, in seconds.
    n : int
        Number of repeats.
    flushed : bool
        Whether the L2 cache was emptied of the kernel's data before every repeat.
    batch : int
        Launches in one repeat; its time is divided by it.
    on_gpu : bool
        False if this is the time of the CPU interpreter.
    """

    median: float
    q1: float
    q3: float
    n: int
    flushed: bool
    batch: int = 1
    on_gpu: bool = True

    def gflops(self, flop: float) -> float:
        """Return GFLOP/s for `flop` floating-point operations per launch, from the median."""
        return flop / self.median / 1e9

    def bandwidth(self, nbytes: float) -> float:
        """Return GB/s for `nbytes` bytes moved a launch, from the median."""
        return nbytes / self.median / 1e9

    def __repr__(self):
        scale, unit = next(
            ((s, u) for s, u in ((1, "s"), (1e3, "ms"), (1e6, "µs")) if self.median * s >= 1),
            (1e6, "µs"),
        )
        q1, median, q3 = (f"{x * scale:.4g}" for x in (self.q1, self.median, self.q3))
        notes = [f"quartiles {q1} to {q3}", f"n = {self.n}"]
        if self.batch > 1:
            notes.append(f"batches of {self.batch} launches")
        if self.on_gpu:
            notes.append("L2 flushed" if self.flushed else "L2 not flushed")
        else:
            notes.append("time of the CPU interpreter, not of a GPU")
        return f"{median} {unit} ({', '.join(notes)})"


def time(
    launch: Callable[[], object],
    *,
    repeat: int = 20,
    warmup: int = 2,
    flush_l2: bool = True,
    limit: float = 5.0,
) -> Timing:
    """Time a launch.

    Parameters
    ----------
    launch : callable without arguments
        Launches the kernel once, for example ``lambda: kernel[grid, block](A, B, C)``.
    repeat : int
        How often to measure.
    warmup : int
        Launches before the first measurement; the very first one compiles.
    flush_l2 : bool
        Before every repeat write a buffer larger than the L2 cache, outside the measured time, so
        that the kernel finds its data in global memory. Without it, launches are measured in
        batches of at least a millisecond, and the cache stays warm. Ignored on the interpreter.
    limit : float
        Seconds after which no further repeat is started (there are at least three).

    Returns
    -------
    Timing
        Median, quartiles and number of repeats, in seconds. On the interpreter it is the time of
        the interpreter, and says so.

    Raises
    ------
    TypeError
        If `launch` cannot be called.
    ValueError
        If `repeat` is below 1 or `warmup` below 0.
    """
    return time_in_turn([launch], repeat=repeat, warmup=warmup, flush_l2=flush_l2, limit=limit)[0]


def seconds(launch: Callable[[], object]) -> float:
    """The median time of a launch in seconds, found quickly: enough to choose between several."""
    return time(launch, warmup=1, flush_l2=False, limit=0.05).median


def time_in_turn(
    launches: Sequence[Callable[[], object]],
    *,
    repeat: int = 20,
    warmup: int = 2,
    flush_l2: bool = True,
    limit: float = 5.0,
    rest: float = 0.0,
) -> list[Timing]:
    """Time launches that are to be compared: one repeat of each, then the next repeat of each.

    A GPU lowers its clock when it gets warm or draws too much power. In turn, what changes slowly
    changes for all of them; and with a rest, none pays for the power that another has drawn.

    Parameters
    ----------
    launches : sequence of callables without arguments
    repeat, warmup, flush_l2, limit
        As in `time`; the limit is for all of them together, rests included.
    rest : float
        How long to leave the GPU idle after each repeat, as a multiple of the repeat's own time,
        but `LONGEST_REST` at most.

    Returns
    -------
    list of Timing
        In the order of `launches`, in seconds.

    Raises
    ------
    TypeError, ValueError
        As in `time`.
    """
    for launch in launches:
        if not callable(launch):
            raise TypeError(
                f"time needs a function to call, got {type(launch).__name__}:"
                " wrap the launch in lambda"
            )
    if repeat < 1 or warmup < 0:
        raise ValueError(f"repeat={repeat}, warmup={warmup}: use at least 1 and at least 0")
    stopwatches = []
    for launch in launches:
        for _ in range(warmup):
            launch()
        stopwatches.append(_events(launch, flush_l2) if on_gpu else (_wall_clock(launch), 1))
    seconds = []
    end = perf_counter() + limit
    while len(seconds) < repeat and (len(seconds) < 3 or perf_counter() < end):
        seconds.append([_rested(stopwatch, rest) for stopwatch, _ in stopwatches])
    return [
        Timing(median, q1, q3, len(seconds), on_gpu and flush_l2, batch, on_gpu)
        for (q1, median, q3), (_, batch) in zip(
            np.quantile(seconds, (0.25, 0.5, 0.75), axis=0).T.tolist(), stopwatches, strict=True
        )
    ]


def _rested(stopwatch, rest):
    """Return what a stopwatch says, after a rest of as many times as long as it ran."""
    start = perf_counter()
    found = stopwatch()
    if rest:
        sleep(min(LONGEST_REST, rest * (perf_counter() - start)))
    return found


def _wall_clock(launch):
    """Return a function that measures one launch on the interpreter."""

    def stopwatch():
        start = perf_counter()
        launch()
        return perf_counter() - start

    return stopwatch


def _events(launch, flush_l2):
    """Return a function that measures one launch between two events, and its batch size."""
    start, end = cupy.cuda.Event(), cupy.cuda.Event()

    def between_events(work, times):
        start.record()
        for _ in range(times):
            work()
        end.record()
        end.synchronize()
        return cupy.cuda.get_elapsed_time(start, end) * 1e-3 / times

    if not flush_l2:
        batch = max(1, int(SHORTEST / max(between_events(launch, 1), 1e-6)))

        def warm_stopwatch():
            launch()  # keeps the GPU busy while the host prepares the first one that counts
            return between_events(launch, batch)

        return warm_stopwatch, batch

    nbytes = 4 * device().l2_bytes
    with memory_errors(nbytes):
        trash = cupy.empty(nbytes, np.uint8)

    def flush():
        trash.fill(0)

    # The flush also keeps the GPU busy while the host prepares the launch: otherwise that wait
    # would count as the kernel's time. So flush as often as the host needs, and once more.
    flush()
    host = _wall_clock(launch)()
    flushes = min(MOST_FLUSHES, 1 + int(2 * host / between_events(flush, 1)))

    def stopwatch():
        for _ in range(flushes):
            flush()
        return between_events(launch, 1)

    return stopwatch, 1

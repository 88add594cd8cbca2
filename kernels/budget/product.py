"""How long a whole product takes: the loop's pace, rounds of blocks, and what goes on around them.

Three numbers per GPU are measured, by microbenchmarks that no rung takes part in: what a launch
costs by itself, the latency of memory, and the bandwidth of a copy. Nothing is fitted to a rung.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor, prod, sqrt
from typing import Any

from kernels.basics import data_sheets
from kernels.budget import limits
from kernels.budget.ceilings import Budget, Counts
from kernels.budget.counts import OF_A_STEP, alone, fmas, measured, stored
from kernels.host import cdiv
from kernels.host.options import Options

__all__ = ["CyclesPerFma", "MeasuredGpu", "Time", "figures", "from_counts", "from_other",
           "from_profile", "queue_rate", "time"]  # fmt: skip

SCHEDULERS = 4
#: Of its highest ceiling a kernel reaches this share at least, and this one in the middle: what
#: every rung of the ladder does from 2048³ on. A range, not a figure of any one rung. Both were
#: chosen beside the H200's record, whose profiles reach 0.81 in the median; the H100's were not.
LEAST, MIDDLE = 0.6, 0.83
#: How far a prediction from a profile of the same kernel at another size is off, either way.
OFF = 0.2
#: Bytes per cycle at which an SM hands its results to L2.
STORED = 32


@dataclass(frozen=True)
class MeasuredGpu:
    """A GPU, and what was measured of it.

    Attributes
    ----------
    gpu : Gpu
        Its data sheet, or what the driver says.
    launch : float
        Seconds of a launch that does next to nothing.
    latency : float
        Cycles until the first data of a block are there: a load from memory, and one from L2.
    bandwidth : float
        Bytes per second of a copy within its memory.
    source : str
        Where these three come from.
    """

    gpu: data_sheets.Gpu
    launch: float
    latency: float
    bandwidth: float
    source: str

    def clock(self, dtype: str) -> float:
        """Cycles per second: with busy tensor cores, those that the data sheet's peak implies."""
        rate = limits.tensor_rate(self.gpu, dtype)
        boost = 1e6 * self.gpu.boost_mhz
        if not rate:
            return boost
        flops = 1e12 * self.gpu.fp16_tensor_tflops * 16 / limits.WORD_BITS[dtype]
        return min(boost, flops / (2 * self.gpu.sms * rate))


@dataclass(frozen=True)
class CyclesPerFma:
    """Cycles per FMA of a kernel's loop, by the warps that an SM holds.

    Attributes
    ----------
    ceiling : float
        The highest ceiling that warps share: no number of them is faster.
    known : float
        With so many `warps`.
    warps : float
    wait : float
        Cycles that one warp waits for each FMA, the queue for a unit not counted.
    source : str
        What it is computed from.
    low, high : float
        Range, relative to the predicted time.
    spread : float
        Sectors that its stores of C touch, over those that C fills.
    """

    ceiling: float
    known: float
    warps: float
    wait: float
    source: str
    low: float
    high: float
    spread: float = 1.0

    def cycles(self, warps: float) -> float:
        """Cycles of one SM per FMA."""
        each = SCHEDULERS * self.ceiling
        if warps < self.warps:
            rate = SCHEDULERS * queue_rate(warps / SCHEDULERS, each, self.wait)
            return max(self.known, 1 / rate)
        if warps == self.warps:
            return self.known
        # How much more warps would hide is not known: from nothing to all that queueing says.
        wait = _wait(self.warps / SCHEDULERS, each, 1 / (SCHEDULERS * self.known))
        return sqrt(self.known / queue_rate(warps / SCHEDULERS, each, wait) / SCHEDULERS)


@dataclass(frozen=True)
class Time:
    """The predicted time of one product, in seconds.

    Attributes
    ----------
    seconds, low, high : float
        Predicted, and the range it is good for.
    loop, around : float
        Spent by the busiest SM in the loop along K, and before and after it.
    memory : float
        What the matrices need at least to and from memory, while loops run.
    launch : float
        Of the kernel; with a split, of the second one too, and of the copies.
    adding : float
        Adding up the parts of a split along K.
    copying : float
        Copying matrices to rows that begin on 16-byte boundaries, and C back.
    blocks, rounds : int
        Blocks, and how often the SMs are filled with them.
    """

    seconds: float
    low: float
    high: float
    loop: float
    around: float
    memory: float
    launch: float
    adding: float
    copying: float
    blocks: int
    rounds: int


def from_counts(
    budget: Budget, warps: float, source: str = "counts", own: float | None = None
) -> CyclesPerFma:
    """The pace of a kernel of which only counts are known: between its ceiling and 1 / 0.6 of it.

    Parameters
    ----------
    budget : Budget
    warps : float
        Warps that an SM holds when all fit.
    source : str
    own : float, optional
        Cycles that a warp waits for each FMA by itself: what so many warps don't hide is added.
    """
    shared = _shared(budget)
    each, known = SCHEDULERS * shared, max(budget.cycles, shared / MIDDLE)
    hidden = _wait(warps / SCHEDULERS, each, 1 / (SCHEDULERS * known))
    wait = min(hidden, _alone(budget.counts, hidden))
    if own is not None and own > hidden:
        known = max(known, 1 / (SCHEDULERS * queue_rate(warps / SCHEDULERS, each, own)))
        wait = own
    return CyclesPerFma(shared, known, warps, wait, source, MIDDLE, MIDDLE / LEAST)


def from_other(
    row: Mapping[str, Any], budget: Budget, profiled: Options, options: Options, warps: float
) -> CyclesPerFma:
    """The pace of a kernel that was profiled with other options.

    A warp waits for each pair of tiles: of half the depth, twice as often per FMA.

    Parameters
    ----------
    row : mapping
        The profile.
    budget : Budget
        Of the counts with the options at hand.
    profiled, options : Options
        Those of the profile, and those at hand.
    warps : float
        Warps that an SM holds with these.
    """
    steps, own = profiled.block_tile[2] / options.block_tile[2], None
    if steps > 1 and row.get("stalls"):
        own = alone(row) + (steps - 1) * alone(row, OF_A_STEP)
    return from_counts(budget, warps, "profile of other options", own)


def from_profile(
    row: Mapping[str, Any], budget: Budget, options: Options, machine: MeasuredGpu, resident: int
) -> CyclesPerFma:
    """The pace of a kernel that was profiled, at whatever size.

    Parameters
    ----------
    row : mapping
        A row of a record's table ``profiles``.
    budget : Budget
        Of its counts.
    options : Options
        Those of the profiled launch.
    machine : MeasuredGpu
    resident : int
        Blocks that an SM holds.
    """
    M, N, K = row["M"], row["N"], row["K"]
    BM, BN, _ = options.block_tile
    # What hangs over the edges is work, too: the pace is that of all that was done.
    done = max(1.0, cdiv(M, BM) * cdiv(N, BN) * options.split * _work(options, K) / fmas(M, N, K))
    per_sm = done * fmas(M, N, K) / machine.gpu.sms
    blocks = per_sm / _work(options, K)
    spread = stored(row)
    outside = _around(options, M, N, machine, resident, spread, blocks / resident)
    shared = _shared(budget) / done
    known = max(shared, measured(row) / done - outside / per_sm)
    warps = min(resident, max(1.0, blocks)) * cdiv(options.threads, 32)
    queued = _wait(warps / SCHEDULERS, SCHEDULERS * shared, 1 / (SCHEDULERS * known))
    # A warp's own waits are seen where several others take their turn meanwhile. Of two warps, one
    # hides in the other's turn: there, only the pace itself tells.
    wait = queued if warps <= 2 * SCHEDULERS else min(queued, alone(row) or queued)
    return CyclesPerFma(shared, known, warps, wait, "profile", 1 / (1 + OFF), 1 / (1 - OFF), spread)


def time(
    options: Options,
    pace: CyclesPerFma,
    machine: MeasuredGpu,
    resident: int,
    shape: tuple[int, int, int],
    dtype: str = "float32",
    copies: bool = False,
) -> Time:
    """Predict the time of one product.

    Parameters
    ----------
    options : Options
        Of a rung, such as ``LADDER["tiled"].Options(tile=16)``.
    pace : CyclesPerFma
    machine : MeasuredGpu
    resident : int
        Blocks that an SM holds.
    shape : tuple of int
        M, N, K.
    dtype : str
    copies : bool
        Whether each product copies its matrices first, to rows that begin on 16-byte boundaries,
        and C back: see `Rung.copies`.
    """
    M, N, K = shape
    gpu, clock, split = machine.gpu, machine.clock(dtype), options.split
    work = _work(options, K)
    # An SM shares its units among its blocks: the product is done when the busiest SM is.
    busiest = options.busiest(M, N, K, gpu.sms) / 32 / work
    rounds = floor(busiest / resident)
    rest = busiest - rounds * resident
    warps = cdiv(options.threads, 32)
    loop = rounds * resident * work * pace.cycles(resident * warps)
    if rest > 1e-6:
        loop += rest * work * pace.cycles(max(1.0, rest) * warps)
    rounds += rest > 1e-6
    loop /= clock
    around = _around(options, M, N, machine, resident, pace.spread, rounds) / clock
    inputs, output = _word(dtype) * (M * K + K * N), 4 * M * N
    memory = (inputs + output) / machine.bandwidth
    adding = 4 * M * N * (split + 1) / machine.bandwidth if split > 1 else 0.0
    copying = 2 * (inputs + output) / machine.bandwidth * copies
    launch = machine.launch * (1 + (split > 1) + 3 * copies)
    seconds = max(loop, memory) + around + adding + copying + launch
    BM, BN, _ = options.block_tile
    blocks = cdiv(M, BM) * cdiv(N, BN) * split
    return Time(
        seconds, seconds * pace.low, seconds * pace.high, loop, around, memory, launch, adding,
        copying, blocks, rounds,
    )  # fmt: skip


def figures(
    seconds: float, shape: tuple[int, int, int], machine: MeasuredGpu, dtype: str = "float32"
) -> tuple[float, float]:
    """Cycles of one SM per FMA, and TFLOP per second, of a product that takes so many seconds."""
    M, N, K = shape
    cycles = seconds * machine.clock(dtype) * machine.gpu.sms / fmas(M, N, K)
    return cycles, 2e-12 * M * N * K / seconds


def _shared(budget: Budget) -> float:
    """The highest ceiling that more warps do not lift."""
    return max(cycles for name, cycles in budget.ceilings.items() if name != "latency")


def _alone(counts: Counts, unknown: float) -> float:
    """Cycles that a warp waits for each FMA, besides issuing."""
    return unknown if counts.wait is None else counts.wait - counts.instructions


def _word(dtype: str) -> float:
    """Bytes of a number in memory."""
    return limits.WORD_BITS.get(dtype, 32) / 8 if dtype != "bfloat16x3" else 4


def _work(options: Options, K: int) -> float:
    """FMAs of warps in one block, what hangs over the edges included."""
    BM, BN, BK = options.block_tile
    return BM * BN * cdiv(cdiv(K, options.split), BK) * BK / 32


def _around(
    options: Options,
    M: int,
    N: int,
    machine: MeasuredGpu,
    resident: int,
    spread: float,
    rounds: float,
) -> float:
    """Cycles that an SM spends before and after its loops: the first data, and storing its tiles.

    Its blocks hand their sectors to L2 through one port; from there they go to memory by
    themselves. Where blocks stay, only the first tile waits for data.
    """
    BM, BN, _ = options.block_tile
    tiles = cdiv(M, BM) * cdiv(N, BN) * options.split
    begun = rounds if prod(options.grid_dim(M, N)) >= tiles else min(1.0, rounds)
    return begun * machine.latency + rounds * resident * spread * 4 * BM * BN / STORED


def queue_rate(warps: float, each: float, wait: float) -> float:
    """FMAs per cycle of a scheduler whose warps wait by themselves, then queue for one unit.

    Mean value analysis: who comes finds in the queue what a system with one warp less has there;
    the rest is Little's law.

    Parameters
    ----------
    warps : float
        Of the scheduler; between whole numbers, it is interpolated.
    each : float
        Cycles that the unit takes for one FMA.
    wait : float
        Cycles that a warp waits besides.
    """
    rates = [0.0]
    queue = 0.0
    for number in range(1, floor(warps) + 2):
        spent = each * (1 + queue)
        rates.append(number / (wait + spent))
        queue = rates[-1] * spent
    below = floor(warps)
    return rates[below] + (warps - below) * (rates[below + 1] - rates[below])


def _wait(warps: float, each: float, rate: float) -> float:
    """The wait at which so many warps reach a rate."""
    low, high = 0.0, 4 * warps / rate
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if queue_rate(warps, each, middle) > rate else (low, middle)
    return low

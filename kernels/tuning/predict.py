"""How long a launch should take, from its grid, its block and its options alone.

The prediction is there to put choices in order, before any of them runs and where no budget of
cycles is known (`kernels.budget`, which is closer). It leaves out the compiler's schedule, the
banks and the power limit, so most kernels take longer than it says, some twice as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from kernels.basics import data_sheets
from kernels.budget.product import SCHEDULERS, queue_rate
from kernels.host import cdiv
from kernels.host.half import E4M3
from kernels.host.options import Options
from kernels.host.rung import Rung
from kernels.measure.occupancy import MAX_REGISTERS, Occupancy, occupancy

#: Shared memory that a Numba kernel or a plain CUDA C++ kernel may declare, in bytes.
STATIC_SHARED = 48 * 1024
#: Bytes that the L2 cache hands an SM in a clock cycle.
L2_BYTES_PER_CLOCK = 32
#: Seconds from the end of a launch to the end of a small one right after it.
ANOTHER_LAUNCH = 5e-6
#: Cycles until a number from shared memory is there: 23 on the recorded H200 and H100.
SHARED_LATENCY = 23
#: Share of the time of what goes on beside the slowest part that is seen nevertheless.
HIDDEN = 0.2


class Unfit(ValueError):
    """Options that a GPU cannot launch; one line says which limit they exceed."""


@dataclass(frozen=True)
class Footprint:
    """What one block takes of an SM.

    Attributes
    ----------
    threads : int
        Threads per block.
    registers : int
        Registers per thread, estimated: accumulators, fragments, and what indices need.
    shared_bytes : int
        Shared memory per block.
    outputs : int
        Elements of C that a thread computes.
    """

    threads: int
    registers: int
    shared_bytes: int
    outputs: int


@dataclass(frozen=True)
class Prediction:
    """A launch on a GPU, as far as it can be told beforehand.

    Attributes
    ----------
    seconds : float
        The largest of the three times below, and a little of the others.
    compute, l2, dram : float
        Seconds for the arithmetic, for what the blocks ask of the L2 cache, and for what must come
        from memory at least once.
    blocks, waves : int
        Tiles of C, by parts of K, and how many rounds the SMs need for them.
    tail : float
        Share of the SMs' time that is used: below 1 where the last round is not full.
    resident : Occupancy
        What an SM holds at once.
    footprint : Footprint
    """

    seconds: float
    compute: float
    l2: float
    dram: float
    blocks: int
    waves: int
    tail: float
    resident: Occupancy
    footprint: Footprint


def footprint(options: Options) -> Footprint:
    """What one block takes of an SM."""
    BM, BN, _ = options.block_tile
    outputs = max(1, BM * BN // options.threads)
    return Footprint(options.threads, options.registers, options.shared_bytes, outputs)


def predict(
    rung: Rung, options: dict[str, int], M: int, N: int, K: int, gpu: data_sheets.Gpu
) -> Prediction:
    """Predict one launch for A (M×K) and B (K×N).

    Parameters
    ----------
    rung : Rung
    options : dict of str to int
    M, N, K : int
    gpu : kernels.basics.data_sheets.Gpu
        As `kernels.budget.here.gpu_here` gives it.

    Returns
    -------
    Prediction

    Raises
    ------
    Unfit, TypeError, ValueError
        If the rung refuses the options, or a block of them exceeds a limit of the GPU.
    """
    chosen = rung.Options(**options)
    used = footprint(chosen)
    if used.registers > MAX_REGISTERS:
        raise Unfit(f"about {used.registers} registers per thread; a thread has {MAX_REGISTERS}")
    limit = gpu.shared_per_block_optin if rung.dynamic_shared else STATIC_SHARED
    if used.shared_bytes > limit:
        raise Unfit(f"{used.shared_bytes} bytes of shared memory per block; it may have {limit}")
    resident = occupancy(
        used.threads, registers=used.registers, shared_bytes=used.shared_bytes, gpu=gpu
    )
    chosen.launch(M, N)  # refuses what no GPU can launch
    split = chosen.split
    BM, BN, BK = chosen.block_tile
    blocks = cdiv(M, BM) * cdiv(N, BN) * split
    waves = cdiv(blocks, gpu.sms * resident.blocks)
    padded = 2 * BM * BN * cdiv(cdiv(K, split), BK) * BK
    clock = 1e6 * gpu.boost_mhz
    busy = min(cdiv(blocks, gpu.sms), resident.blocks) * cdiv(used.threads, 32)
    if rung.dtypes[0] == "float32":
        peak = 2 * gpu.cores_per_sm * clock * efficiency(used, busy)
    else:
        faster = 2 if rung.dtypes[0] == E4M3 else 1  # numbers of half the bits
        peak = faster * 1e12 * (gpu.fp16_tensor_tflops or 8 * gpu.fp32_tflops) / gpu.sms
    # An SM shares its units among its blocks: the launch is done when the busiest SM is.
    work = 2 * chosen.busiest(M, N, K, gpu.sms)
    compute = work / peak
    model = chosen.model(M, N, K)
    l2 = model.bytes_requested / (L2_BYTES_PER_CLOCK * gpu.sms * clock)
    dram = model.bytes_compulsory / gpu.bandwidth
    # Parts of K leave partial sums, which a second launch reads and adds.
    adding = ANOTHER_LAUNCH + 2 * 4 * M * N * split / gpu.bandwidth if split > 1 else 0.0
    tail = min(1.0, blocks * padded / (work * gpu.sms))
    # The three go on at once, though not perfectly: what is hidden still costs a little.
    seconds = max(compute, l2, dram) + HIDDEN * (compute + l2 + dram - max(compute, l2, dram))
    seconds += adding
    return Prediction(seconds, compute, l2, dram, blocks, waves, tail, resident, used)


def efficiency(used: Footprint, warps: int) -> float:
    """Share of an SM's FMA units that its resident warps keep busy.

    A thread with t outputs does t FMAs for each step along K, and loads 2·√t numbers from shared
    memory for them, four at a time if it has that many neighbours; a load takes a second
    instruction, for storing what it loads into shared memory before or for its address. Each of
    the SM's four schedulers is a queue: a warp issues these, and waits for its loads once a step.
    """
    side = sqrt(used.outputs)
    loads = 2 * side / (4 if side >= 4 else 1)
    issued = 1 + 2 * loads / used.outputs
    return queue_rate(warps / SCHEDULERS, issued, SHARED_LATENCY / used.outputs)

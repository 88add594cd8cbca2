"""What the device under the kernels is, and where its limits lie."""

from dataclasses import dataclass
from functools import cache

from kernels.lab.backend import cupy, on_gpu

__all__ = ["Device", "device"]

# FP32 units an SM, by compute capability (CUDA C++ Programming Guide, arithmetic instructions).
_FP32_UNITS = {
    (7, 0): 64, (7, 2): 64, (7, 5): 64, (8, 0): 64, (8, 6): 128, (8, 7): 128, (8, 9): 128,
    (9, 0): 128, (10, 0): 128, (10, 3): 128, (12, 0): 128, (12, 1): 128,
}  # fmt: skip


@dataclass(frozen=True)
class Device:
    """One device: its name, its limits and its peaks.

    Sizes are in bytes, clocks in Hz, bandwidth in bytes a second and compute in FLOP/s. What the
    CPU interpreter does not have (SMs, clocks, memory) is None there; its limits are CUDA's
    common ones, so that a launch that no GPU would accept is refused there too.
    """

    name: str
    compute_capability: tuple[int, int] | None = None
    sms: int | None = None
    warp_size: int = 32
    max_threads_per_block: int = 1024
    max_threads_per_sm: int | None = None
    max_blocks_per_sm: int | None = None
    max_grid: tuple[int, int, int] = (2**31 - 1, 65535, 65535)
    shared_per_block: int = 48 * 1024
    shared_per_block_optin: int | None = None
    shared_per_sm: int | None = None
    registers_per_block: int | None = None
    registers_per_sm: int | None = None
    l2_bytes: int | None = None
    memory_bytes: int | None = None
    clock: float | None = None
    memory_clock: float | None = None
    memory_bus_bits: int | None = None

    @property
    def fp32_peak(self) -> float | None:
        """FP32 FLOP/s: SMs × units × clock × 2 (a fused multiply-add counts two)."""
        units = _FP32_UNITS.get(self.compute_capability)
        return None if units is None else 2.0 * self.sms * units * self.clock

    @property
    def bandwidth_peak(self) -> float | None:
        """Bytes a second of global memory: two transfers a clock on every bit of the bus."""
        if not self.memory_clock or not self.memory_bus_bits:
            return None
        return 2.0 * self.memory_clock * self.memory_bus_bits / 8


@cache
def device() -> Device:
    """Return the device that kernels run on: the current GPU, or the CPU interpreter.

    Source: the attributes of the CUDA runtime, through CuPy.
    """
    if not on_gpu:
        return Device(name="CPU interpreter")
    gpu = cupy.cuda.Device()
    have = gpu.attributes
    return Device(
        name=cupy.cuda.runtime.getDeviceProperties(gpu.id)["name"].decode(),
        compute_capability=(have["ComputeCapabilityMajor"], have["ComputeCapabilityMinor"]),
        sms=have["MultiProcessorCount"],
        warp_size=have["WarpSize"],
        max_threads_per_block=have["MaxThreadsPerBlock"],
        max_threads_per_sm=have["MaxThreadsPerMultiProcessor"],
        max_blocks_per_sm=have.get("MaxBlocksPerMultiprocessor"),
        max_grid=(have["MaxGridDimX"], have["MaxGridDimY"], have["MaxGridDimZ"]),
        shared_per_block=have["MaxSharedMemoryPerBlock"],
        shared_per_block_optin=have["MaxSharedMemoryPerBlockOptin"],
        shared_per_sm=have["MaxSharedMemoryPerMultiprocessor"],
        registers_per_block=have["MaxRegistersPerBlock"],
        registers_per_sm=have["MaxRegistersPerMultiprocessor"],
        l2_bytes=have["L2CacheSize"],
        memory_bytes=gpu.mem_info[1],
        clock=have["ClockRate"] * 1e3,
        memory_clock=have["MemoryClockRate"] * 1e3,
        memory_bus_bits=have["GlobalMemoryBusWidth"],
    )

"""What the device under the kernels is, and where its limits lie."""

from dataclasses import dataclass, replace
from functools import cache

from kernels.backend import cuda, cupy, imposed, on_gpu
from kernels.basics import data_sheets

__all__ = ["Device", "device", "limited", "where"]

# FP32 units an SM, by compute capability (CUDA C++ Programming Guide, arithmetic instructions).
_FP32_UNITS = {
    (7, 0): 64, (7, 2): 64, (7, 5): 64, (8, 0): 64, (8, 6): 128, (8, 7): 128, (8, 9): 128,
    (9, 0): 128, (10, 0): 128, (10, 3): 128, (12, 0): 128, (12, 1): 128,
}  # fmt: skip


@dataclass(frozen=True)
class Device:
    """One device: its name, its limits and its peaks.

    Sizes are in bytes, clocks in Hz, bandwidth in bytes per second and compute in FLOP/s. What the
    CPU interpreter does not have (SMs, clocks, memory) is None there; its limits are CUDA's
    common ones, so that a launch that no GPU would accept is refused there too. ``hardware`` is the
    compute capability of a GPU on which another's limits are imposed.
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
    hardware: tuple[int, int] | None = None

    @property
    def fp32_peak(self) -> float | None:
        """FP32 FLOP/s: SMs × units × clock × 2 (a fused multiply-add counts two)."""
        units = _FP32_UNITS.get(self.hardware or self.compute_capability)
        return None if units is None else 2.0 * self.sms * units * self.clock

    @property
    def bandwidth_peak(self) -> float | None:
        """Bytes per second of global memory: two transfers per clock on every bit of the bus."""
        if not self.memory_clock or not self.memory_bus_bits:
            return None
        return 2.0 * self.memory_clock * self.memory_bus_bits / 8


@cache
def device() -> Device:
    """Return the device that kernels run on: the current GPU, or the CPU interpreter.

    On a GPU with the limits that KERNELS_LIMITS imposes.

    Source: the device attributes of the CUDA driver, through Numba.
    """
    if not on_gpu:
        return Device(name="CPU interpreter")
    number = cupy.cuda.Device().id
    gpu = cuda.gpus[number]  # unlike the current device's context, it asks for no memory
    name = gpu.name
    found = Device(
        name=name.decode() if isinstance(name, bytes) else name,
        compute_capability=tuple(gpu.compute_capability),
        sms=gpu.MULTIPROCESSOR_COUNT,
        warp_size=gpu.WARP_SIZE,
        max_threads_per_block=gpu.MAX_THREADS_PER_BLOCK,
        max_threads_per_sm=gpu.MAX_THREADS_PER_MULTIPROCESSOR,
        max_blocks_per_sm=getattr(gpu, "MAX_BLOCKS_PER_MULTIPROCESSOR", None),
        max_grid=(gpu.MAX_GRID_DIM_X, gpu.MAX_GRID_DIM_Y, gpu.MAX_GRID_DIM_Z),
        shared_per_block=gpu.MAX_SHARED_MEMORY_PER_BLOCK,
        shared_per_block_optin=gpu.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        shared_per_sm=gpu.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
        registers_per_block=gpu.MAX_REGISTERS_PER_BLOCK,
        registers_per_sm=gpu.MAX_REGISTERS_PER_MULTIPROCESSOR,
        l2_bytes=gpu.L2_CACHE_SIZE,
        memory_bytes=cupy.cuda.runtime.getDeviceProperties(number)["totalGlobalMem"],
        clock=gpu.CLOCK_RATE * 1e3,
        memory_clock=gpu.MEMORY_CLOCK_RATE * 1e3,
        memory_bus_bits=gpu.GLOBAL_MEMORY_BUS_WIDTH,
    )
    return limited(found, imposed) if imposed else found


def limited(found: Device, sheet: data_sheets.Gpu) -> Device:
    """Return a GPU with the limits of another imposed on it.

    Raises
    ------
    ValueError
        If the other one has a higher compute capability.
    """
    major, minor = map(int, sheet.compute_capability.split("."))
    if (major, minor) > found.compute_capability:
        here = ".".join(map(str, found.compute_capability))
        raise ValueError(
            f"KERNELS_LIMITS asks for compute capability {major}.{minor}, but the {found.name} has "
            f"{here}: name an older GPU"
        )
    return replace(
        found,
        name=f"{found.name} limited to sm_{major}{minor}",
        compute_capability=(major, minor),
        shared_per_block_optin=min(found.shared_per_block_optin, sheet.shared_per_block_optin),
        memory_bytes=min(found.memory_bytes, sheet.memory_gb * 10**9),
        hardware=found.compute_capability,
    )


def where() -> str:
    """Say where kernels run and are timed: the GPU's name, or the CPU interpreter."""
    return device().name if on_gpu else "the CPU interpreter"

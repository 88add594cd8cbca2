"""``cuda`` without a GPU: the names of ``numba.cuda``, run by the interpreter.

>>> from microscope import api as cuda
>>> @cuda.jit
... def double(a):
...     i = cuda.grid(1)
...     if i < a.size:
...         a[i] *= 2

On the CPU "device memory" is ordinary memory; device arrays are copies all the same, so that a
forgotten transfer shows. Launches have run when they return.
"""

from __future__ import annotations

import functools
import math
import sys
import time
import types
from contextlib import contextmanager

import numpy as np
from numpy import (  # noqa: F401  (`cuda.float32` and its like)
    complex64,
    complex128,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

from . import bfloat16 as _bfloat16
from . import half as _half
from . import hints as _hints
from . import launch as _launch
from . import signatures
from . import xoroshiro as _xoroshiro
from .device_arrays import (
    DeviceArray,
    MappedArray,
    create_states,
    device_array_like,
    empty,
    from_interface,
    init_states,
)
from .device_arrays import device_array as device_array
from .device_arrays import to_device as to_device
from .errors import KernelError, raised
from .names import Coordinate, Dim3, Intrinsic, Namespace, provide, vectors
from .reduction import Reduce as Reduce
from .source import code_of
from .vectorize import guvectorize as guvectorize
from .vectorize import vectorize as vectorize

# -- names inside kernels

threadIdx, blockIdx, blockDim, gridDim = map(Dim3, ("threadIdx", "blockIdx", "blockDim", "gridDim"))
laneid, warpsize = Coordinate("laneid"), Coordinate("warpsize")
shared = Namespace("shared", "array")
local = Namespace("local", "array")
const = Namespace("const", "array_like")
atomic = Namespace(
    "atomic",
    "add sub max min nanmax nanmin and_ or_ xor exch inc dec cas compare_and_swap",
)

grid, gridsize = Intrinsic("grid"), Intrinsic("gridsize")
syncthreads, syncthreads_count = Intrinsic("syncthreads"), Intrinsic("syncthreads_count")
syncthreads_and, syncthreads_or = Intrinsic("syncthreads_and"), Intrinsic("syncthreads_or")
syncwarp, nanosleep = Intrinsic("syncwarp"), Intrinsic("nanosleep")
threadfence, threadfence_block = Intrinsic("threadfence"), Intrinsic("threadfence_block")
threadfence_system = Intrinsic("threadfence_system")
shfl_sync, shfl_xor_sync = Intrinsic("shfl_sync"), Intrinsic("shfl_xor_sync")
shfl_up_sync, shfl_down_sync = Intrinsic("shfl_up_sync"), Intrinsic("shfl_down_sync")
ballot_sync, all_sync = Intrinsic("ballot_sync"), Intrinsic("all_sync")
any_sync, eq_sync = Intrinsic("any_sync"), Intrinsic("eq_sync")
match_any_sync, match_all_sync = Intrinsic("match_any_sync"), Intrinsic("match_all_sync")
activemask = Intrinsic("activemask")
lanemask_lt, selp, fma = Intrinsic("lanemask_lt"), Intrinsic("selp"), Intrinsic("fma")
popc, brev, clz, ffs = Intrinsic("popc"), Intrinsic("brev"), Intrinsic("clz"), Intrinsic("ffs")
cbrt = Intrinsic("cbrt")
ldca, ldcg, ldcs, ldlu, ldcv = map(Intrinsic, _hints.LOADS)
stcg, stcs, stwb, stwt = map(Intrinsic, _hints.STORES)
cg = Namespace("cg", "this_grid")
fp16 = Namespace("fp16", " ".join(_half.NAMES))
bf16 = Namespace("bf16", " ".join(_bfloat16.NAMES))
bfloat16 = bf16.bfloat16 = Intrinsic("bfloat16")
random = Namespace("random", " ".join(_xoroshiro.NAMES))

globals().update(vectors())  # float32x4, float4 and their like

# -- kernels


class Kernel:
    """What ``cuda.jit`` makes of a function: ``kernel[grid, block](*args)``.

    Attributes
    ----------
    py_func : function
    signature : object
        Its types as the decorator was given them; None if it takes those of its arguments.
    """

    def __init__(self, function, signature=None, **options):
        code_of(function)
        self.py_func, self.signature, self.targetoptions = function, signature, options
        functools.update_wrapper(self, function)
        bounds = options.get("launch_bounds")
        bounds = bounds if isinstance(bounds, tuple) else () if bounds is None else (bounds,)
        if len(bounds) > 3:
            raise raised(
                ValueError, f"launch_bounds {bounds}: name threads, blocks and blocks of a cluster"
            )
        self.max_threads = bounds[0] if bounds else None
        self.specialized = len(signatures.parse(signature)) == 1
        self.specializations: dict[str, Kernel] = {}
        _check_carveout(options.get("shared_memory_carveout"))
        _launch.check_signatures(self)

    def __getitem__(self, configuration) -> Launcher:
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise KernelError(
                f"{self.__name__}[...] takes [grid, block], or [grid, block, stream, shared_bytes]"
            )
        grid, block, *rest = configuration
        shared_bytes = rest[1] if len(rest) == 2 else 0
        return Launcher(self, grid, block, shared_bytes)

    def configure(self, grid, block, stream=None, shared_bytes=0) -> Launcher:
        """The same as ``kernel[grid, block, stream, shared_bytes]``."""
        return Launcher(self, grid, block, shared_bytes)

    @property
    def overloads(self) -> dict[tuple, Version]:
        """The versions that are compiled, by the types of their arguments."""
        declared = [tuple(one.parameters) for one in signatures.of_kernel(self)]
        return {types: Version(self) for types in declared or _launch.versions(self)}

    def specialize(self, *types) -> Kernel:
        """This kernel with a signature of some types, or of those of some arguments.

        Raises
        ------
        KernelError
            If it has a signature.
        """
        if self.specialized:
            raise raised(RuntimeError, f"Dispatcher already specialized: {self.__name__}")
        key = repr([getattr(t, "dtype", t) if isinstance(t, np.ndarray) else t for t in types])
        if key not in self.specializations:
            self.specializations[key] = Kernel(self.py_func, types, **self.targetoptions)
        return self.specializations[key]

    def forall(self, n: int, tpb: int = 128, stream=None, sharedmem: int = 0) -> Launcher:
        """A launch with at least `n` threads in one dimension."""
        return Launcher(self, -(-n // (tpb or 128)), tpb or 128, sharedmem) if n else _Nothing()

    def __call__(self, *args):
        raise KernelError(
            f"{self.__name__} is a kernel: say how many threads, {self.__name__}[grid, block](...)"
        )

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}: launch it with {self.__name__}[grid, block](...)>"


class Version:
    """A kernel compiled for some types."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel

    def max_cooperative_grid_blocks(self, blockdim, dynsmemsize: int = 0) -> int:
        """How many blocks of a size may wait for each other in ``grid.sync()``."""
        threads = math.prod(_launch.dimensions("block", blockdim))
        return _launch.COOPERATIVE_THREADS // threads

    def __repr__(self) -> str:
        return f"<a version of {self.kernel.__name__}>"


class DeviceFunction:
    """A function that kernels may call.

    Attributes
    ----------
    py_func : function
    signature : object
        Its types as the decorator was given them; None if it was not.
    """

    def __init__(self, function, signature=None, **options):
        code_of(function)
        self.py_func, self.signature = function, signature
        functools.update_wrapper(self, function)

    def __call__(self, *args):
        raise KernelError(f"{self.__name__} is a device function: call it from a kernel")

    def __getitem__(self, configuration):
        what = "Cannot compile a device function as a kernel"
        raise raised(RuntimeError, f"{what}: leave out device=True of {self.__name__}")

    def __repr__(self) -> str:
        return f"<device function {self.__name__}>"


class Launcher:
    """A kernel with its launch configuration."""

    def __init__(self, kernel: Kernel, grid, block, shared_bytes=0):
        self.kernel = kernel
        self.grid = _launch.dimensions("grid", grid)
        self.block = _launch.dimensions("block", block)
        self.shared_bytes = shared_bytes

    def __call__(self, *args) -> None:
        threads, most = math.prod(self.block), self.kernel.max_threads
        if most is not None and threads > most:
            raise KernelError(
                f"a block of {threads} threads; launch_bounds of {self.kernel.__name__} say {most}"
            )
        _launch.execute(self.kernel, self.grid, self.block, args, self.shared_bytes)

    def __repr__(self) -> str:
        return f"<{self.kernel.__name__}[{self.grid}, {self.block}]>"


class _Nothing:
    """A launch of no threads, which CUDA refuses and `Kernel.forall` does without."""

    def __call__(self, *args) -> None:
        """Run no kernel."""


def _check_carveout(asked) -> None:
    """Refuse a share of shared memory that CUDA does not know.

    Raises
    ------
    KernelError
    """
    if isinstance(asked, str) and asked.lower() not in ("default", "maxl1", "maxshared"):
        raise raised(
            ValueError,
            f"Invalid carveout value: {asked!r}: use 'default', 'maxl1' or 'maxshared'",
        )
    if isinstance(asked, int) and not -1 <= asked <= 100:
        raise raised(ValueError, f"a carveout of {asked} must be between -1 and 100 percent")


def jit(function=None, *, device: bool = False, **options):
    """Make a kernel, or a device function with ``device=True``.

    Numba's options (``fastmath``, ``lineinfo``, ``max_registers``, …) are taken and change nothing
    here. Types follow the arguments, unless a signature names them.
    """
    make = DeviceFunction if device else Kernel
    if isinstance(function, types.FunctionType):
        return make(function, **options)
    signature = options.pop("signature", function)
    return lambda f: make(f, signature, **options)


reduce = Reduce


def declare_device(*args, **options):
    """Refused: code of another language cannot be interpreted."""
    raise KernelError(
        "cuda.declare_device names code of CUDA C++, which needs a GPU: write it here"
    )


# -- arrays


random.create_xoroshiro128p_states = create_states
random.init_xoroshiro128p_states = init_states
random.xoroshiro128p_dtype = _xoroshiro.DTYPE


def pinned_array(shape, dtype=np.float64, strides=None, order="C") -> np.ndarray:
    """Page-locked host memory; ordinary memory here."""
    return empty(shape, dtype, strides, order)


def pinned_array_like(ary) -> np.ndarray:
    """Page-locked host memory like another array."""
    return np.empty_like(ary.memory if isinstance(ary, DeviceArray) else ary)


def mapped_array(
    shape, dtype=np.float64, strides=None, order="C", stream=0, portable=False, wc=False
) -> MappedArray:
    """Memory that host and device share."""
    return empty(shape, dtype, strides, order).view(MappedArray)


def mapped_array_like(ary, stream=0, portable=False, wc=False) -> MappedArray:
    """Shared memory of host and device with the shape and type of another array."""
    return device_array_like(ary).memory.view(MappedArray)


def managed_array(
    shape, dtype=np.float64, strides=None, order="C", stream=0, attach_global=True
) -> MappedArray:
    """Memory that moves between host and device as it is used."""
    return empty(shape, dtype, strides, order).view(MappedArray)


@contextmanager
def pinned(*arrays):
    """Page-lock arrays for a while; nothing to do here."""
    yield


@contextmanager
def mapped(*arrays, **options):
    """Let the device see arrays of the host for a while: it always does."""
    made = [DeviceArray(a) for a in arrays]
    yield made[0] if len(made) == 1 else made


def In(ary) -> DeviceArray:  # noqa: N802  (Numba's name)
    """An argument that is copied to the device and not back."""
    return DeviceArray(np.array(ary, order="K"))


def InOut(ary):  # noqa: N802
    """An argument that is copied both ways: an array is anyway."""
    return ary


Out = InOut


def as_cuda_array(obj, sync: bool = True) -> DeviceArray:
    """The memory of another library's device array, without a copy."""
    return from_interface(obj)


def from_cuda_array_interface(desc: dict, owner=None, sync: bool = True) -> DeviceArray:
    """The memory that a CUDA array interface describes."""
    return from_interface(types.SimpleNamespace(__cuda_array_interface__=desc, owner=owner))


def is_cuda_array(obj) -> bool:
    """Say whether an object lies on the device."""
    return hasattr(obj, "__cuda_array_interface__")


# -- time and order


class Stream:
    """Accepted and ignored: launches run at once, in order."""

    def synchronize(self) -> None:
        """Wait: nothing to wait for."""

    @contextmanager
    def auto_synchronize(self):
        """Wait at the end of a with block."""
        yield self


def stream() -> Stream:
    """A stream."""
    return Stream()


default_stream = legacy_default_stream = per_thread_default_stream = stream


def external_stream(ptr: int) -> Stream:
    """The stream of another library, which keeps it at the address `ptr`."""
    made = Stream()
    made.handle = ptr
    return made


class Event:
    """A point in time.

    Attributes
    ----------
    seconds : float or None
        When it was recorded; None before that.
    """

    def __init__(self, timing: bool = True):
        self.seconds: float | None = None

    def record(self, stream=None) -> None:
        """Take the time."""
        self.seconds = time.perf_counter()

    def synchronize(self) -> None:
        """Wait: nothing to wait for."""

    def wait(self, stream=None) -> None:
        """Let a stream wait: nothing to wait for."""

    def query(self) -> bool:
        """Say whether it has happened."""
        return self.seconds is not None

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds until another event."""
        return event_elapsed_time(self, end)


def event(timing: bool = True) -> Event:
    """An event."""
    return Event(timing)


def event_elapsed_time(start: Event, end: Event) -> float:
    """Milliseconds between two recorded events."""
    if start.seconds is None or end.seconds is None:
        raise ValueError("both events must be recorded before their distance is taken")
    return 1000 * (end.seconds - start.seconds)


def synchronize() -> None:
    """Wait for the device: launches have run when they return."""


# -- the device


class Device:
    """The interpreter under the names of a device's attributes."""

    name = b"CPU interpreter"
    id = 0
    compute_capability = (0, 0)
    MAX_THREADS_PER_BLOCK = _launch.LIMITS.threads
    MAX_SHARED_MEMORY_PER_BLOCK = _launch.LIMITS.shared_bytes
    MAX_BLOCK_DIM_X, MAX_BLOCK_DIM_Y, MAX_BLOCK_DIM_Z = _launch.LIMITS.block
    MAX_GRID_DIM_X, MAX_GRID_DIM_Y, MAX_GRID_DIM_Z = _launch.LIMITS.grid
    WARP_SIZE = 32
    MULTIPROCESSOR_COUNT = 1
    supports_float16 = supports_bfloat16 = True

    def __repr__(self) -> str:
        return "<CPU interpreter>"


def get_current_device() -> Device:
    """The device in use."""
    return Device()


def select_device(number: int = 0) -> Device:
    """Choose a device: there is one."""
    if number != 0:
        raise KernelError(f"there is no device {number}: the interpreter is device 0")
    return Device()


def list_devices() -> list[Device]:
    """All devices."""
    return [Device()]


gpus = list_devices()


@contextmanager
def defer_cleanup():
    """Put off freeing memory for a while; nothing to do here."""
    yield


@contextmanager
def profiling():
    """Profile for a while; nothing to do here."""
    yield


def profile_start() -> None:
    """Begin to profile: there is no profiler."""


profile_stop = profile_start


def is_float16_supported() -> bool:
    """Say whether kernels may compute with 16-bit floats: they may."""
    return True


is_bfloat16_supported = is_float16_supported


def is_available() -> bool:
    """Say whether there is a GPU: this module stands in where there is none."""
    return False


def close() -> None:
    """Give the device back: nothing to give."""


def __getattr__(name: str):
    raise AttributeError(
        f"cuda.{name} is not known to the interpreter, which runs kernels without a GPU: the page "
        '"What the interpreter runs" says what is'
    )


provide(sys.modules[__name__])

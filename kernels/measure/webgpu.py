"""Launch the rungs in WGSL through the package `wgpu`: the same text as in a browser, without one.

The package is no part of the course's environment: ``pip install wgpu``. It reaches the GPU through
Vulkan, Metal or Direct3D, and without a GPU through a software Vulkan such as lavapipe.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np

from kernels.host import cdiv
from kernels.rungs.webgpu.ladder import Variant

#: Seconds that the launches of one sample take together: beside them a submission is short.
SAMPLE = 0.04
LIMITS = (
    "max-compute-invocations-per-workgroup", "max-compute-workgroup-size-x",
    "max-compute-workgroup-size-y", "max-compute-workgroup-storage-size",
    "max-storage-buffer-binding-size", "max-buffer-size",
)  # fmt: skip
#: What C holds before a launch: a NaN like no other, since a wrong kernel makes NaNs, too.
POISON = np.uint32(0x7FDEADBE)
#: The features of a device that a rung may need, as `wgpu` calls them.
FEATURES = {
    "shader-f16": "shader-f16",
    "subgroups": "subgroup",
    "timestamp-query": "timestamp-query",
}
#: What `wgpu` has without being asked, and doesn't know as an extension of the language.
UNKNOWN = re.compile(r"^enable subgroups;\n")


class NoGpu(RuntimeError):
    """No WebGPU adapter was found; the message says what is missing."""


@dataclass(frozen=True)
class Adapter:
    """A GPU as WebGPU sees it.

    Attributes
    ----------
    device : wgpu.GPUDevice
    info : dict
        What the driver says of itself.
    features : frozenset of str
        Those of `FEATURES` that it has.
    limits : dict of str to int
    """

    device: Any
    info: dict[str, Any]
    features: frozenset[str]
    limits: dict[str, int]

    @property
    def software(self) -> bool:
        """Whether the adapter computes on the CPU."""
        return self.info["adapter_type"] == "CPU"

    @cached_property
    def _queries(self) -> tuple[Any, Any]:
        import wgpu

        usage = wgpu.BufferUsage.QUERY_RESOLVE | wgpu.BufferUsage.COPY_SRC
        queries = self.device.create_query_set(type="timestamp", count=2)
        return queries, self.device.create_buffer(size=16, usage=usage)

    def fault(self, choice: Variant) -> str:
        """Why the rung can't run here with these options, in one line; empty if it can."""
        rung, (x, y) = choice.rung, choice.block
        threads, shared = (self.limits[LIMITS[number]] for number in (0, 3))
        if rung.feature and rung.feature not in self.features:
            return f"{rung.name} needs {rung.feature}, which this GPU doesn't have"
        if rung.subgroup and self.software:
            return f"{rung.name} needs subgroups of {rung.subgroup} threads: use a GPU"
        if x * y > threads:
            return f"{rung.name} needs {x * y} threads per block; this GPU allows {threads}"
        if choice.shared_bytes > shared:
            return f"{rung.name} needs {choice.shared_bytes} bytes of shared memory; here {shared}"
        return ""

    def pipeline(self, source: str) -> Any:
        """Compile a text."""
        module = self.device.create_shader_module(code=UNKNOWN.sub("", source))
        compute = {"module": module, "entry_point": "main"}
        return self.device.create_compute_pipeline(layout="auto", compute=compute)

    def buffer(self, data: np.ndarray, uniform: bool = False) -> Any:
        """A buffer on the GPU that holds a copy of some data."""
        import wgpu

        usage = wgpu.BufferUsage
        own = usage.UNIFORM if uniform else usage.STORAGE | usage.COPY_SRC
        return self.device.create_buffer_with_data(data=data, usage=own)

    def read(self, buffer: Any, dtype: str = "float32") -> np.ndarray:
        """What a buffer holds."""
        return np.frombuffer(self.device.queue.read_buffer(buffer), dtype)

    def seconds(
        self, pipeline: Any, buffers: list[Any], grid: tuple[int, ...], repeat: int
    ) -> float:
        """Launch a kernel several times in one submission: seconds per launch."""
        layout = pipeline.get_bind_group_layout(0)
        entries = [
            {"binding": number, "resource": {"buffer": buffer, "offset": 0, "size": buffer.size}}
            for number, buffer in enumerate(buffers)
        ]
        queries, stamps = self._queries
        encoder = self.device.create_command_encoder()
        passed = encoder.begin_compute_pass(
            timestamp_writes={
                "query_set": queries,
                "beginning_of_pass_write_index": 0,
                "end_of_pass_write_index": 1,
            }
        )
        passed.set_pipeline(pipeline)
        passed.set_bind_group(0, self.device.create_bind_group(layout=layout, entries=entries))
        for _ in range(repeat):
            passed.dispatch_workgroups(*grid)
        passed.end()
        encoder.resolve_query_set(queries, 0, 2, stamps, 0)
        start = perf_counter()
        self.device.queue.submit([encoder.finish()])
        first, last = self.read(stamps, "uint64").tolist()
        wall = perf_counter() - start
        # A clock that stands still, or claims more than has passed, is none.
        elapsed = (last - first) / 1e9
        return (elapsed if 0 < elapsed <= wall else wall) / repeat


def adapter(software: bool = False) -> Adapter:
    """Open the machine's GPU.

    Parameters
    ----------
    software : bool
        Whether to open the adapter that computes on the CPU instead.

    Raises
    ------
    NoGpu
        Without the package `wgpu`, or without such an adapter.
    """
    try:
        import wgpu
    except ImportError as error:
        raise NoGpu(f"WGSL needs the package wgpu ({error}): pip install wgpu") from None
    for found in wgpu.gpu.enumerate_adapters_sync():
        info, limits = dict(found.info), {name: found.limits[name] for name in LIMITS}
        if info["backend_type"] == "OpenGL" or software != (info["adapter_type"] == "CPU"):
            continue
        has = {name: own for name, own in FEATURES.items() if own in found.features}
        if "timestamp-query" in has:
            device = found.request_device_sync(
                required_features=[*has.values()], required_limits=limits
            )
            return Adapter(device, info, frozenset(has), limits)
    kind = "software adapter" if software else "GPU"
    raise NoGpu(f"no {kind} with Vulkan, Metal or Direct3D 12 was found: install its driver")


def provenance(opened: Adapter) -> dict[str, str]:
    """Through what the GPU was reached."""
    return {"backend": opened.info["backend_type"], "wgpu": version("wgpu")}


class Product:
    """A product of one rung on a GPU: its matrices there, its launch, its result.

    Parameters
    ----------
    opened : Adapter
    choice : Choice
    A, B : ndarray of float32, M×K and K×N
        Rounded to fp16 where the rung reads that.
    """

    def __init__(self, opened: Adapter, choice: Variant, A: np.ndarray, B: np.ndarray):
        (self.M, self.K), self.N = A.shape, B.shape[1]
        self.opened, self.choice = opened, choice
        rung, (BM, BN), BK = choice.rung, choice.tile, choice.step
        rows, cols, steps = (BM, max(BN, 4), max(BK, 4)) if rung.padded else (1, 4, 4)
        dtype = "float16" if rung.bytes == 2 else "float32"
        # Zeros fill up whole tiles; elsewhere nobody may read between the rows.
        gap = 0 if rung.padded else np.nan
        held_A = filled(A.astype(dtype), rows, steps, gap)
        held_B = filled(B.astype(dtype), steps if rung.padded else 1, cols, gap)
        self.pitch = 4 * cdiv(self.N, 4)
        sizes = (self.M, self.N, self.K, held_A.shape[1], held_B.shape[1], self.pitch, 0, 0)
        self.pipeline = opened.pipeline(choice.source())
        self.C = opened.buffer(np.full((self.M, self.pitch), POISON))
        self.buffers = [
            *map(opened.buffer, (held_A, held_B)), self.C,
            opened.buffer(np.array(sizes, "uint32"), uniform=True),
        ]  # fmt: skip

    def seconds(self, repeat: int = 1) -> float:
        """Launch it: seconds per launch."""
        grid = self.choice.grid(self.M, self.N)
        return self.opened.seconds(self.pipeline, self.buffers, grid, repeat)

    def result(self) -> tuple[np.ndarray, bool]:
        """The product (M×N), and whether all between its rows is as it was."""
        held = self.opened.read(self.C).reshape(self.M, self.pitch)
        return held[:, : self.N], bool((held[:, self.N :].view("uint32") == POISON).all())

    def samples(self, number: int = 7) -> list[float]:
        """Seconds per launch, several times, after one to warm up."""
        repeat = max(1, round(SAMPLE / self.seconds()))
        return [self.seconds(repeat) for _ in range(number)]


def filled(matrix: np.ndarray, rows: int, cols: int, gap: float) -> np.ndarray:
    """A matrix filled up to multiples of `rows` and `cols`."""
    height, width = matrix.shape
    held = np.full((rows * cdiv(height, rows), cols * cdiv(width, cols)), gap, matrix.dtype)
    held[:height, :width] = matrix
    return held


def multiply(opened: Adapter, choice: Variant, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return A·B as the rung computes it.

    Raises
    ------
    AssertionError
        If the rung wrote past the ends of the rows of C.
    """
    product = Product(opened, choice, A, B)
    product.seconds()
    C, untouched = product.result()
    assert untouched, f"{choice.rung.name} wrote past the ends of the rows of C"
    return C

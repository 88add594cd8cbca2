"""One launch of one kernel, small enough to interpret and exact enough to compare bit by bit."""

import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    """A kernel with its launch, its inputs and what it must compute.

    Inputs are whole numbers, small enough that every sum is exact in every order: the output bytes
    of any two correct engines are then the same.

    Attributes
    ----------
    name : str
        Unique among the cases; the key of the recorded counters.
    kernel : callable
        What ``cuda.jit`` returned on this machine.
    grid, block : int or tuple of int
        The launch.
    make : callable
        Returns fresh arguments, the same at every call.
    expect : callable
        Takes the arguments as they were before the launch, returns ``{position: array}`` after it.
    shared_bytes : int
        Dynamic shared memory of the launch.
    """

    name: str
    kernel: Any
    grid: Any
    block: Any
    make: Callable[[], tuple]
    expect: Callable[..., dict[int, np.ndarray]]
    shared_bytes: int = 0

    @property
    def function(self):
        """The Python function behind the kernel."""
        return getattr(self.kernel, "py_func", self.kernel)

    @property
    def outputs(self) -> tuple[int, ...]:
        """Positions of the arguments that the kernel writes."""
        return tuple(self.expect(*self.make()))


def whole(*shape: int, seed: int = 1, low: int = -4, high: int = 5, dtype=np.float32) -> np.ndarray:
    """Random whole numbers in [low, high) as `dtype`."""
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def dims(extent) -> tuple[int, int, int]:
    """A launch extent as (x, y, z)."""
    extent = extent if isinstance(extent, (tuple, list)) else (extent,)
    return tuple(int(n) for n in (*extent, 1, 1)[:3])


def from_source(source: str, name: str) -> ModuleType:
    """Import a module's text from a file of its own, so that its functions have a source."""
    folder = Path(tempfile.gettempdir(), "tile-by-tile-kernels")
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}_{hashlib.sha256(source.encode()).hexdigest()[:12]}.py"
    if not path.exists():
        path.with_suffix(f".{os.getpid()}").write_text(source)
        path.with_suffix(f".{os.getpid()}").replace(path)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = (
        module  # and stays: Numba takes a function that calls itself from there
    )
    spec.loader.exec_module(module)
    return module

"""The operands of a launch: checked, moved to the device, and the result brought back."""

from collections.abc import Callable
from contextlib import contextmanager
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from kernels.backend import cuda, cupy, on_gpu
from kernels.host import rows
from kernels.host.checks import check_engine, check_indices
from kernels.host.follow import prepared

__all__ = [
    "Operands",
    "Product",
    "Vectors",
    "address",
    "check_array",
    "check_on_device",
    "check_resident",
    "free_bytes",
    "memory_errors",
    "wide",
]


def check_array(
    array, name: str, ndim: int, dtypes: tuple[str, ...] = ("float32",), empty: bool = False
) -> None:
    """Raise TypeError or ValueError unless `array` holds one of `dtypes` in `ndim` dimensions.

    `empty` says whether a size may be 0.
    """
    if not (hasattr(array, "shape") and hasattr(array, "dtype")):
        raise TypeError(
            f"{name} must be an array, got {type(array).__name__}:"
            f" use np.asarray({name}, dtype=np.{dtypes[0]})"
        )
    if str(array.dtype) not in dtypes:
        raise TypeError(
            f"{name} holds {array.dtype}; expected {' or '.join(dtypes)}:"
            f" use {name}.astype(np.{dtypes[0]})"
        )
    if len(array.shape) != ndim:
        raise ValueError(
            f"{name} has shape {tuple(array.shape)}; expected {ndim} dimension{'s' * (ndim > 1)}"
        )
    if 0 in array.shape and not empty:
        raise ValueError(f"{name} has shape {tuple(array.shape)}; every size must be at least 1")


def check_on_device(**arrays) -> None:
    """Raise TypeError unless these are CuPy arrays."""
    for name, array in arrays.items():
        if not isinstance(array, cupy.ndarray):
            raise TypeError(
                f"{name} is a {type(array).__name__}; expected a CuPy array:"
                f" use cupy.asarray({name})"
            )


def check_resident(**arrays) -> None:
    """Raise TypeError or ValueError unless these are contiguous CuPy arrays.

    A launch that is prepared for later copies nothing, neither its inputs nor its result.
    """
    check_on_device(**arrays)
    for name, array in arrays.items():
        if not array.flags.c_contiguous:
            raise ValueError(
                f"{name} ({'×'.join(map(str, array.shape))}) is not contiguous in rows:"
                f" pass cupy.ascontiguousarray({name})"
            )


def kind_of(array) -> str:
    """Say whose array this is: "cupy" or "numba" (on the device), or "numpy" (on the host)."""
    if isinstance(array, cupy.ndarray):
        return "cupy"
    return "numba" if hasattr(array, "copy_to_host") else "numpy"


class Operands:
    """Input arrays and one output: checked, moved to the device, and the result brought back.

    NumPy arrays are copied in and the result is copied out; CuPy and Numba arrays stay where they
    are, with any strides.

    Parameters
    ----------
    inputs : dict of str to array
        The arrays by name, all on the host or all on the device.
    out : array or None
        Where the result goes; None makes a new array of the kind of the inputs.
    shape : tuple of int
        Shape of the result.
    engine : {"numba", "cpp"}
        Whose kernel is to run on them.

    Raises
    ------
    TypeError, ValueError, RuntimeError
        One line that names the value, the limit and the way out.
    """

    #: Number format of the result.
    dtype = np.dtype(np.float32)
    #: Whether the Numba kernels, too, count rows and columns in 32 bits.
    narrow = True

    def __init__(self, inputs: dict, out, shape: tuple[int, ...], engine: str):
        self.engine = check_engine(engine)
        if engine == "cpp" or self.narrow:
            check_indices(engine, *self._sizes)
        everything = inputs if out is None else inputs | {"out": out}
        kinds = {name: kind_of(array) for name, array in everything.items()}
        on_host = [name for name, kind in kinds.items() if kind == "numpy"]
        on_device = [name for name, kind in kinds.items() if kind != "numpy"]
        if on_host and on_device:
            raise TypeError(
                f"{' and '.join(on_host)} on the host, {' and '.join(on_device)} on the device:"
                " move the first with cupy.asarray"
            )
        self._inputs, self._out, self._shape = inputs, out, shape
        self._packed = None
        #: What was copied because it does not lie as the kernel wants it: (copy, original).
        self._copied: list[tuple[Any, Any]] = []
        self._kind = "numpy" if on_host else next(iter(kinds.values()))
        if out is not None:
            self._check_out()

    def _check_out(self) -> None:
        check_array(self._out, "out", len(self._shape), (str(self.dtype),), empty=0 in self._shape)
        if tuple(self._out.shape) != self._shape:
            raise ValueError(
                f"out has shape {tuple(self._out.shape)}; the result has {self._shape}"
            )
        if self._kind == "numpy":
            if not self._out.flags.writeable:
                raise ValueError("out is read-only: pass an array that can be written")
            return
        for name, array in self._inputs.items():
            if array is self._out or shares_memory(array, self._out):
                raise ValueError(f"out shares memory with {name}: pass an array of its own")

    @property
    def nbytes(self) -> int:
        """Bytes of the inputs and the result."""
        inputs = sum(prod(array.shape) * array.dtype.itemsize for array in self._inputs.values())
        return inputs + self.dtype.itemsize * prod(self._shape)

    def arguments(self) -> tuple:
        """Return the Numba kernel's arguments on the device: the inputs, then the output."""
        inputs = tuple(self._inputs.values())
        with memory_errors(self.nbytes):
            if self._kind == "numpy":
                inputs = tuple(cupy.asarray(array) for array in inputs)
            if self._out is not None and self._kind != "numpy":
                self._result = self._out
            elif self._kind == "numba":
                self._result = cuda.device_array(self._shape, self.dtype)
            else:
                self._result = cupy.empty(self._shape, self.dtype)
            forward = (self._copy(a) if runs_backward(a) else a for a in inputs)
            return *forward, self._written(runs_backward)

    @cached_property
    def on_device(self) -> tuple:
        """The inputs and the output on the device, each contiguous."""
        *inputs, _ = (cupy.asarray(array) for array in self.arguments())
        with memory_errors(2 * self.nbytes):  # at most: those that are not contiguous are copied
            inputs = [array if array.flags.c_contiguous else self._copy(array) for array in inputs]
            return *inputs, cupy.asarray(self._written(lambda array: not array.flags.c_contiguous))

    def cpp_arguments(self) -> tuple:
        """Return the CUDA C++ kernel's arguments: contiguous arrays, then the sizes."""
        return *self.on_device, *(np.int32(size) for size in self._sizes)

    def launcher(
        self,
        kernel: Any,
        compiled: Callable[[], Any],
        grid: tuple[int, ...],
        block: tuple[int, ...],
    ) -> Callable[[], object]:
        """Return a function that launches the Numba kernel, or `compiled()`, on these."""
        if self.engine == "numba":
            return prepared(kernel, grid, block, self.arguments())
        arguments = self.cpp_arguments()  # first: compiling may depend on how they lie
        return prepared(compiled(), grid, block, arguments)

    def workspace(self, shape: tuple[int, ...]):
        """Return a float32 array on the device for what one kernel leaves for the next."""
        with memory_errors(4 * prod(shape)):
            return cupy.empty(shape, np.float32)

    def _copy(self, array):
        """Return a contiguous copy on the device, which `around` makes anew."""
        array = cupy.asarray(array)
        copy = cupy.ascontiguousarray(array)
        copy = array.copy() if copy is array else copy
        self._copied.append((copy, array))
        return copy

    def around(self, launch: Callable[[], object]) -> Callable[[], object]:
        """Return a launch that copies first, and afterwards, what was copied for the first one."""
        if not self._copied and self._packed is None:
            return launch

        def start() -> None:
            for copy, original in self._copied:
                rows.copy(copy, original)
            launch()
            self.result()

        return start

    def _written(self, needs_copy):
        """Return what the kernel writes: the result itself, or an array that is copied there."""
        if self._packed is None and needs_copy(cupy.asarray(self._result)):
            self._packed = cupy.empty(self._shape, self.dtype)
        return self._result if self._packed is None else self._packed

    def result(self):
        """Return the output: `out` if there is one, else an array of the kind of the inputs."""
        if self._packed is not None:
            rows.copy(cupy.asarray(self._result), self._packed)
        if self._kind != "numpy":
            return self._result
        if self._out is None:
            return cupy.asnumpy(self._result)
        self._out[...] = cupy.asnumpy(self._result)
        return self._out


class Product(Operands):
    """The operands of C = A·B with their sizes `M`, `N` and `K`."""

    #: Number formats that A and B may have.
    takes: tuple[str, ...] = ("float32",)

    def __init__(self, A, B, out=None, engine="numba"):
        check_array(A, "A", 2, self.takes)
        check_array(B, "B", 2, self.takes)
        (self.M, self.K), (rows, self.N) = A.shape, B.shape
        if rows != self.K:
            raise ValueError(
                f"A is {self.M}×{self.K} and B is {rows}×{self.N}:"
                " B must have as many rows as A has columns"
            )
        self._sizes = (self.M, self.N, self.K)
        super().__init__({"A": A, "B": B}, out, (self.M, self.N), engine)


class Vectors(Operands):
    """The operands of c = a + b with their length `n`."""

    narrow = False

    def __init__(self, a, b, out=None, engine="numba"):
        check_array(a, "a", 1)
        check_array(b, "b", 1)
        if a.shape != b.shape:
            raise ValueError(f"a has {a.shape[0]} elements and b has {b.shape[0]}: make them equal")
        (self.n,) = self._sizes = a.shape
        super().__init__({"a": a, "b": b}, out, (self.n,), engine)


def runs_backward(array) -> bool:
    """Whether a stride is negative, as in ``a[::-1]``: numba-cuda takes no such array."""
    return any(stride < 0 for stride in array.strides)


def shares_memory(x, y) -> bool:
    """Whether two arrays on the device overlap."""
    x, y = cupy.asarray(x), cupy.asarray(y)
    # The exact test looks at every element: ask it only where the ranges of addresses meet.
    return cupy.may_share_memory(x, y) and cupy.shares_memory(x, y)


@contextmanager
def memory_errors(nbytes: int):
    """Turn a GPU's "out of memory" into one line: what was asked, what is free, what to do."""
    try:
        yield
    except Exception as error:
        text = f"{type(error).__name__} {error}".lower().replace("_", " ")
        if not any(sign in text for sign in ("out of memory", "outofmemory", "memoryallocation")):
            raise
        raise MemoryError(
            f"the arrays need {nbytes / 1e9:.2f} GB; this GPU has"
            f" {free_bytes() / 1e9:.2f} GB free: use smaller sizes, or free some memory first"
        ) from None


def free_bytes() -> int:
    """Return how many bytes of device memory are free, what CuPy keeps for reuse included."""
    try:
        return cupy.cuda.Device().mem_info[0] + cupy.get_default_memory_pool().free_bytes()
    except cupy.cuda.runtime.CUDARuntimeError:  # not even enough for CUDA itself to start
        return 0


def wide(*matrices) -> int:
    """Return 1 if 16 bytes of each matrix may be loaded at once, else 0: the C++ macro ``WIDE``.

    Parameters
    ----------
    *matrices : cupy.ndarray of float32, 2 dimensions
        Contiguous. Each must begin at a multiple of 16 bytes, and so must its rows.
    """
    return int(all(x.shape[1] % 4 == 0 and address(x) % 16 == 0 for x in matrices))


def address(array) -> int:
    """Return where an array on the device begins, in bytes."""
    return array.data.ptr if on_gpu else array.ctypes.data

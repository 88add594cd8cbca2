"""What the names of ``numba.cuda`` mean to the interpreter, whoever provides them.

A kernel may be written against this package's `api` or against Numba itself; both end up at the
same objects. Numba is recognised by name and never imported.
"""

from __future__ import annotations

import sys
import types

import numpy as np

from .values import TupleType

CUDA_MODULES = ("numba.cuda", "numba_cuda.numba.cuda")
_cuda: types.ModuleType | None = None


class Intrinsic:
    """A function that exists inside kernels only, such as ``cuda.syncthreads``."""

    def __init__(self, name: str):
        self.name = name

    def __call__(self, *args, **kwargs):
        raise RuntimeError(f"cuda.{self.name} works inside a kernel only")

    def __repr__(self) -> str:
        return f"<cuda.{self.name}>"


class Coordinate:
    """A number that each thread has, such as ``cuda.threadIdx.x``."""

    def __init__(self, name: str, axis: int = 0):
        self.name, self.axis = name, axis

    def __repr__(self) -> str:
        return f"<cuda.{self.name}>"


class Dim3:
    """``cuda.threadIdx`` and its like: x, y and z."""

    def __init__(self, name: str):
        self.name = name
        self.x, self.y, self.z = (Coordinate(name, axis) for axis in range(3))

    def __repr__(self) -> str:
        return f"<cuda.{self.name}>"


class Namespace:
    """``cuda.shared``, ``cuda.atomic``: a name with intrinsics in it."""

    def __init__(self, name: str, members: str):
        self._name = name
        for member in members.split():
            setattr(self, member, Intrinsic(f"{name}.{member}"))

    def __repr__(self) -> str:
        return f"<cuda.{self._name}>"


class VectorType:
    """A vector type such as ``cuda.float32x4``, which a kernel calls to make one."""

    def __init__(self, kind: TupleType):
        self.kind = kind

    def __repr__(self) -> str:
        return f"<cuda.{self.kind.title}>"


#: Names of C++ -> those of Numba.
SHORT = {
    "char": "int8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "longlong": "int64",
    "uchar": "uint8",
    "ushort": "uint16",
    "uint": "uint32",
    "ulong": "uint64",
    "ulonglong": "uint64",
    "float": "float32",
    "double": "float64",
}


def vectors() -> dict[str, VectorType]:
    """The vector types by all their names: ``float32x4`` and ``float4``."""
    made = {}
    for element in dict.fromkeys(SHORT.values()):
        for n in range(1, 5):
            kind = TupleType(f"{element}x{n}", ("x", "y", "z", "w")[:n], np.dtype(element))
            made[kind.title] = VectorType(kind)
    for short, element in SHORT.items():
        made |= {f"{short}{n}": made[f"{element}x{n}"] for n in range(1, 5)}
    return made


def is_cuda(owner) -> bool:
    """Say whether an object is `cuda` or a part of it."""
    return isinstance(owner, Namespace) or owner is _cuda


_also_known: dict[int, tuple[object, object]] = {}


def also_known(v, own) -> None:
    """Let the interpreter see `own` where a kernel names `v`."""
    _also_known[id(v)] = v, own


def known(v):
    """The interpreter's own object for one of Numba's; anything else stays."""
    if isinstance(v, types.ModuleType):
        return _cuda if v.__name__ in CUDA_MODULES else _part(v.__name__, v)
    if id(v) in _also_known:
        return _also_known[id(v)][1]
    module = getattr(v, "__module__", None)
    if not (isinstance(module, str) and module.startswith(("numba.cuda", "numba_cuda"))):
        return v
    for path in CUDA_MODULES:
        numba_cuda = sys.modules.get(path)
        for name, member in vars(numba_cuda).items() if numba_cuda is not None else ():
            if member is v and hasattr(_cuda, name):
                return getattr(_cuda, name)
    if module.endswith(".cuda_bf16"):
        return getattr(_cuda.bf16, getattr(v, "__name__", "").lstrip("_"), v)
    if getattr(v, "name", "") == "__nv_bfloat16":
        return _cuda.bfloat16
    if module.endswith(".stubs"):
        return getattr(_cuda, getattr(v, "__name__", ""), v)
    return getattr(_part(module, None), getattr(v, "__name__", ""), v)


def provided() -> types.ModuleType:
    """The module that stands for ``numba.cuda``."""
    return _cuda


def _part(path: str, otherwise):
    """What stands for a module below ``numba.cuda``, such as ``numba.cuda.random``."""
    for parent in CUDA_MODULES:
        if path.startswith(f"{parent}."):
            return getattr(_cuda, path.removeprefix(f"{parent}."), otherwise)
    return otherwise


def provide(module: types.ModuleType) -> None:
    """Name the module that stands for ``numba.cuda``: `api` does, when it is imported."""
    global _cuda
    _cuda = module

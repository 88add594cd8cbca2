"""``cuda.vectorize``: a function of numbers, applied to every element of arrays."""

from __future__ import annotations

import linecache
import re

import numpy as np

from . import names
from .errors import KernelError
from .source import code_of
from .values import dtype_of

THREADS = 128
SIGNATURE = re.compile(r"\s*(\w+)\s*\(([\w\s,]*)\)\s*")


class Vectorized:
    """What ``cuda.vectorize`` makes of a function: call it with arrays or numbers.

    Parameters
    ----------
    function : function
    signatures : list of str
        Such as ``"float32(float32, float32)"``; the first that takes the arguments is used.
    """

    def __init__(self, function, signatures: list[str]):
        code_of(function)
        self.function = function
        self.versions = list(map(_types, signatures))
        self.__name__, self.__doc__ = function.__name__, function.__doc__

    def __call__(self, *args, out=None, stream=0):
        """Apply the function.

        Parameters
        ----------
        *args : array or number
            Broadcast to one shape.
        out : array, optional
            Where the results go; a new array if left out.
        """
        cuda = names.provided()
        result, types = self.version(args)
        arrays = np.broadcast_arrays(*map(np.asarray, args))
        flat = [cuda.to_device(a.astype(t).reshape(-1)) for a, t in zip(arrays, types, strict=True)]
        made = cuda.device_array(flat[0].size, result)
        _kernel(cuda, self.function, len(flat)).forall(made.size, THREADS)(made, *flat)
        made = made.reshape(arrays[0].shape)
        if out is not None:
            out[:] = made
            return out
        return made if any(map(cuda.is_cuda_array, args)) else made.copy_to_host()

    def version(self, args) -> tuple[np.dtype, list[np.dtype]]:
        """The types of the result and of the arguments, by the first signature that takes these."""
        for result, types in self.versions:
            if len(types) == len(args) and all(map(_fits, args, types)):
                return result, types
        given = ", ".join(str(np.asarray(a).dtype) for a in args)
        raise KernelError(f"{self.__name__} has no version for ({given}): add its signature")


def vectorize(signatures=(), target: str = "cuda", **options):
    """Make a function of numbers one of arrays: ``@cuda.vectorize(["float32(float32)"])``."""
    signatures = [signatures] if isinstance(signatures, str) else signatures
    if callable(signatures) or not signatures or not all(isinstance(s, str) for s in signatures):
        raise KernelError(
            'cuda.vectorize takes a list of types: @cuda.vectorize(["float32(float32, float32)"])'
        )
    return lambda function: Vectorized(function, list(signatures))


def _types(signature: str) -> tuple[np.dtype, list[np.dtype]]:
    """The types that a signature names."""
    found = SIGNATURE.fullmatch(signature)
    names = [found[1], *filter(None, map(str.strip, found[2].split(",")))] if found else []
    types = list(map(dtype_of, names))
    if len(types) < 2 or any(t is None for t in types):
        raise KernelError(f"{signature!r} is no signature such as 'float32(float32, float32)'")
    return types[0], types[1:]


def _fits(a, t: np.dtype) -> bool:
    """Say whether an argument goes into a type: Python's own numbers go into any of their kind."""
    if isinstance(a, (bool, int, float, complex)):
        return np.can_cast(np.min_scalar_type(a), t, "same_kind")
    return np.can_cast(np.asarray(a).dtype, t)


def _kernel(cuda, function, count: int):
    """The kernel: one thread per element."""
    inputs = [f"a{k}" for k in range(count)]
    text = (
        f"def elementwise(out, {', '.join(inputs)}):\n"
        "    i = cuda.grid(1)\n"
        "    if i < out.size:\n"
        f"        out[i] = function({', '.join(f'{name}[i]' for name in inputs)})\n"
    )
    filename = f"<elementwise, {count} arrays>"
    linecache.cache[filename] = len(text), None, text.splitlines(keepends=True), filename
    scope = {"cuda": cuda, "function": cuda.jit(device=True)(function)}
    exec(compile(text, filename, "exec"), scope)
    return cuda.jit(scope["elementwise"])

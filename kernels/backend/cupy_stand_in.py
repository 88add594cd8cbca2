"""What the chapters use of CuPy, over NumPy, for machines without a GPU.

Arrays made here are `ndarray`: NumPy arrays that know they stand for arrays on a device, so that
`asarray` copies a NumPy array in, `asnumpy` copies it out, and a host function can tell the two
apart. What only a GPU can do (`RawKernel`, `RawModule`, `cuda`) raises one clear error.
"""

from functools import wraps

import numpy as np

__all__ = ["asarray", "asnumpy", "ndarray", "random"]


class ndarray(np.ndarray):
    """A NumPy array in the part of an array on a device."""

    def get(self):
        """Return a copy as a plain NumPy array, as ``cupy.ndarray.get`` does."""
        return asnumpy(self)

    def set(self, values):
        """Copy a NumPy array into this one, as ``cupy.ndarray.set`` does."""
        self[...] = values

    def __repr__(self):
        return repr(self.view(np.ndarray))


def asarray(a, dtype=None, order=None):
    """Return `a` as a device array: copied, unless it is one already."""
    if isinstance(a, ndarray) and dtype in (None, a.dtype):
        return a
    return np.array(a, dtype=dtype, order=order or "K").view(ndarray)


def asnumpy(a):
    """Return a copy of the device array `a` as a NumPy array."""
    return np.array(a)


def _on_device(function):
    """Wrap a NumPy function so that the arrays it makes count as device arrays."""

    @wraps(function)
    def wrapper(*args, **kwargs):
        result = function(*args, **kwargs)
        return result.view(ndarray) if isinstance(result, np.ndarray) else result

    return wrapper


class _Generator:
    """``numpy.random.Generator`` whose samples are device arrays."""

    def __init__(self, seed=None):
        self._generator = np.random.default_rng(seed)

    def __getattr__(self, name):
        return _on_device(getattr(self._generator, name))


class random:
    """The part of ``cupy.random`` that makes generators."""

    default_rng = _Generator


_GPU_ONLY = ("RawKernel", "RawModule", "ElementwiseKernel", "ReductionKernel", "cuda")


def __getattr__(name):
    if name in _GPU_ONLY:
        raise RuntimeError(f"cupy.{name} needs an NVIDIA GPU; this session runs on the interpreter")
    try:
        value = getattr(np, name)
    except AttributeError:
        raise AttributeError(f"the CPU stand-in for CuPy has no {name!r}") from None
    if isinstance(value, type) or not callable(value):
        return value
    return _on_device(value)

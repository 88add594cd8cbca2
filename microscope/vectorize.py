"""``cuda.vectorize`` and ``cuda.guvectorize``: a function applied all over some arrays.

The function of `vectorize` takes numbers; that of `guvectorize` takes the last axes of its arrays,
whose names a layout such as ``"(m,n),(n,p)->(m,p)"`` gives. One thread makes each call.
"""

from __future__ import annotations

import linecache
import math
import re
import warnings

import numpy as np

from . import names, signatures
from .errors import KernelError, raised
from .source import code_of

THREADS = 128
OPTIONS = ("nopython", "cache", "fastmath")
CORE = re.compile(r"\(([\w\s,]*)\)")


class Elementwise:
    """What both decorators make of a function: call it with arrays or numbers.

    Parameters
    ----------
    function : function
    versions : list of Signature
        Types of its inputs and outputs; the first that takes the arguments is used.
    """

    def __init__(self, function, versions: list[signatures.Signature]):
        code_of(function)
        self.function, self.versions = function, versions
        self.__name__, self.__doc__ = function.__name__, function.__doc__

    def version(self, args: list, count: int) -> signatures.Signature:
        """The first signature of just these types, or the first that takes them."""
        given = [a.dtype for a in args]
        for fits in (np.equal, np.can_cast):
            for one in self.versions:
                wanted = [getattr(t, "dtype", t) for t in one.parameters[:count]]
                if all(bool(fits(a, b)) for a, b in zip(given, wanted, strict=True)):
                    return one
        kinds = ", ".join(str(d) for d in given)
        raise raised(TypeError, f"{self.__name__} has no version for ({kinds}): add its signature")


def _arrays(args) -> tuple[list, bool]:
    """The arguments as arrays, and whether one of them lies on the device."""
    cuda = names.provided()
    on_device = any(cuda.is_cuda_array(a) for a in args)
    return [cuda.as_cuda_array(a) if cuda.is_cuda_array(a) else np.asarray(a) for a in args], (
        on_device
    )


def _output(a):
    """An output array; another library's as one of the device's."""
    cuda = names.provided()
    own = isinstance(a, np.ndarray) or hasattr(a, "copy_to_host")
    return cuda.as_cuda_array(a) if cuda.is_cuda_array(a) and not own else a


def _host(a) -> np.ndarray:
    """The memory of an array, wherever it lies."""
    return a.memory if hasattr(a, "copy_to_host") else a


class Vectorized(Elementwise):
    """A function of numbers, applied to every element."""

    def __call__(self, *args, out=None, stream=0):
        """Apply the function.

        Parameters
        ----------
        *args : array or number
            Broadcast to one shape.
        out : array, optional
            Where the results go; a new array if left out.
        """
        count = len(self.versions[0].parameters)
        if len(args) == count + 1 and out is None:
            *args, out = args
        if len(args) != count:
            raise raised(
                TypeError, f"{self.__name__} takes {count} arrays or numbers, got {len(args)}"
            )
        cuda, out = names.provided(), _output(out)
        arrays, on_device = _arrays(args)
        version = self.version(arrays, count)
        spread = np.broadcast_arrays(*map(_host, arrays))
        shape = spread[0].shape
        flat = [
            cuda.to_device(a.astype(t).reshape(-1))
            for a, t in zip(spread, version.parameters, strict=True)
        ]
        made = cuda.device_array(math.prod(shape), version.result)
        inputs = [f"a{k}" for k in range(count)]
        call = f"out[i] = function({', '.join(f'{name}[i]' for name in inputs)})"
        _kernel(self.function, ["out", *inputs], call).forall(made.size, THREADS)(made, *flat)
        made = made.reshape(shape)
        if out is not None:
            _host(out)[...] = made.memory
            return out
        return made if on_device else made.copy_to_host()[()]

    def reduce(self, arg, stream=0):
        """Fold an array of one axis with the function, which takes two numbers."""
        (a,), _ = _arrays([arg])
        if len(self.versions[0].parameters) != 2 or a.ndim != 1 or not a.size:
            raise raised(TypeError, f"{self.__name__}.reduce folds an array of one axis by pairs")
        a = _host(a)
        while a.size > 1:
            half = a.size // 2
            a = np.concatenate([self(a[:half], a[half : 2 * half]), a[2 * half :]])
        return a[0]


class Generalized(Elementwise):
    """A function of parts of arrays, applied to each part.

    Parameters
    ----------
    function : function
    versions : list of Signature
    inputs, outputs : list of list of str
        Names of the axes that the function gets of each array.
    """

    def __init__(self, function, versions, inputs: list[list[str]], outputs: list[list[str]]):
        super().__init__(function, versions)
        self.inputs, self.outputs = inputs, outputs

    def __call__(self, *args, out=None, stream=0):
        """Apply the function; outputs are made unless they are given.

        Raises
        ------
        KernelError
            For a wrong number of arrays (a TypeError too), or axes that do not fit (a ValueError).
        """
        nin, nout = len(self.inputs), len(self.outputs)
        if len(args) not in (nin, nin + nout):
            raise raised(
                TypeError, f"{self.__name__} takes {nin} arrays, or {nin + nout} with its outputs; "
                f"got {len(args)}",
            )  # fmt: skip
        if out is not None and len(args) > nin:
            raise raised(ValueError, f"{self.__name__} got its output by position and as out=")
        given = args[nin:] if out is None else [out] if nout == 1 else out
        given = list(map(_output, given))
        arrays, on_device = _arrays(args[:nin])
        version = self.version_of(args[:nin], arrays)
        types = [getattr(t, "dtype", t) for t in version.parameters]
        sizes: dict[str, int] = {}
        loops = np.broadcast_shapes(
            *(self.outer(a.shape, axes, sizes) for a, axes in zip(arrays, self.inputs, strict=True))
        )
        cuda, parts = names.provided(), []
        for a, axes, t in zip(arrays, self.inputs, types, strict=False):
            core = tuple(sizes[name] for name in axes)
            host = np.broadcast_to(_host(a).astype(t), loops + core)
            parts.append(host.reshape(math.prod(loops), *core))
        shapes = [loops + tuple(sizes[name] for name in axes) for axes in self.outputs]
        for k, (shape, axes) in enumerate(zip(shapes, self.outputs, strict=True)):
            made = np.zeros(shape, types[nin + k])
            if given:
                made[...] = _host(given[k]).reshape(shape)
            parts.append(made.reshape(math.prod(loops), *shape[len(shape) - len(axes) :]))
        passed, device = [], []
        for k, (a, t) in enumerate(zip(parts, version.parameters, strict=True)):
            numbers = not isinstance(t, signatures.ArrayType)
            lone = not numbers and a.ndim == 1  # one number, which the function sees as an array
            device.append(cuda.to_device(np.ascontiguousarray(a[:, None] if lone else a)))
            passed.append(f"a{k}[i]")
        call = f"function({', '.join(passed)})"
        kernel = _kernel(self.function, [f"a{k}" for k in range(len(parts))], call, "a0.shape[0]")
        kernel.forall(math.prod(loops), THREADS)(*device)
        results = []
        for k, shape in enumerate(shapes):
            made = device[nin + k].reshape(shape)
            if given:
                _host(given[k])[...] = made.memory.reshape(given[k].shape)
                made = given[k]
            results.append(made if on_device or given else made.copy_to_host()[()])
        return results[0] if nout == 1 else tuple(results)

    def version_of(self, args, arrays: list) -> signatures.Signature:
        """As `version`; numbers and arrays of the host may be of any type that numbers have."""
        try:
            return self.version(arrays, len(arrays))
        except KernelError:
            wanted = self.versions[0].parameters
            for a, t in zip(arrays, wanted, strict=False):
                moved = hasattr(a, "copy_to_host") and a.dtype != getattr(t, "dtype", t)
                if moved or not np.can_cast(a.dtype, getattr(t, "dtype", t), "same_kind"):
                    raise
            return self.versions[0]

    def outer(self, shape: tuple, axes: list[str], sizes: dict[str, int]) -> tuple:
        """The axes of an array that the function does not get; fills `sizes` with those it does."""
        if len(shape) < len(axes):
            raise raised(
                ValueError, f"{self.__name__} takes an array of {len(axes)} axes, got {len(shape)}"
            )
        cut = len(shape) - len(axes)
        for name, n in zip(axes, shape[cut:], strict=True):
            if sizes.setdefault(name, n) != n:
                raise raised(ValueError, f"{self.__name__}: axis {name} is {sizes[name]} and {n}")
        return shape[:cut]


def vectorize(ftylist_or_function=(), target: str = "cuda", **options):
    """Make a function of numbers one of arrays: ``@cuda.vectorize(["float32(float32)"])``.

    The signatures are texts or Numba's own.
    """
    found = ftylist_or_function
    if callable(found) and not hasattr(found, "args") or not found:
        raise KernelError(
            'cuda.vectorize takes a list of types: @cuda.vectorize(["float32(float32, float32)"])'
        )
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise raised(KeyError, f"Unrecognized options of cuda.vectorize: {', '.join(unknown)}")
    if "nopython" in options:
        warnings.warn("nopython kwarg for cuda target is redundant", RuntimeWarning, stacklevel=2)
    versions = _versions(found)
    for one in versions:
        types = [one.result, *one.parameters]
        if len(types) < 2 or not all(isinstance(t, np.dtype) for t in types):
            raise KernelError(f"{found!r} is no signature such as 'float32(float32, float32)'")
    return lambda function: Vectorized(function, versions)


def guvectorize(ftylist, signature: str, target: str = "cuda", **options):
    """Make a function of parts of arrays one of whole arrays.

    ``@cuda.guvectorize(["void(float32[:], float32[:])"], "(n)->()")`` gives it the last axis of its
    input, and an array of one element for the output.
    """
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise raised(TypeError, f"cuda.guvectorize does not take {', '.join(unknown)}")
    if not options.get("nopython", True):
        raise raised(TypeError, "cuda.guvectorize takes nopython=True only")
    left, arrow, right = signature.replace(" ", "").partition("->")
    inputs, outputs = ([c.split(",") if c else [] for c in CORE.findall(s)] for s in (left, right))
    if not arrow or not inputs or not outputs:
        raise KernelError(f"{signature!r} is no layout such as '(m,n),(n)->(m)'")
    versions = _versions(ftylist)
    for one in versions:
        if one.result not in (None, signatures.NOTHING):
            raise raised(
                TypeError, f"a function of cuda.guvectorize returns nothing, not {one.result}: it "
                "stores its results in its last arrays",
            )  # fmt: skip
        if len(one.parameters) != len(inputs) + len(outputs) or any(
            t is None for t in one.parameters
        ):
            raise KernelError(f"{ftylist!r} does not name the types of {signature}")
    return lambda function: Generalized(function, versions, inputs, outputs)


def _versions(given) -> list[signatures.Signature]:
    """The signatures that a decorator was given, alone or in a list or tuple."""
    alone = isinstance(given, str) or hasattr(given, "args")
    try:
        return signatures.parse([given] if alone else list(given))
    except SyntaxError:
        raise KernelError(f"{given!r} is no signature such as 'float32(float32)'") from None


def _kernel(function, parameters: list[str], call: str, count: str = "out.size"):
    """A kernel in which thread `i` makes a call."""
    cuda = names.provided()
    text = (
        f"def elementwise({', '.join(parameters)}):\n"
        "    i = cuda.grid(1)\n"
        f"    if i < {count}:\n"
        f"        {call}\n"
    )
    filename = f"<elementwise, {call}>"
    linecache.cache[filename] = len(text), None, text.splitlines(keepends=True), filename
    scope = {"cuda": cuda, "function": cuda.jit(device=True)(function)}
    exec(compile(text, filename, "exec"), scope)
    return cuda.jit(scope["elementwise"])

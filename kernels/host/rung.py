"""A rung of the ladder: one way to multiply matrices, launched in either language.

A rung's file defines its kernel, its options and its `Rung`. What all launches have in common is
here: arguments are checked and moved to the device, the Numba kernel or its CUDA C++ counterpart is
compiled for the options and launched, and the result is brought back.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from itertools import product
from typing import Any

from kernels import host
from kernels.backend import on_gpu
from kernels.backend.device import device
from kernels.host import cpp, half, tuned
from kernels.host.follow import prepared
from kernels.host.model import Model
from kernels.host.options import Options

__all__ = ["ENGINE_TITLES", "Rung"]

#: What a table or a chart calls the language of an engine.
ENGINE_TITLES = {"numba": "Numba", "cpp": "CUDA C++", "library": "cuBLAS"}
Values = dict[str, int]
Capability = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Rung:
    """One way to multiply matrices on a GPU.

    Attributes
    ----------
    name : str
        Its key in `LADDER` and in records, the name of its file and of its two kernels.
    title : str
        What a chart or a table calls it.
    chapter : str
        The chapter that builds it, such as ``"03-naive"``.
    Options : type
        Its options, a subclass of `kernels.host.options.Options`.
    make : callable, optional
        Returns the Numba kernel for some options, given by name.
    engines : tuple of str
        The languages it is written in: "numba", "cpp".
    choices : dict of str to tuple of dict
        By engine, the sets of options that are tested and measured, the default of that language
        first; an engine that is left out has every combination of `options`.
    dtypes : tuple of str
        The number formats of A and B that it takes, such as ``("float32",)``.
    out_dtype : str
        The number format of C.
    needs : (int, int)
        The least compute capability of a GPU that runs it.
    only : str
        Empty, or why no later GPU generation runs it either.
    instead : Rung, optional
        What to use on a GPU that cannot run it.
    wide : bool
        Whether the C++ kernel is compiled with ``WIDE``: 1 where the arrays allow 16-byte accesses.
    dynamic_shared : bool
        Whether it asks for its shared memory at the launch: then it may have more than 48 KiB.
    arch : str
        The GPU that the counterpart is compiled for, where that of the device is not exact enough.
    """

    name: str
    title: str
    chapter: str
    Options: type[Options]
    make: Callable[..., Any] | None = None
    engines: tuple[str, ...] = ("numba", "cpp")
    choices: Mapping[str, tuple[Values, ...]] = field(default_factory=dict)
    dtypes: tuple[str, ...] = ("float32",)
    out_dtype: str = "float32"
    needs: Capability = (0, 0)
    only: str = ""
    instead: "Rung | None" = None
    wide: bool = False
    dynamic_shared: bool = False
    arch: str = ""

    # ------------------------------------------------------------------------------- products

    def matmul(self, A, B, out=None, engine="numba", **options):
        """Return C = A·B.

        Without options it takes those that ``python -m kernels tune`` found for this GPU and class
        of shapes, if there are any, and the rung's defaults otherwise.

        Parameters
        ----------
        A, B : array of one of the rung's `dtypes`, shapes (M, K) and (K, N)
            NumPy arrays are copied to the device; CuPy and Numba arrays stay there. Any strides:
            the Numba kernel follows them, the C++ counterpart gets contiguous copies.
        out : array of float32 (of 16 bits where A and B are), shape (M, N), optional
            Where C goes, on the side where A and B are.
        engine : {"numba", "cpp"}
            The language whose kernel runs; "cpp" needs a GPU.
        **options : int
            As in `options`.

        Returns
        -------
        array of float32, shape (M, N)
            `out`, or a new array of the kind of A and B.

        Raises
        ------
        TypeError, ValueError, RuntimeError, MemoryError
            One line that names the value, the limit and the way out.
        """
        self._check_names(options)
        self._check_engine(engine)
        dtype = half.dtype_of(A) if hasattr(A, "dtype") else self.dtypes[0]
        if dtype == half.stored(self.dtypes[0]):
            dtype = self.dtypes[0]
        self._check_gpu(dtype)
        options = options or self._tuned(A, B, engine, dtype)
        chosen = self.Options(**self.default(engine) | options)
        product = self.operands(A, B, out, engine)
        self.launcher(product, chosen)()
        return product.result()

    def prepare(self, A, B, C, engine="numba", strided=False, **options) -> Callable[[], object]:
        """Return a function that launches C = A·B on CuPy arrays, with little work of the host.

        The arrays are checked here, once. Every call of the function computes the product anew, and
        allocates nothing: a CUDA graph can record it. It goes to CuPy's stream of the call.

        Parameters
        ----------
        A, B, C : cupy.ndarray
            Contiguous, since nothing is copied (but see `copies`).
        engine : {"numba", "cpp"}
        strided : bool
            Take arrays of any strides: what does not lie as the kernel wants it is copied by every
            call, to and from memory that belongs to the function.
        **options : int
            As in `options`.

        Raises
        ------
        TypeError, ValueError, RuntimeError, MemoryError
            One line that names the value, the limit and the way out.
        """
        self._check_names(options)
        self._check_engine(engine)
        chosen = self.Options(**self.default(engine) | options)
        if strided:
            host.check_on_device(A=A, B=B, C=C)
        else:
            self.check_resident(A, B, C)
        self._check_gpu(half.dtype_of(A))
        product = self.operands(A, B, C, engine)
        launch = self.launcher(product, chosen)
        return product.around(launch) if strided else launch

    def launcher(self, product: host.Product, options: Options) -> Callable[[], object]:
        """Return a function that launches the kernel, or the kernels, on checked operands."""
        grid, block = options.launch(product.M, product.N)
        if product.engine == "numba":
            kernel = made(self.make, options, **self.formats(product))
            arguments = self.numba_arguments(product, options)
        else:
            # Before the counterpart: its macros say how the arrays lie.
            arguments = self.arguments(product, options)
            kernel = self.load(options, product)
        return self.bound(kernel, grid, block, arguments, self._asked(options), product)

    @staticmethod
    def bound(kernel, grid, block, arguments, asked: int, product) -> Callable[[], object]:
        """Return a function that launches a kernel on arguments that may be bare addresses."""
        launch = prepared(kernel, grid, block, arguments, asked)
        launch.held = product  # which keeps the arrays that lie there
        return launch

    # What some rungs do in another way.

    def copies(self, M: int, N: int, K: int, dtype: str = "") -> bool:
        """Whether every product copies its operands, to rows that begin on 16-byte boundaries."""
        return False

    def operands(self, A, B, out, engine: str) -> host.Product:
        """Return A, B and C, checked."""
        return host.Product(A, B, out, engine)

    def check_resident(self, A, B, C) -> None:
        """Raise TypeError or ValueError for arrays that a launch would have to copy."""
        host.check_resident(A=A, B=B, C=C)

    def arguments(self, product: host.Product, options: Options) -> tuple:
        """Return what the C++ counterpart is called with."""
        return product.cpp_arguments()

    def macros(self, product: host.Product | None = None) -> dict[str, int]:
        """Return what the arrays (or usual ones) add to the macros of the options."""
        wide = host.wide(*product.on_device) if product else 1
        return {"WIDE": wide} if self.wide else {}

    def formats(self, product: host.Product | None = None) -> dict[str, str]:
        """Return what the number formats of the operands (or usual ones) add to `make`."""
        return {}

    def numba_arguments(self, product: host.Product, options: Options) -> tuple:
        """Return what the Numba kernel of these options is called with."""
        return product.arguments()

    def load(self, options: Options, product: host.Product | None = None):
        """Return the compiled C++ counterpart for these options and operands."""
        macros = options.macros | self.macros(product)
        return cpp.load(self.name, shared_bytes=self._asked(options), arch=self.arch, **macros)

    def _asked(self, options: Options) -> int:
        """Bytes of shared memory that a launch asks for, beyond what the kernel declares."""
        return options.shared_bytes if self.dynamic_shared else 0

    # --------------------------------------------------------------------- kernels and figures

    def kernel(self, product: host.Product | None = None, /, **options):
        """Return the Numba kernel for these options: launch it ``[grid, block](A, B, C)``.

        Where kernels differ by the operands' formats or rows, it's the one for those of `product`.

        Raises
        ------
        TypeError, ValueError
            If the rung has none, or for options that cannot be.
        """
        if self.make is None:
            raise TypeError(f"{self.name} has no Numba kernel: use one that has, such as tiled")
        return made(self.make, self._chosen(options), **self.formats(product))

    def cpp_kernel(self, **options):
        """Return the compiled CUDA C++ kernel for these options.

        Raises
        ------
        TypeError, ValueError, RuntimeError
            For options that cannot be, or without a GPU.
        """
        return self.load(self._chosen(options))

    def with_kernel(self, make: Callable[..., Any]) -> "Rung":
        """Return this rung with another Numba kernel, such as a reader's, launched in its way.

        Parameters
        ----------
        make : callable
            Returns the kernel for some options, given by name, as `make` of this rung does.
        """
        return replace(self, make=make)

    def launch(self, M: int, N: int, **options) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return (grid, block) for a result of M×N elements.

        Raises
        ------
        TypeError, ValueError
            For sizes or options that the GPU here cannot launch; one line says what it allows.
        """
        return self._chosen(options).launch(M, N)

    def model(self, M: int, N: int, K: int, **options) -> Model:
        """Return the work and traffic predicted for A (M×K) and B (K×N), in FLOP and bytes.

        Raises
        ------
        TypeError, ValueError
            For sizes or options that cannot be, in one line.
        """
        host.check_sizes(M=M, N=N, K=K)
        return self._chosen(options).model(M, N, K)

    def footprint(self, **options) -> dict[str, Any]:
        """Return what a block takes: ``threads``, ``registers``, ``shared_bytes`` and ``tile``.

        Registers are those of a thread, about; shared memory is in bytes; the tile is (BM, BN, BK).
        """
        chosen = self._chosen(options)
        names = ("threads", "registers", "shared_bytes")
        return {name: getattr(chosen, name) for name in names} | {"tile": chosen.block_tile}

    def busiest(self, M: int, N: int, K: int, sms: int, **options) -> int:
        """Return the multiply-adds of the SM that has most to do, on a GPU with `sms` of them."""
        return self._chosen(options).busiest(M, N, K, sms)

    # -------------------------------------------------------------------------------- options

    @property
    def options(self) -> dict[str, tuple[int, ...]]:
        """The values of each option that are worth trying."""
        return {each.name: each.metadata["worth"] for each in fields(self.Options)}

    @property
    def defaults(self) -> Values:
        """The value of each option that is not given (but see `choices`)."""
        return {each.name: each.default for each in fields(self.Options)}

    @property
    def in_microscope(self) -> bool:
        """Whether the microscope runs its Numba kernel: in float32, on every machine."""
        return "numba" in self.engines and self.dtypes == ("float32",)

    def versions(self) -> Iterator[tuple[str, Values]]:
        """Yield (engine, options) of every version of it that is tested and measured."""
        for engine in self.engines:
            for options in self.chosen(engine):
                yield engine, options

    def default(self, engine: str) -> Values:
        """The options of a product in one language for which none are given."""
        return self.defaults | self.choices.get(engine, ({},))[0]

    def chosen(self, engine: str) -> tuple[Values, ...]:
        """The sets of options that are tested and measured in one language."""
        if engine in self.choices:
            return tuple(self.defaults | options for options in self.choices[engine])
        return tuple(
            dict(zip(self.options, values, strict=True))
            for values in product(*self.options.values())
        )

    def _chosen(self, options: dict) -> Options:
        """The options given, and the defaults of the others, checked."""
        self._check_names(options)
        return self.Options(**options)

    def _check_names(self, options: dict) -> None:
        for name in options:
            if name not in self.options:
                known = ", ".join(f"{n}={'|'.join(map(str, v))}" for n, v in self.options.items())
                raise TypeError(f"{self.name} has no option {name!r}: it takes {known or 'none'}")

    def _tuned(self, A, B, engine: str, dtype: str) -> Values:
        """Options tuned for operands like these on this GPU; empty where there are none."""
        shapes = getattr(A, "shape", ()), getattr(B, "shape", ())
        if not on_gpu or [len(shape) for shape in shapes] != [2, 2] or 0 in shapes[0] + shapes[1]:
            return {}
        (M, K), N = shapes[0], shapes[1][1]
        found = tuned.options(self.name, engine, dtype, M, N, K)
        try:
            if found:
                self.launch(M, N, **found)
        except (TypeError, ValueError) as error:
            # Of another version of the course, or of someone who wrote them by hand.
            warnings.warn(f"tuned options of {self.name} are left out: {error}", stacklevel=3)
            return {}
        return found

    # --------------------------------------------------------------------- what runs it, where

    def missing(self, dtype: str = "", capability: Capability | None = None) -> str:
        """Say what keeps a GPU from running it with a number format; empty if nothing does.

        Parameters
        ----------
        dtype : str
            One of `dtypes`, by default the first.
        capability : (int, int), optional
            Of the GPU, by default the one here; without a GPU nothing is said.
        """
        capability = capability or device().compute_capability
        if capability is None or self._runs_on(capability):
            return ""
        other, stored = self.instead, half.stored(dtype or self.dtypes[0])
        while other and not other.fits(capability, stored):
            other = other.instead
        way_out = f"use {other.name}" if other else "use a rung of another number format"
        why = f" ({self.only})" if self.only else ""
        return f"{self.name} needs {sm(self.needs)}{why}, this GPU is {sm(capability)}: {way_out}"

    def fits(self, capability: Capability, dtype: str) -> bool:
        """Whether a GPU of a compute capability runs it with a number format."""
        return dtype in self.dtypes and self._runs_on(capability)

    def _runs_on(self, capability: Capability) -> bool:
        same = not self.only or capability[0] == self.needs[0]
        return capability >= self.needs and same

    def _check_gpu(self, dtype: str) -> None:
        missing = self.missing(dtype if dtype in self.dtypes else self.dtypes[0])
        if missing:
            raise RuntimeError(missing)

    def _check_engine(self, engine: str) -> None:
        if engine in ENGINE_TITLES and engine not in self.engines:
            raise ValueError(
                f"{self.name} is only in {' and '.join(ENGINE_TITLES[e] for e in self.engines)}:"
                f" use engine={self.engines[0]!r}"
            )

    def __repr__(self):
        return f"<Rung {self.name}: {self.title}>"


@cache
def made(make: Callable[..., Any], options: Options, **formats: str) -> Any:
    """The Numba kernel for some options and number formats, made once."""
    return make(**options.values, **formats)


def sm(capability: Capability) -> str:
    """``"sm_90"`` for compute capability 9.0."""
    return "sm_{}{}".format(*capability)

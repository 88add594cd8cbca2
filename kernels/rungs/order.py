"""The rungs of the ladder, in the order in which the chapters climb them.

A rung's file holds functions that all take the rung's options by name:

- ``matmul(A, B, out, engine, **options)``: the product, its arguments checked.
- ``launch(M, N, **options)``: the grid and the block.
- ``model(M, N, K, **options)``: what the kernel is predicted to do.
- ``kernel(**options)``: the Numba kernel, where the rung is written in Numba.
- ``twin(**options)``: the compiled CUDA C++ kernel; without it, that is the function of the rung's
  name in the file's twin beside it, its options being macros.
- ``footprint(**options)``: ``{"registers": …, "shared_bytes": …}`` of a block, as `tune` should
  expect it, where that does not follow from the tile.
- ``busiest(M, N, K, sms, **options)``: the multiply-adds of the block that has most to do on a GPU
  with so many SMs, where that is not what a round of whole tiles would be.
- ``prepare(A, B, C, engine, **options)``: a function without arguments that launches on these CuPy
  arrays with as little host work as possible; needed only where the launch is not that of `Rung`.
"""

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from types import ModuleType
from typing import Any

from kernels import host
from kernels.engine import on_gpu
from kernels.engine.device import device
from kernels.host import cpp, half, tuned
from kernels.host.model import Model
from kernels.rungs import (
    async_tiled,
    emulated,
    hopper,
    naive,
    pipelined,
    stream_k,
    swizzled,
    tensor_core,
    thread_tiled,
    tiled,
    vectorized,
    warp_tiled,
)

__all__ = ["ENGINE_TITLES", "LADDER", "Rung", "UnknownRung"]

#: What a table or a chart calls the language of an engine.
ENGINE_TITLES = {"numba": "Numba", "cpp": "CUDA C++", "library": "cuBLAS"}
Options = dict[str, int]
Capability = tuple[int, int]


class UnknownRung(KeyError):
    """The name of no rung was asked for; the message lists those there are."""

    def __str__(self):
        return self.args[0]


@dataclass(frozen=True)
class Rung:
    """One way to multiply matrices on a GPU.

    Attributes
    ----------
    name : str
        Its key in `LADDER`, and in records.
    title : str
        What a chart or a table calls it.
    chapter : str
        The chapter that builds it, such as ``"03-naive"``.
    options : dict of str to tuple of int
        The values of each option that are worth trying.
    defaults : dict of str to int
        The value of each option that is not given (but see `choices`).
    engines : tuple of str
        The languages it is written in: "numba", "cpp".
    choices : dict of str to tuple of dict
        By engine, the sets of options that are tested and measured, the default of that language
        first; an engine that is left out has every combination of `options`.
    dtypes : tuple of str
        The number formats of A and B that it takes, such as ``("float32",)``.
    out_dtype : str
        The number format of C; empty where it is that of A and B.
    needs : dict of str to (int, int)
        The least compute capability for a number format; none where every GPU will do.
    only : str
        Empty, or why no later GPU generation runs it either.
    wide : bool
        Whether the C++ twin is compiled with ``WIDE``: 1 where the arrays allow 16-byte accesses.
    dynamic_shared : bool
        Whether it asks for shared memory at the launch: then it may have more than 48 KiB.
    footprint : callable, optional
        What to expect of a block, for some options: ``registers`` a thread, ``shared_bytes``, and
        ``tile`` (BM, BN, BK) where the options do not name it.
    busiest : callable, optional
        The multiply-adds of the block that has most to do, for M, N, K, ``sms`` and some options;
        without it, blocks compute whole tiles in rounds.
    """

    name: str
    title: str
    chapter: str
    options: dict[str, tuple[int, ...]]
    defaults: Options
    _matmul: Callable
    _launch: Callable
    _model: Callable
    _kernel: Callable | None = None
    _twin: Callable | None = None
    _prepare: Callable | None = None
    engines: tuple[str, ...] = ("numba", "cpp")
    choices: Mapping[str, tuple[Options, ...]] = field(default_factory=dict)
    dtypes: tuple[str, ...] = ("float32",)
    out_dtype: str = "float32"
    needs: Mapping[str, Capability] = field(default_factory=dict)
    only: str = ""
    wide: bool = False
    dynamic_shared: bool = False
    footprint: Callable[..., dict[str, Any]] | None = None
    busiest: Callable[..., int] | None = None
    _file: str = ""

    def matmul(self, A, B, out=None, engine="numba", **options):
        """Return C = A·B; see the function ``matmul`` of the rung's file.

        Without options it takes those that ``python -m kernels tune`` found for this GPU and class
        of shapes, if there are any, and the rung's defaults otherwise.

        Raises
        ------
        TypeError, ValueError, RuntimeError, MemoryError
            One line that names the value, the limit and the way out.
        """
        options = self._checked(options) if options else {}
        self._check_engine(engine)
        dtype = half.dtype_of(A) if hasattr(A, "dtype") else self.dtypes[0]
        if dtype == half.stored(self.dtypes[0]):
            dtype = self.dtypes[0]
        missing = self.missing(dtype if dtype in self.dtypes else self.dtypes[0])
        if missing:
            raise RuntimeError(missing)
        found = {} if options else self._tuned(A, B, engine, dtype)
        if found:
            return self._matmul(A, B, out, engine, **found)
        return self._matmul(A, B, out, engine, **self.default(engine) | options)

    def _tuned(self, A, B, engine: str, dtype: str) -> Options:
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

    def kernel(self, **options):
        """Return the Numba kernel for these options: launch it ``[grid, block](A, B, C)``.

        Raises
        ------
        TypeError, ValueError
            If the rung has none, or for options that cannot be.
        """
        if self._kernel is None:
            raise TypeError(f"{self.name} has no Numba kernel: use one that has, such as {FIRST}")
        return self._kernel(**self._filled(options))

    def twin(self, **options):
        """Return the compiled CUDA C++ kernel for these options.

        Raises
        ------
        TypeError, ValueError, RuntimeError
            For options that cannot be, or without a GPU.
        """
        options = self._filled(options)
        if self._twin is not None:
            return self._twin(**options)
        self._launch(1, 1, **options)  # refuses what cannot be
        return self._load(1, options)

    def _load(self, wide: int, options: Options) -> Any:
        macros = {"WIDE": wide} if self.wide else {}
        macros |= {name.upper(): value for name, value in options.items()}
        return cpp.load(self._file or self.name, self.name, **macros)

    def launch(self, M: int, N: int, **options) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return (grid, block) for a result of M×N elements.

        Raises
        ------
        TypeError, ValueError
            For sizes or options that the GPU here cannot launch; one line says what it allows.
        """
        host.check_sizes(M=M, N=N)
        return self._launch(M, N, **self._filled(options))

    def model(self, M: int, N: int, K: int, **options) -> Model:
        """Return the work and traffic predicted for A (M×K) and B (K×N), in FLOP and bytes.

        Raises
        ------
        TypeError, ValueError
            For sizes or options that cannot be, in one line.
        """
        host.check_sizes(M=M, N=N, K=K)
        return self._model(M, N, K, **self._filled(options))

    def prepare(self, A, B, C, engine: str = "numba", **options) -> Callable[[], object]:
        """Return a function that launches C = A·B on CuPy arrays, with little work of the host.

        The arrays are checked here, once: contiguous ones, since nothing is copied. Every call of
        the function computes the product anew.

        Raises
        ------
        TypeError, ValueError, RuntimeError, MemoryError
            One line that names the value, the limit and the way out.
        """
        options = self._filled(options)
        self._check_engine(engine)
        if self._prepare is not None:
            return self._prepare(A, B, C, engine, **options)
        host.check_resident(A=A, B=B, C=C)
        product = host.Product(A, B, C, engine)
        grid, block = self.launch(product.M, product.N, **options)
        if engine == "numba":
            launch = self.kernel(**options)[grid, block]
            arrays = host.wrapped(A, B, C)
            return lambda: launch(*arrays)
        arguments = product.cpp_arguments()
        if self._twin is not None:
            twin = self._twin(**options)
        else:
            twin = self._load(host.wide(*arguments[:3]) if self.wide else 1, options)
        return lambda: twin(grid, block, arguments)

    def versions(self) -> Iterator[tuple[str, Options]]:
        """Yield (engine, options) of every version of it that is tested and measured."""
        for engine in self.engines:
            for options in self.chosen(engine):
                yield engine, options

    def default(self, engine: str) -> Options:
        """The options of a product in one language for which none are given."""
        return self.defaults | self.choices.get(engine, ({},))[0]

    def chosen(self, engine: str) -> tuple[Options, ...]:
        """The sets of options that are tested and measured in one language."""
        if engine in self.choices:
            return tuple(self.defaults | options for options in self.choices[engine])
        return tuple(
            dict(zip(self.options, values, strict=True))
            for values in product(*self.options.values())
        )

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
        least = self.needs.get(dtype or self.dtypes[0])
        if capability is None or least is None:
            return ""
        if capability >= least and not (self.only and capability[0] != least[0]):
            return ""
        others = [
            rung.name
            for rung in LADDER.values()
            if half.stored(rung.dtypes[0]) == half.stored(self.dtypes[0])
            and rung.name != self.name
            and rung.fits(capability, half.stored(dtype or self.dtypes[0]))
        ]
        way_out = f"use {others[-1]}" if others else "use a rung of another number format"
        what = self.name + (f" in {dtype}" if dtype and len(set(self.needs.values())) > 1 else "")
        why = f" ({self.only})" if self.only else ""
        return f"{what} needs {sm(least)}{why}, this GPU is {sm(capability)}: {way_out}"

    def fits(self, capability: Capability, dtype: str) -> bool:
        """Whether a GPU of a compute capability runs it with a number format."""
        least = self.needs.get(dtype, (0, 0))
        same = not self.only or capability[0] == least[0]
        return dtype in self.dtypes and capability >= least and same

    def _check_engine(self, engine: str) -> None:
        if engine in ENGINE_TITLES and engine not in self.engines:
            raise ValueError(
                f"{self.name} is written in {' and '.join(ENGINE_TITLES[e] for e in self.engines)} "
                f"alone: use engine={self.engines[0]!r}"
            )

    def _checked(self, options: dict) -> dict:
        for name in options:
            if name not in self.options:
                known = ", ".join(f"{n}={'|'.join(map(str, v))}" for n, v in self.options.items())
                raise TypeError(f"{self.name} has no option {name!r}: it takes {known or 'none'}")
        return options

    def _filled(self, options: dict) -> dict:
        return self.defaults | self._checked(options)

    def __repr__(self):
        return f"<Rung {self.name}: {self.title}>"


def sm(capability: Capability) -> str:
    """``"sm_90"`` for compute capability 9.0."""
    return "sm_{}{}".format(*capability)


class Ladder(dict):
    """The rungs by name, in order."""

    def __missing__(self, name):
        raise UnknownRung(f"no rung {name!r}: use one of {', '.join(self)}")


def rung(
    module: ModuleType, title: str, *, prefix: str = "", suffix: str = "", **about: Any
) -> Rung:
    """The rung of a file; where a file holds several, these are around its functions' names."""
    file = module.__name__.rpartition(".")[2]
    names = ("_matmul", "_launch", "_model", "_kernel", "_twin", "_prepare", "footprint", "busiest")
    functions = {
        name: getattr(module, f"{prefix}{name.removeprefix('_')}{suffix}", None) for name in names
    }
    given = inspect.signature(functions["_launch"]).parameters
    defaults = {option: given[option].default for option in about["options"]}
    return Rung(title=title, _file=file, defaults=defaults, **{"name": file} | functions | about)


def _hopper(tile: Callable[..., tuple[int, int]]) -> Callable[..., dict[str, Any]]:
    """The footprint of one of Hopper's kernels, from its width of tiles and its shared memory."""

    def footprint(**options: int) -> dict[str, Any]:
        BN, shared_bytes = tile(**options)
        return {"registers": 168, "shared_bytes": shared_bytes, "tile": (128, BN, 64)}

    return footprint


#: A rung to name to readers whose GPU, or whose lack of one, rules another one out.
FIRST = "tiled"
_RUNGS = (
    rung(
        naive,
        "Naive, x and y swapped",
        name="swapped",
        prefix="swapped_",
        chapter="03-naive",
        options={"block": (8, 16, 32)},
    ),
    rung(
        naive,
        "Naive",
        chapter="03-naive",
        options={"block": (8, 16, 32)},
    ),
    rung(
        tiled,
        "Tiled in shared memory",
        chapter="04-tiled",
        options={"tile": (8, 16, 32)},
    ),
    rung(
        thread_tiled,
        "Thread tile, 1-D",
        name="thread_tiled_1d",
        suffix="_1d",
        chapter="07-register-tiling",
        options={"BM": (32, 64, 128), "BN": (32, 64, 128), "BK": (8, 16, 32), "TM": (4, 8, 16)},
        choices={"numba": ({},), "cpp": ({"BK": 16},)},
    ),
    rung(
        thread_tiled,
        "Thread tile, 2-D",
        chapter="07-register-tiling",
        options={
            "BM": (64, 128, 256),
            "BN": (64, 128, 256),
            "BK": (8, 16, 32),
            "TM": (4, 8),
            "TN": (4, 8),
        },
        choices={"numba": ({},), "cpp": ({"BK": 16},)},
    ),
    rung(
        vectorized,
        "16-byte loads",
        chapter="07-register-tiling",
        options={
            "BM": (64, 128, 256),
            "BN": (64, 128, 256),
            "BK": (8, 16, 32),
            "TM": (4, 8, 16),
            "TN": (4, 8, 16),
        },
        choices={"numba": ({"BK": 16},), "cpp": ({"BK": 32}, {})},
        wide=True,
    ),
    rung(
        pipelined,
        "Loads ahead of use",
        chapter="07-register-tiling",
        options={
            "BM": (64, 128, 256),
            "BN": (64, 128, 256),
            "BK": (8, 16, 32),
            "TM": (4, 8, 16),
            "TN": (4, 8, 16),
        },
        choices={"numba": ({"BK": 16},), "cpp": ({"BK": 16}, {})},
        wide=True,
    ),
    rung(
        warp_tiled,
        "Warp tiles",
        chapter="07-register-tiling",
        options={
            "BM": (64, 128, 256),
            "BN": (64, 128, 256),
            "BK": (8, 16, 32),
            "WM": (32, 64, 128),
            "WN": (32, 64, 128),
            "TM": (4, 8, 16),
            "TN": (4, 8, 16),
        },
        choices={"numba": ({},), "cpp": ({"WN": 32, "TM": 8},)},
        wide=True,
    ),
    rung(
        swizzled,
        "Blocks in another order",
        chapter="07-register-tiling",
        options={
            "BM": (64, 128, 256),
            "BN": (64, 128, 256),
            "BK": (8, 16, 32),
            "WM": (32, 64, 128),
            "WN": (32, 64, 128),
            "TM": (4, 8, 16),
            "TN": (4, 8, 16),
            "GROUP": (4, 8, 16),
            "split": (1, 2, 4, 8),
        },
        choices={
            "numba": (
                {"WN": 64, "TM": 16},
                {"WN": 64, "TM": 16, "split": 4},
                {"BK": 8, "WN": 32, "TM": 8},
                {"BM": 64, "BN": 64, "WM": 32, "WN": 32, "TM": 4, "TN": 8},
            ),
            "cpp": (
                {"WN": 32, "TM": 8},
                {"WN": 32, "TM": 8, "split": 4},
                {"BM": 64, "BN": 64, "WM": 32, "WN": 32, "TM": 8, "TN": 4},
            ),
        },
        wide=True,
    ),
    rung(
        async_tiled,
        "Async copies",
        chapter="07-register-tiling",
        engines=("cpp",),
        options={
            "BM": (64, 128, 256),
            "BN": (64, 128, 256),
            "BK": (8, 16),
            "WM": (32, 64, 128),
            "WN": (32, 64, 128),
            "TM": (8, 16),
            "TN": (8, 16),
            "GROUP": (4, 8, 16),
            "stages": (2, 3, 4),
            "split": (1, 2, 4, 8),
        },
        choices={
            "cpp": ({}, {"split": 4}, {"BN": 128, "WN": 32, "TN": 8, "split": 2}),
        },
        needs={"float32": (8, 0)},
    ),
    rung(
        tensor_core,
        "mma, sm_75",
        name="mma_sm75",
        prefix="mma_sm75_",
        chapter="08-tensor-cores",
        engines=("cpp",),
        options={},
        dtypes=("float16",),
        needs={"float16": (7, 5)},
        footprint=lambda: {"registers": 134, "shared_bytes": 18944, "tile": (128, 128, 32)},
    ),
    rung(
        tensor_core,
        "mma, sm_80",
        name="mma",
        prefix="mma_",
        chapter="08-tensor-cores",
        engines=("cpp",),
        options={
            "BM": (64, 128, 256),
            "BN": (64, 128, 256),
            "BK": (32, 64),
            "WM": (32, 64),
            "WN": (32, 64),
            "stages": (0, 2, 3, 4),
        },
        choices={"cpp": ({},)},
        dtypes=("float16", "bfloat16"),
        needs={"float16": (8, 0), "bfloat16": (8, 0)},
        dynamic_shared=True,
        footprint=tensor_core.footprint,
    ),
    *(
        rung(
            hopper,
            title,
            name=name,
            prefix=f"{name}_",
            chapter="08-tensor-cores",
            engines=("cpp",),
            options=options,
            choices={"cpp": ({},)},
            dtypes=("float16", "bfloat16"),
            needs={"float16": (9, 0), "bfloat16": (9, 0)},
            only="its instructions are Hopper's alone",
            dynamic_shared=name != "wgmma",
            footprint=footprint,
        )
        for name, title, options, footprint in (
            ("wgmma", "wgmma and TMA", {}, _hopper(lambda: (128, 32768))),
            (
                "specialized",
                "Specialised",
                {"BN": (128, 256)},
                _hopper(lambda BN: (BN, hopper.shared_bytes(BN))),
            ),
            (
                "persistent",
                "Persistent",
                {"group": (4, 16, 8), "cluster": (1, 2)},
                _hopper(lambda group, cluster: (256, hopper.shared_bytes(256, hopper.BOXES))),
            ),
        )
    ),
    rung(
        stream_k,
        "Stream-K",
        chapter="08-tensor-cores",
        engines=("cpp",),
        options={"BN": (0, 128, 256), "cluster": (0, 1, 2)},
        choices={"cpp": ({},)},
        dtypes=("float16", "bfloat16"),
        needs={"float16": (9, 0), "bfloat16": (9, 0)},
        only="its instructions are Hopper's alone",
        dynamic_shared=True,
    ),
    rung(
        emulated,
        "fp32 as three bf16",
        chapter="08-tensor-cores",
        engines=("cpp",),
        options={"products": (6, 9), "BN": (0, 128, 192)},
        choices={"cpp": ({}, {"products": 9})},
        dtypes=(half.PARTS,),
        needs={half.PARTS: (9, 0)},
        only="its instructions are Hopper's alone",
        dynamic_shared=True,
    ),
)
LADDER: dict[str, Rung] = Ladder((rung.name, rung) for rung in _RUNGS)

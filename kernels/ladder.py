"""The rungs of the ladder, in the order in which the chapters climb them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

from kernels import naive, tiled
from kernels.lab.model import Model

__all__ = ["ENGINE_TITLES", "LADDER", "Rung", "UnknownRung"]

#: What a table or a chart calls the language of an engine.
ENGINE_TITLES = {"numba": "Numba", "cpp": "CUDA C++", "library": "cuBLAS"}


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
        The values each option is tested and measured with.
    defaults : dict of str to int
        The value of each option that is not given.
    engines : tuple of str
        The languages it is written in: "numba", "cpp".
    """

    name: str
    title: str
    chapter: str
    options: dict[str, tuple[int, ...]]
    defaults: dict[str, int]
    _matmul: Callable
    _kernel: Callable
    _launch: Callable
    _model: Callable
    engines: tuple[str, ...] = ("numba", "cpp")

    def matmul(self, A, B, out=None, engine="numba", **options):
        """Return C = A·B (float32); see the function ``matmul`` of the rung's file."""
        return self._matmul(A, B, out, engine, **self._checked(options))

    def kernel(self, **options):
        """Return the Numba kernel for these options: launch it ``[grid, block](A, B, C)``."""
        return self._kernel(**self._checked(options))

    def launch(self, M: int, N: int, **options) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return (grid, block) for a result of M×N elements."""
        return self._launch(M, N, **self._checked(options))

    def model(self, M: int, N: int, K: int, **options) -> Model:
        """Return the work and traffic predicted for A (M×K) and B (K×N)."""
        return self._model(M, N, K, **self._checked(options))

    def versions(self) -> Iterator[tuple[str, dict[str, int]]]:
        """Yield (engine, options) of every version of it that is tested and measured."""
        for engine in self.engines:
            for values in product(*self.options.values()):
                yield engine, dict(zip(self.options, values, strict=True))

    def _checked(self, options: dict) -> dict:
        for name in options:
            if name not in self.options:
                known = ", ".join(f"{n}={'|'.join(map(str, v))}" for n, v in self.options.items())
                raise TypeError(f"{self.name} has no option {name!r}: it takes {known}")
        return self.defaults | options

    def __repr__(self):
        return f"<Rung {self.name}: {self.title}>"


class Ladder(dict):
    """The rungs by name, in order."""

    def __missing__(self, name):
        raise UnknownRung(f"no rung {name!r}: use one of {', '.join(self)}")


LADDER: dict[str, Rung] = Ladder(
    swapped=Rung(
        name="swapped",
        title="Naive, x and y swapped",
        chapter="03-naive",
        options={"block": (8, 16, 32)},
        defaults={"block": 32},
        _matmul=naive.swapped_matmul,
        _kernel=naive.swapped_kernel,
        _launch=naive.swapped_launch,
        _model=naive.swapped_model,
    ),
    naive=Rung(
        name="naive",
        title="Naive",
        chapter="03-naive",
        options={"block": (8, 16, 32)},
        defaults={"block": 32},
        _matmul=naive.matmul,
        _kernel=naive.kernel,
        _launch=naive.launch,
        _model=naive.model,
    ),
    tiled=Rung(
        name="tiled",
        title="Tiled in shared memory",
        chapter="04-tiled",
        options={"tile": (8, 16, 32)},
        defaults={"tile": 16},
        _matmul=tiled.matmul,
        _kernel=tiled.kernel,
        _launch=tiled.launch,
        _model=tiled.model,
    ),
)

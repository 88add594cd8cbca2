"""The microscope counts in 64 bits where NumPy's own integer has 32, as in a browser.

There `np.arange` and what counts or finds positions give int32. A stand-in for `np` does so here.
"""

import importlib
import pkgutil

import numpy as np
import pytest

import microscope
from kernels.lab import trace
from kernels.rungs.order import LADDER
from tests.microscope.cases import from_source

POSITIONS = "argmax argmin argsort argwhere flatnonzero lexsort nonzero searchsorted".split()
SUMS = "cumsum prod sum".split()
MADE = "array asarray full".split()
RACE = from_source(
    """
from kernels.backend import cuda, float32

@cuda.jit
def race(a, out):
    i = cuda.grid(1)
    s = cuda.shared.array(64, float32)
    s[cuda.threadIdx.x] = a[i * 3]
    out[i % 7] = s[63 - cuda.threadIdx.x]
    cuda.atomic.add(out, 7, 1)
""",
    "narrow",
).race


class Narrow:
    """NumPy with an `intp` of 32 bits."""

    intp, int_ = np.int32, np.int32

    def __getattr__(self, name):
        found = getattr(np, name)
        if name in POSITIONS:
            return lambda *a, **k: narrowed(found(*a, **k))
        if name in SUMS:
            return lambda v, *a, **k: summed(found, v, a, k)
        if name in MADE:
            return lambda v, *a, **k: made(found, v, a, k)
        return found

    @staticmethod
    def arange(*a, dtype=None):
        return np.arange(*a, dtype=dtype) if dtype else narrowed(np.arange(*a))

    @staticmethod
    def bincount(v, weights=None, minlength=0):
        assert v.dtype.itemsize <= 4, "cannot cast safely"
        return narrowed(np.bincount(v, weights, minlength))


def narrowed(v):
    """Whole numbers of 64 bits as such of 32."""
    if isinstance(v, tuple):
        return tuple(map(narrowed, v))
    return v.astype(np.int32) if v.dtype == np.int64 else v


def summed(found, v, a, k):
    """A sum: what has 64 bits keeps them."""
    wide = np.asarray(v).dtype.itemsize > 4 or "dtype" in k
    return found(v, *a, **k) if wide else narrowed(found(v, *a, **k))


def made(found, v, a, k):
    """An array: Python's numbers become the narrow type unless another is stated."""
    stated = a or "dtype" in k or isinstance(v, np.ndarray | np.generic)
    return found(v, *a, **k) if stated else narrowed(found(v, *a, **k))


def tiled():
    A, B = (np.arange(48 * 48, dtype=np.float32).reshape(48, 48) % 7 for _ in range(2))
    rung = LADDER["tiled"]
    return trace(rung.kernel(tile=16), *rung.launch(48, 48, tile=16), A, B, np.zeros_like(A))


def racing():
    return trace(RACE, 3, 64, np.zeros(600, np.float32), np.zeros(8, np.float32))


def told(seen) -> tuple:
    """All that a trace says."""
    sites = [(s.line, s.op, s.requests, s.sectors, s.wavefronts, s.lanes) for s in seen.sites]
    outputs = {k: v.tolist() for k, v in seen.outputs.items()}
    return sites, [p.message for p in seen.problems], outputs, str(seen.work)


@pytest.mark.parametrize("make", (tiled, racing), ids=lambda f: f.__name__)
def test_a_trace_says_the_same(monkeypatch, make):
    wide = told(make())
    for module in pkgutil.iter_modules(microscope.__path__):
        found = importlib.import_module(f"{microscope.__name__}.{module.name}")
        if hasattr(found, "np"):
            monkeypatch.setattr(found, "np", Narrow())
    assert told(make()) == wide


def test_the_stand_in_is_narrow():
    narrow = Narrow()
    assert narrow.arange(3).dtype == narrow.nonzero(np.ones(2))[0].dtype == np.int32
    assert narrow.arange(3, dtype=np.int64).dtype == narrow.sum(np.ones(3, np.int64)).dtype

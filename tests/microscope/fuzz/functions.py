"""Functions of `math`: how far the interpreter's values lie from a GPU's."""

from __future__ import annotations

import warnings

import numpy as np

from tests.microscope.cases import from_source

UNARY = (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh "
    "atanh erf erfc gamma lgamma sqrt cbrt floor ceil trunc fabs radians degrees"
).split()
BINARY = "pow atan2 hypot fmod remainder copysign nextafter".split()
TYPES = (np.float32, np.float64)
COUNT = 4096


def source(name: str) -> str:
    """A kernel that applies one function."""
    call = f"math.{name}(x[i])" if name in UNARY else f"math.{name}(x[i], y[i])"
    if name == "cbrt":
        call = "cuda.cbrt(x[i])"
    return (
        "import math\n\n\n@cuda.jit\ndef kernel(x, y, out):\n    i = cuda.grid(1)\n"
        f"    if i < out.size:\n        out[i] = {call}\n"
    )


def arguments(name: str, dtype) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers of the sizes that kernels meet, and an empty output."""
    rng = np.random.default_rng(len(name))
    x = rng.normal(size=COUNT) * 10.0 ** rng.integers(-3, 2, COUNT)
    if name in ("asin", "acos", "atanh"):
        x = rng.uniform(-1, 1, COUNT)
    y = rng.uniform(-3, 3, COUNT)
    if name in ("log", "log2", "log10", "sqrt", "gamma", "lgamma", "pow"):
        x = np.abs(x)
    if name == "acosh":
        x = 1 + np.abs(x)
    return x.astype(dtype), y.astype(dtype), np.zeros(COUNT, dtype)


def units_apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Numbers of the type that lie between two."""
    whole = np.dtype(f"i{a.itemsize}")
    lines = [v.view(whole).astype(object) for v in (a, b)]
    lines = [np.where(v < 0, np.iinfo(whole).min - v, v) for v in lines]
    apart = np.abs(lines[0] - lines[1])
    return np.where(np.isnan(a) & np.isnan(b), 0, apart).astype(float)


def rows() -> list[dict]:
    """Each function in each type: values that agree, and the farthest apart in last places."""
    from numba import cuda as gpu

    from microscope import KernelError
    from microscope import api as cpu

    found = []
    for name in (*UNARY, *BINARY):
        for dtype in TYPES:
            row = {"function": name, "type": np.dtype(dtype).name}
            results = []
            for engine, header in (
                (cpu, "from microscope import api as cuda"),
                (gpu, "from numba import cuda"),
            ):
                module = from_source(f"{header}\n{source(name)}", f"function_{name}")
                x, y, out = (engine.to_device(a) for a in arguments(name, dtype))
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        module.kernel[COUNT // 128, 128](x, y, out)
                    results.append(out.copy_to_host())
                except KernelError as error:
                    row["interpreter"] = str(error)[:150]
                except Exception as error:
                    row["gpu"] = f"{type(error).__name__}"
            if len(results) == 2:
                apart = units_apart(*results)
                row |= {"equal": int((apart == 0).sum()), "of": COUNT, "ulps": float(apart.max())}
            found.append(row)
    return found

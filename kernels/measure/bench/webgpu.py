"""The rungs in WGSL on this GPU, as a browser would run them: checked, and timed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from kernels.measure import oracle, webgpu
from kernels.measure.bench.step import Step, Tables
from kernels.measure.probes import spread
from kernels.rungs.webgpu.ladder import SHADERS, Variant

SIZES = (1024, 2048, 4096)
#: Rows of C that are compared with the right ones.
CHECKED = 16


def steps() -> list[Step]:
    """One step: all rungs with all their options."""
    return [Step("WGSL", here)]


def here() -> Tables:
    """What this GPU does; nothing where the package `wgpu` doesn't reach it."""
    try:
        return ladder(webgpu.adapter())
    except webgpu.NoGpu:
        return {}


def ladder(opened: webgpu.Adapter, sizes: tuple[int, ...] = SIZES) -> Tables:
    """Every rung with every choice of options that the GPU can launch."""
    choices = [Variant(rung, options) for rung in SHADERS.values() for options in rung.choices]
    fitting = [choice for choice in choices if not opened.fault(choice)]
    return {"webgpu": [row for size in sizes for row in measured(opened, fitting, size)]}


def measured(opened: webgpu.Adapter, choices: list[Variant], size: int) -> Iterator[dict[str, Any]]:
    """A row of a record for each choice, at one size."""
    A, B = oracle.inputs(size, size, size)
    about = webgpu.provenance(opened)
    rows = np.linspace(0, size - 1, CHECKED, dtype=int)
    rights = {dtype: exact(A[rows], B, dtype) for dtype in ("float32", "float16")}
    for choice in choices:
        dtype = "float16" if choice.rung.bytes == 2 else "float32"
        right, scale, bound = rights[dtype]
        product = webgpu.Product(opened, choice, A, B)
        seconds = spread(product.samples())
        C, untouched = product.result()
        error = abs(C[rows] - right)
        yield {
            "rung": choice.rung.name, "engine": "wgsl", "options": choice.options, "dtype": dtype,
            "M": size, "N": size, "K": size, "seconds": seconds,
            "gflops": float(f"{2 * size**3 / seconds['median'] / 1e9:.5g}"),
            "correct": bool((error <= bound).all() and not np.isnan(C).any() and untouched),
            "max_relative_error": float(f"{(error / scale).max():.3g}"), **about,
        }  # fmt: skip


def exact(A: np.ndarray, B: np.ndarray, dtype: str) -> tuple[np.ndarray, ...]:
    """The product of the rounded matrices, |A|·|B|, and how far off fp32 sums may be."""
    rounded = [matrix.astype(dtype).astype("float32") for matrix in (A, B)]
    doubles = [matrix.astype("float64") for matrix in rounded]
    return doubles[0] @ doubles[1], abs(doubles[0]) @ abs(doubles[1]), oracle.tolerance(*rounded)

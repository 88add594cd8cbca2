"""Sums, prefix sums and products with vectors, beside a copy on the device and the library.

``python -m kernels.measure.bench.primitives`` runs these three steps alone, checks every result
against float64, and prints the rows that ``python -m kernels bench`` would record.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernels.backend import cupy, on_gpu
from kernels.host import e4m3, half
from kernels.measure import ncu, probes
from kernels.measure.bench.step import Step, Tables
from kernels.measure.timing import time as time_launch
from kernels.primitives import matvec, matvec_int4, reduction, scan, weight_only

ENGINES = ("numba", "cpp")
#: Numbers of the vectors, even and odd; a scan's check takes ten times the memory of its vector.
SUMS = (2**28, 2**28 - 1, 2**22)
SCANS = (2**26, 2**26 - 1)
#: Rows and columns of W: a small layer, larger ones, and one whose rows begin anywhere.
SHAPES = ((4096, 4096), (8192, 8192), (28672, 8192), (8191, 8193))
VECTORS = (1, 2, 4, 8, 16)
COUNTED = (
    "requests", "sectors", "dram_read_bytes", "dram_write_bytes", "shared_load_instructions",
    "shared_store_instructions", "instructions", "l1_wavefronts", "registers",
)  # fmt: skip
U = 2.0**-24
#: Additions that a number may go through in the library's sums and scans: they work in blocks, too.
LIBRARY_DEPTH = 2**12


@dataclass(frozen=True)
class Primitive:
    """One thing to measure.

    Attributes
    ----------
    what : dict
        What a row says was measured.
    nbytes : int
        Bytes of its inputs and results, each once.
    launch : callable
    error : callable
        Takes `launch` and calls it on poisoned output; returns the largest error, as a share of
        its bound.
    launches : int
        Kernels that one call of `launch` launches.
    """

    what: dict[str, Any]
    nbytes: int
    launch: Callable[[], object]
    error: Callable[[Callable[[], object]], float]
    launches: int = 1


def steps() -> list[Step]:
    """A step for each table."""
    return [Step(table, lambda table=table: recorded(table)) for table in TABLES]


# ------------------------------------------------------------------------------------- the cases


def sum_cases(lengths: tuple[int, ...] = SUMS) -> Iterator[Primitive]:
    """Every version of the sum in each language, and CuPy's own."""
    for n in lengths:
        a, out = _random(n), cupy.empty(1, np.float32)
        for version in reduction.VERSIONS.values():
            launches, depth = len(list(version.passes(n))), version.depth(n)
            for engine in ENGINES:
                yield Primitive(
                    {"what": version.name, "engine": engine, "n": n}, 4 * n,
                    version.launcher(a, out, engine), _error(out, _sum, (a,), depth), launches,
                )  # fmt: skip
        yield Primitive(
            {"what": "CuPy", "engine": "library", "n": n}, 4 * n,
            lambda a=a, out=out: cupy.sum(a, keepdims=True, out=out),
            _error(out, _sum, (a,), min(n, LIBRARY_DEPTH)),
        )  # fmt: skip


def scan_cases(lengths: tuple[int, ...] = SCANS) -> Iterator[Primitive]:
    """Every version of the scan in each language, and CuPy's own."""
    for n in lengths:
        a = _random(n)
        out = cupy.empty_like(a)
        for version in scan.VERSIONS.values():
            launches, depth = _launches(version, n), version.depth(n)
            for engine in ENGINES:
                yield Primitive(
                    {"what": version.name, "engine": engine, "n": n}, 8 * n,
                    version.launcher(a, out, engine), _error(out, _prefixes, (a,), depth), launches,
                )  # fmt: skip
        for engine in ENGINES:
            one = scan.LOOK_BACK
            yield Primitive(
                {"what": one.name, "engine": engine, "n": n}, 8 * n,
                one.launcher(a, out, engine), _error(out, _prefixes, (a,), one.depth(n)),
            )  # fmt: skip
        yield Primitive(
            {"what": "CuPy", "engine": "library", "n": n}, 8 * n,
            lambda a=a, out=out: cupy.cumsum(a, out=out),
            _error(out, _prefixes, (a,), min(n, LIBRARY_DEPTH)),
        )  # fmt: skip
        if on_gpu:
            yield _in_place(a, out)


def _in_place(a: Any, out: Any) -> Primitive:
    """What CuPy calls after it has copied the vector: CUB's scan of `out`, in its place."""
    from cupy.cuda import cub

    n, inner = a.size, _error(out, _prefixes, (a,), min(a.size, LIBRARY_DEPTH))

    def copied(launch: Callable[[], object]) -> Callable[[], object]:
        return lambda: (out.__setitem__(..., a), launch())

    return Primitive(
        {"what": "CUB", "engine": "library", "n": n}, 8 * n,
        lambda: cub.cub_scan(out, cub.CUPY_CUB_CUMSUM), lambda launch: inner(copied(launch)),
    )  # fmt: skip


def _launches(version: scan.Version, n: int) -> int:
    """Kernels that a scan launches: two and those of the scan of its tiles' sums."""
    (blocks,), _ = version.launch(n)
    return 1 if blocks == 1 else 2 + _launches(version, blocks)


def product_cases(
    shapes: tuple[tuple[int, int], ...] = SHAPES, vectors: tuple[int, ...] = VECTORS
) -> Iterator[Primitive]:
    """Every version of the product with one vector, the thin ones, and the library's."""
    for N, K in shapes:
        W = _random(N, K)
        for M in vectors:
            X, Y = _random(M, K), cupy.empty((M, N), np.float32)
            sizes, nbytes = {"M": M, "N": N, "K": K}, 4 * (N * K + M * K + M * N)
            if M == 1:
                for version in matvec.VERSIONS.values():
                    for engine in ENGINES:
                        yield Primitive(
                            {"what": version.name, "engine": engine, **sizes}, nbytes,
                            version.launcher(W, X[0], Y[0], engine),
                            _error(Y, _product, (W, X), version.depth(K)),
                        )  # fmt: skip
            for name, thin in (("thin", matvec.Thin(M)), ("staged", matvec.Thin(M, staged=True))):
                if name == "staged" and M < 8:
                    continue
                for engine in ENGINES:
                    yield Primitive(
                        {"what": name, "engine": engine, **sizes}, nbytes,
                        thin.launcher(W, X, Y, engine), _error(Y, _product, (W, X), thin.depth(K)),
                    )  # fmt: skip
            library = _gemv(W, X[0], Y[0]) if M == 1 else _gemm(W, X, Y)
            yield Primitive(
                {"what": "cuBLAS", "engine": "library", **sizes}, nbytes, library,
                _error(Y, _product, (W, X), K + 1),
            )  # fmt: skip


def int4_cases(shapes: tuple[tuple[int, int], ...] = SHAPES[:3]) -> Iterator[Primitive]:
    """The product of 4-bit weights and one vector, by rows of a warp: packed bytes count."""
    for N, K in shapes:
        packed, scales = map(cupy.asarray, matvec_int4.quantise(cupy.asnumpy(_random(N, K))))
        W = cupy.asarray(matvec_int4.dequantise(cupy.asnumpy(packed), cupy.asnumpy(scales)))
        x, y = _random(K), cupy.empty(N, np.float32)
        nbytes = packed.nbytes + scales.nbytes + x.nbytes + y.nbytes
        for rows in (1, 4):
            operands = matvec_int4.Quantised(packed, scales, x, y)
            yield Primitive(
                {"what": f"int4, {rows} rows", "engine": "numba", "M": 1, "N": N, "K": K}, nbytes,
                operands.launcher(rows), _error(y[None], _product, (W, x[None]), K + 2),
            )  # fmt: skip


def weight_cases(shapes: tuple[tuple[int, int], ...] = SHAPES[1:3]) -> Iterator[Primitive]:
    """Products with weights of 4 and 8 bits on tensor cores, for several rows of bfloat16."""
    for N, K in shapes:
        words = cupy.random.default_rng(1).integers(0, 2**32, (N, K // 8), dtype=np.uint32)
        numbers = e4m3.rounded(_random(N, K))
        for bits, weights, scales in (
            (4, words, abs(_random(N, K // matvec_int4.GROUP))), (8, numbers, abs(_random(N))),
        ):  # fmt: skip
            for M in (1, 8, 16, 64):
                X, Y = half.bfloat16(_random(M, K)), cupy.empty((M, N), np.uint16)
                nbytes = weights.nbytes + scales.nbytes + X.nbytes + Y.nbytes
                yield Primitive(
                    {"what": f"{bits} bits", "engine": "numba", "M": M, "N": N, "K": K}, nbytes,
                    weight_only.Weights(weights, scales, X, Y).launcher(),
                    _error_of_weights(weights, scales, X, Y),
                )  # fmt: skip


def _error_of_weights(weights: Any, scales: Any, X: Any, Y: Any) -> Callable[..., float]:
    """As `_error`, for the first rows of W; results are rounded to bfloat16."""
    rows = 512
    if weights.dtype == np.uint32:
        W = matvec_int4.dequantise(cupy.asnumpy(weights[:rows]), cupy.asnumpy(scales[:rows]))
    else:
        W = cupy.asnumpy(e4m3.floats(weights[:rows]) * scales[:rows, None])
    W, x = cupy.asarray(W, np.float64), half.floats(X).astype(np.float64)

    def error(launch: Callable[[], object]) -> float:
        Y.fill(0x7FC0)  # NaN
        launch()
        known, depth = x @ W.T, X.shape[1] + 16
        bound = 2.0**-8 * abs(known) + depth * U * (abs(x) @ abs(W.T))
        return float((abs(half.floats(Y[:, :rows]) - known) / bound).max())

    return error


def _gemv(W: Any, x: Any, y: Any) -> Callable[[], object]:
    return lambda: cupy.dot(W, x, out=y)


def _gemm(W: Any, X: Any, Y: Any) -> Callable[[], object]:
    return lambda: cupy.matmul(X, W.T, out=Y)


def _random(*shape: int) -> Any:
    return cupy.random.default_rng(1).standard_normal(shape, dtype=np.float32)


# ------------------------------------------------------------------------------------ the checks


def _sum(a: Any) -> Any:
    return a.sum(dtype=np.float64, keepdims=True)


def _prefixes(a: Any) -> Any:
    return a.cumsum(dtype=np.float64)


def _product(W: Any, X: Any) -> Any:
    return X.astype(np.float64) @ W.astype(np.float64).T


def _error(out: Any, exact: Callable, operands: tuple, depth: int) -> Callable[..., float]:
    """A function that poisons `out`, launches, and compares it with the same in float64."""

    def error(launch: Callable[[], object]) -> float:
        out.fill(np.nan)
        launch()
        bound = depth * U / (1 - depth * U) * exact(*(abs(array) for array in operands))
        return float((abs(out - exact(*operands)) / bound).max())

    return error


# ---------------------------------------------------------------------------------- measuring


TABLES: dict[str, Callable[[], Iterator[Primitive]]] = {
    "sums": sum_cases,
    "scans": scan_cases,
    "matvecs": product_cases,
    "int4": int4_cases,
    "weights": weight_cases,
}


def measure(cases: Iterator[Primitive], copied: float) -> list[dict[str, Any]]:
    """The rows of some cases: times, bytes a second as a share of a copy's, errors.

    Parameters
    ----------
    cases : iterator of Primitive
    copied : float
        Bytes per second of a plain copy on the device.
    """
    rows = []
    for case in cases:
        error = case.error(case.launch)
        found = time_launch(case.launch)
        speed = case.nbytes / found.median
        rows.append({
            **case.what, "launches": case.launches, "bytes": case.nbytes,
            "seconds": probes.timing(found), "bytes_per_second": speed, "flushed": found.flushed,
            "share_of_copy": round(speed / copied, 4), "share_of_bound": float(f"{error:.3g}"),
            "correct": error <= 1,
        })  # fmt: skip
    return rows


def recorded(table: str) -> Tables:
    """The rows of a table as a record holds them: timed, and counted where that is permitted."""
    copied = probes.copy_bandwidth()["bytes_per_second"]
    rows = measure(TABLES[table](), copied)
    module, engines = "kernels.measure.bench.primitives", profiled(table)
    return {table: ncu.add_counts(rows, module, table, COUNTED, engines=engines)}


def profiled(table: str) -> tuple[str, ...]:
    """The engines whose kernels are counted: both where their registers differ."""
    return ENGINES if table == "matvecs" else ENGINES[:1]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        cases = TABLES[sys.argv[1]]()
        ncu.launch_marked(
            case.launch for case in cases if case.what["engine"] in profiled(sys.argv[1])
        )
    else:
        for name in TABLES:
            for one in recorded(name)[name]:
                print(name, json.dumps(one))

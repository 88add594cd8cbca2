"""Measure what access patterns cost: strides, shifts, layouts, banks, and the transpose.

What is measured is a list of cases. The stopwatch times each of them, against a copy of the same
bytes in the same run; the profiler counts one launch of each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from kernels.backend import cupy
from kernels.backend.device import device
from kernels.host import cdiv, cpp
from kernels.host.follow import prepared
from kernels.measure import ncu, probes
from kernels.measure.timing import time as time_launch
from kernels.patterns import banks, copies, transpose

ENGINES = ("numba", "cpp")
STRIDES = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 28, 32)
OFFSETS = (0, 1, 4, 8, 16, 31, 32)
BANK_STRIDES = (*range(9), 12, 16, 17, 24, 31, 32, 33)
SIDE = 8192  #: rows and columns of the matrix that is transposed
LONGEST = 2**25  #: elements that a strided copy moves, memory permitting
WIDTH = 64  #: elements of a line that one thread adds up
TURNS = 64  #: of `READS` reads each, in a bank probe
BLOCK = 256
#: What the profiler counts in each table, by our names: the fewer, the fewer launches it needs.
COUNTED = {
    "strides": (
        "requests", "sectors", "store_requests", "store_sectors", "dram_read_bytes",
        "dram_write_bytes",
    ),
    "layouts": (
        "requests", "sectors", "dram_read_bytes", "dram_write_bytes", "l2_read_bytes",
        "l2_write_bytes",
    ),
    "banks": (
        "shared_load_instructions", "shared_store_instructions", "shared_load_wavefronts",
        "shared_load_conflicts", "shared_store_conflicts",
    ),
    "transpose": (
        "sectors", "store_sectors", "dram_read_bytes", "dram_write_bytes", "l2_read_bytes",
        "l2_write_bytes", "shared_load_instructions", "shared_store_instructions",
        "shared_load_conflicts", "shared_store_conflicts",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Probe:
    """One launch to measure.

    Attributes
    ----------
    what : dict
        What a row says was measured: the kernel's name, the engine, its options.
    nbytes : int
        Bytes that its threads need, each loaded or stored once; 0 where none are counted.
    launch : callable
        Launches it once.
    right : callable
        Launches it on poisoned output, and says whether the result is right.
    """

    what: dict[str, Any]
    nbytes: int
    launch: Callable[[], object]
    right: Callable[[], bool]


def launcher(
    module: Any, name: str, engine: str, n: int, arrays: tuple, sizes: tuple, scalars: tuple
) -> Callable[[], object]:
    """A launch of one kernel of `copies` or `banks` by n threads.

    Parameters
    ----------
    module : module
        `copies` or `banks`; the C++ counterpart is in the file of the same name.
    name, engine : str
    n : int
        Threads.
    arrays : tuple of cupy.ndarray
    sizes : tuple of int
        What only the C++ counterpart is told: its arrays are bare pointers.
    scalars : tuple
        The kernel's further arguments, NumPy scalars.
    """
    grid, block = module.launch(n, BLOCK)
    if engine == "numba":
        return prepared(getattr(module, name), grid, block, (*arrays, *scalars))
    kernel = cpp.load(module.__name__.rpartition(".")[2], name)
    return prepared(kernel, grid, block, (*arrays, *map(np.int32, sizes), *scalars))


def stride_cases(n: int | None = None, engines: tuple[str, ...] = ("numba",)) -> Iterator[Probe]:
    """Loads a stride apart, stores a stride apart, and loads shifted by an offset.

    Parameters
    ----------
    n : int, optional
        Elements moved; by default as many as fit with the largest stride in half of the memory.
    engines : tuple of str
        Both languages give the same times; a record holds one.
    """
    largest = max(STRIDES)
    n = n or min(LONGEST, _power_of_two(device().memory_bytes // (2 * 4 * (largest + 1))))
    few = cupy.arange(n, dtype=np.float32) % np.float32(251)
    # Made at once: further arrays of this size need not fit.
    many = cupy.tile(cupy.arange(251, dtype=np.float32), cdiv(n * largest, 251))[: n * largest]
    out = cupy.empty(n, np.float32)

    def right(launch: Callable[[], object], target: Any, expected: Any) -> bool:
        target.fill(np.nan)
        launch()
        return bool((target == expected).all())

    whole = {"n": n}
    copy = lambda: cupy.copyto(out, few)  # noqa: E731
    yield Probe(
        {"what": "copy", "engine": "library", **whole}, 8 * n, copy,
        lambda: right(copy, out, few),
    )  # fmt: skip
    for engine in engines:
        for offset in OFFSETS:
            launch = launcher(copies, "shifted", engine, n, (many, out), (n,), (np.int32(offset),))
            yield Probe(
                {"what": "shifted", "engine": engine, "offset": offset, **whole}, 8 * n, launch,
                lambda launch=launch, offset=offset: right(launch, out, many[offset : offset + n]),
            )  # fmt: skip
        for stride in STRIDES:
            spread = many[: n * stride]
            launch = launcher(
                copies, "strided_load", engine, n, (spread, out), (n,), (np.int32(stride),)
            )
            yield Probe(
                {"what": "strided_load", "engine": engine, "stride": stride, **whole},
                8 * n, launch,
                lambda launch=launch, spread=spread, stride=stride: right(
                    launch, out, spread[::stride]
                ),
            )  # fmt: skip
    for engine in engines:
        for stride in STRIDES:
            spread = many[: n * stride]
            launch = launcher(
                copies, "strided_store", engine, n, (few, spread), (n,), (np.int32(stride),)
            )
            yield Probe(
                {"what": "strided_store", "engine": engine, "stride": stride, **whole},
                8 * n, launch,
                lambda launch=launch, spread=spread, stride=stride: right(
                    launch, spread[::stride], few
                ),
            )  # fmt: skip


def _power_of_two(most: int) -> int:
    return 1 << (most.bit_length() - 1)


def layout_cases(n: int = 2**23) -> Iterator[Probe]:
    """Particles as records or as fields, one axis pushed or three.

    Parameters
    ----------
    n : int
        Particles.
    """
    dt = np.float32(0.5)
    start = cupy.arange(n * copies.FIELDS, dtype=np.uint32) % np.uint32(64)
    records = start.astype(np.float32).reshape(n, copies.FIELDS)
    del start
    moved = cupy.empty_like(records)
    fields = cupy.empty((copies.FIELDS, n), np.float32)

    def pushed(axes: int) -> Any:
        expected = records.copy()
        expected[:, :axes] += dt * records[:, 3 : 3 + axes]
        return expected

    def right_records(launch: Callable[[], object], axes: int) -> bool:
        moved[...] = records
        launch()
        return bool((moved == pushed(axes)).all())

    def right_fields(launch: Callable[[], object], axes: int) -> bool:
        fields[...] = records.T
        launch()
        return bool((fields == pushed(axes).T).all())

    for engine in ENGINES:
        for axes in (1, 3):
            scalars = (dt, np.int32(axes))
            for name, array, right in (
                ("push_records", moved, right_records), ("push_fields", fields, right_fields)
            ):  # fmt: skip
                launch = launcher(copies, name, engine, n, (array,), (n,), scalars)
                yield Probe(
                    {"what": name, "engine": engine, "axes": axes, "n": n}, 12 * n * axes, launch,
                    lambda launch=launch, right=right, axes=axes: right(launch, axes),
                )  # fmt: skip


def line_cases(lines: int = 2**21) -> Iterator[Probe]:
    """Lines of a matrix added up, each by one thread: along the rows, and down the columns.

    Parameters
    ----------
    lines : int
        Rows of the one matrix, columns of the other.
    """
    A = cupy.arange(lines * WIDTH, dtype=np.uint32) % np.uint32(16)
    A = A.astype(np.float32).reshape(lines, WIDTH)
    turned = cupy.ascontiguousarray(A.T)
    sums = cupy.empty(lines, np.float32)
    expected = A.sum(axis=1)

    def right_sums(launch: Callable[[], object]) -> bool:
        sums.fill(np.nan)
        launch()
        return bool((sums == expected).all())

    for engine in ENGINES:
        for name, matrix in (("sum_rows", A), ("sum_columns", turned)):
            launch = launcher(copies, name, engine, lines, (matrix, sums), matrix.shape, ())
            yield Probe(
                {"what": name, "engine": engine, "M": matrix.shape[0], "N": matrix.shape[1]},
                4 * (matrix.size + lines), launch, lambda launch=launch: right_sums(launch),
            )  # fmt: skip


def bank_cases(threads: int | None = None) -> Iterator[Probe]:
    """Reads of shared memory by stride.

    Parameters
    ----------
    threads : int, optional
        A multiple of the block; by default eight blocks an SM.
    """
    threads = threads or 8 * BLOCK * device().sms
    sums = cupy.empty(threads, np.float32)

    def right(launch: Callable[[], object], stride: int) -> bool:
        sums.fill(np.nan)
        launch()
        lane, turn, k = np.ogrid[:32, :TURNS, : banks.READS]
        places = lane * stride + turn % 32 + k
        expected = (places % 256).sum(axis=(1, 2)).astype(np.float32)
        return bool((cupy.asnumpy(sums).reshape(-1, 32) == expected).all())

    for engine in ENGINES:
        for stride in BANK_STRIDES:
            scalars = (np.int32(stride), np.int32(TURNS))
            launch = launcher(banks, "strided_reads", engine, threads, (sums,), (), scalars)
            yield Probe(
                {"what": "strided_reads", "engine": engine, "stride": stride, "threads": threads,
                 "reads": threads // 32 * TURNS * banks.READS},
                0, launch, lambda launch=launch, stride=stride: right(launch, stride),
            )  # fmt: skip


def transpose_cases(side: int = SIDE) -> Iterator[Probe]:
    """A copy of a square matrix, and every version of the transpose.

    Parameters
    ----------
    side : int
        Rows and columns.
    """
    nbytes = 8 * side * side
    # All different as far as float32 can count.
    A = cupy.arange(side * side, dtype=np.uint32) % np.uint32(2**24 - 3)
    A = A.astype(np.float32).reshape(side, side)
    B = cupy.empty((side, side), np.float32)
    sizes = {"M": side, "N": side}

    def right(launch: Callable[[], object], expected: Any) -> bool:
        B.fill(np.nan)
        launch()
        return bool((B == expected).all())

    copy = lambda: cupy.copyto(B, A)  # noqa: E731
    yield Probe(
        {"what": "copy", "engine": "library", **sizes}, nbytes, copy, lambda: right(copy, A)
    )
    flat = A.reshape(-1), B.reshape(-1)
    for engine in ENGINES:
        launch = launcher(copies, "plain_copy", engine, A.size, flat, (A.size,), ())
        yield Probe(
            {"what": "plain_copy", "engine": engine, **sizes}, nbytes, launch,
            lambda launch=launch: right(launch, A),
        )  # fmt: skip
        for version in transpose.VERSIONS.values():
            launch = version.launcher(A, B, engine)
            yield Probe(
                {"what": version.name, "engine": engine, **sizes}, nbytes, launch,
                lambda launch=launch: right(launch, A.T),
            )  # fmt: skip


TABLES: dict[str, Callable[[], Iterator[Probe]]] = {
    "strides": stride_cases,
    "layouts": lambda: chain(layout_cases(), line_cases()),
    "banks": bank_cases,
    "transpose": transpose_cases,
}


def measure(table: str, cases: Iterator[Probe] | None = None) -> dict[str, list[dict[str, Any]]]:
    """Time every case of a table; the first library copy, if there is one, is the yardstick.

    Parameters
    ----------
    table : str
        Key of `TABLES`.
    cases : iterator of Probe, optional
        Other cases than the table's own, such as smaller ones.

    Returns
    -------
    dict
        The table's rows, without counters; nothing is known of the cache before a launch, since
        it is flushed, save in the bank probes, which touch global memory only at their end.
    """
    rows, copied = [], None
    for case in cases or TABLES[table]():
        correct = case.right()
        found = time_launch(case.launch, limit=0.2)
        row = {**case.what, "seconds": probes.timing(found), "flushed": found.flushed}
        row["correct"] = correct
        if case.nbytes:
            speed = case.nbytes / found.median
            copied = copied or (speed if case.what["engine"] == "library" else None)
            row |= {"bytes": case.nbytes, "bytes_per_second": speed}
            if copied:
                row["share_of_copy"] = round(speed / copied, 4)
        rows.append(row)
    return {table: rows}


def recorded(table: str) -> dict[str, list[dict[str, Any]]]:
    """The rows of a table as a record holds them: timed, and counted where that is permitted."""
    rows = measure(table)[table]
    return {table: ncu.add_counts(rows, "kernels.measure.memory_probes", table, COUNTED[table])}


if __name__ == "__main__":
    cases = TABLES[sys.argv[1]]()
    # Numba's alone are counted, for the requests of their counterparts in C++ are the same.
    ncu.launch_marked(case.launch for case in cases if case.what["engine"] == "numba")

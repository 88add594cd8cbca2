"""Copies and kernels at the same time: a tall product in strips, on one stream or on several.

C = A·B with a tall A on the host: each strip of its rows is copied in, multiplied by the B that is
on the device already, and copied out. On one stream the three follow each other; on several, the
next strip comes in while this one is multiplied and the last one goes out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kernels.backend import cupy
from kernels.host import cpp
from kernels.measure import oracle, probes

__all__ = ["Pipeline", "measure"]

M, N, K = 65536, 512, 512
STRIPS = 16
TILE = 32
REPEATS = 10


def measure() -> dict[str, list[dict[str, Any]]]:
    """Time the product on one to four streams, and each part alone.

    Returns
    -------
    dict of str to list of dict
        Tables ``overlap`` (a row a way) and ``timeline`` (a row for each step of a strip, from and
        to which second it kept its engine busy) of a record.
    """
    product = Pipeline()
    rows = [product.row(f"{part} alone", 1, (part,)) for part in Pipeline.PARTS]
    times = []
    for streams in (1, 2, 3, 4):
        rows.append(product.row("all", streams, Pipeline.PARTS))
        if streams in (1, 3):
            times += product.timeline(streams)
    return {"overlap": rows, "timeline": times}


class Pipeline:
    """The product's arrays, and the steps of a strip."""

    PARTS = ("copy in", "kernel", "copy out")

    def __init__(self) -> None:
        self.A, self.C = (probes.pinned(M * n).reshape(M, n) for n in (K, N))
        A, B = oracle.inputs(M, N, K)
        self.A[:] = A
        self.B = cupy.asarray(B)
        self.kernel = cpp.load("tiled", TILE=TILE)
        self.rows = M // STRIPS

    def run(self, streams: list[Any], parts: tuple[str, ...], mark: Callable[..., None]) -> None:
        """Queue all strips; `mark(stream, strip, part)` is called before and after each part."""
        runtime = cupy.cuda.runtime
        held = [
            (cupy.empty((self.rows, K), np.float32), cupy.empty((self.rows, N), np.float32))
            for _ in streams
        ]
        grid, block = (N // TILE, self.rows // TILE), (TILE, TILE)
        sizes = tuple(map(np.int32, (self.rows, N, K)))
        for strip in range(STRIPS):
            stream, (a, c) = streams[strip % len(streams)], held[strip % len(streams)]
            rows = slice(strip * self.rows, (strip + 1) * self.rows)
            for part in parts:
                mark(stream, strip, part)
                if part == "copy in":
                    there, here = a.data.ptr, self.A[rows].ctypes.data
                    runtime.memcpyAsync(there, here, a.nbytes, 1, stream.ptr)
                elif part == "kernel":
                    with stream:
                        self.kernel(grid, block, (a, self.B, c, *sizes))
                else:
                    there, here = self.C[rows].ctypes.data, c.data.ptr
                    runtime.memcpyAsync(there, here, c.nbytes, 2, stream.ptr)
                mark(stream, strip, part)

    def between(self, count: int, parts: tuple[str, ...], mark: Callable[..., None]) -> Any:
        """Run on `count` streams; return the events before the first and after the last step."""
        streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(count)]
        first, last = cupy.cuda.Event(), cupy.cuda.Event()
        cupy.cuda.Device().synchronize()
        first.record(streams[0])
        for stream in streams[1:]:
            stream.wait_event(first)
        self.run(streams, parts, mark)
        for stream in streams[1:]:
            streams[0].wait_event(stream.record())
        last.record(streams[0])
        last.synchronize()
        return first, last

    def row(self, what: str, streams: int, parts: tuple[str, ...]) -> dict[str, Any]:
        """The time of all strips, measured between events."""

        def nothing(*_: Any) -> None:
            pass

        seconds = []
        for _ in range(REPEATS + 1):
            events = self.between(streams, parts, nothing)
            seconds.append(cupy.cuda.get_elapsed_time(*events) * 1e-3)
        found = {
            "what": what, "streams": streams, "strips": STRIPS, "M": M, "N": N, "K": K,
            "bytes_in": 4 * M * K * ("copy in" in parts),
            "bytes_out": 4 * M * N * ("copy out" in parts), "seconds": probes.spread(seconds[1:]),
        }  # fmt: skip
        if parts == Pipeline.PARTS:
            found["correct"] = self.right()
        return found

    def right(self) -> bool:
        """Whether C came back right; it is poisoned for the next run."""
        try:
            oracle.check(cupy.asarray(self.C), cupy.asarray(self.A), self.B)
            right = True
        except oracle.WrongResult:
            right = False
        self.C.fill(np.nan)
        return right

    def timeline(self, count: int) -> list[dict[str, Any]]:
        """From when to when each step kept the engine of its kind busy.

        An event tells when a stream was ready for a step; the step begins then, or when the engine
        is done with the step before.
        """
        marks: dict[tuple[int, str], list[Any]] = {}

        def mark(stream: Any, strip: int, part: str) -> None:
            marks.setdefault((strip, part), []).append(stream.record())

        first, _ = self.between(count, Pipeline.PARTS, mark)
        elapsed = cupy.cuda.get_elapsed_time
        free = dict.fromkeys(Pipeline.PARTS, 0.0)
        rows = []
        for (strip, part), (before, after) in marks.items():
            ready, done = (elapsed(first, event) * 1e-3 for event in (before, after))
            rows.append({
                "streams": count, "stream": strip % count, "strip": strip, "what": part,
                "begins": float(f"{max(ready, free[part]):.5g}"), "ends": float(f"{done:.5g}"),
            })  # fmt: skip
            free[part] = done
        return rows

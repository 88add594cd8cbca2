"""The tile player: a tiled product, step by step, with its ledger and its recorded speed."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import Any

import traitlets as t

from kernels import records
from kernels.backend import cuda, cupy, on_gpu
from kernels.backend.device import device, where
from kernels.basics.data_sheets import gpus
from kernels.lab.widgets.base import Widget, data_sheets, plain
from kernels.measure import oracle
from kernels.measure.timing import time as time_launch

LARGEST = 64  #: rows and columns the picture can hold
SIZE_ON_GPU = 2048  #: M, N and K of a launch that is worth timing
#: The statements of the kernel that the player plays, in the order of the source.
STATEMENTS = (
    "loop", "load A", "load B", "barrier 1", "inner", "multiply", "barrier 2", "guard", "store",
)  # fmt: skip


class TilePlayer(Widget):
    """C = A·B by the tiled kernel: play it, take a barrier away, count, compare.

    Parameters
    ----------
    M, N, K : int
        Sizes of the matrices in the picture, 1 to 64.
    tile : int
        Side of the tiles and of the blocks, 4 to 32.
    row, col : int
        The element of C whose thread is followed; one past the edge belongs to a thread that
        owns no element.
    barrier1, barrier2 : bool
        Whether the kernel has its first and its second barrier.
    gpu : str
        Short name of the GPU whose data sheet gives the occupancy and whose record the speeds.

    Attributes
    ----------
    speeds, registers, recorded : dict
        For each recorded GPU the speeds of the tiled rung, its registers per thread by tile, and
        where these figures come from.
    measured : list of dict
        What *Run on this machine* has measured: see `run`.
    """

    shown = ("M", "N", "K", "tile")

    M = t.Int(8, min=1, max=LARGEST).tag(sync=True)
    N = t.Int(12, min=1, max=LARGEST).tag(sync=True)
    K = t.Int(16, min=1, max=LARGEST).tag(sync=True)
    tile = t.Int(4, min=4, max=32).tag(sync=True)
    row = t.Int(6, min=0).tag(sync=True)
    col = t.Int(9, min=0).tag(sync=True)
    step = t.Int(0, min=0).tag(sync=True)
    barrier1 = t.Bool(True).tag(sync=True)
    barrier2 = t.Bool(True).tag(sync=True)
    gpu = t.Unicode("h200").tag(sync=True)
    gpus = t.Dict().tag(sync=True)
    speeds = t.Dict().tag(sync=True)
    registers = t.Dict().tag(sync=True)
    recorded = t.Dict().tag(sync=True)
    source = t.List().tag(sync=True)
    measured = t.List().tag(sync=True)

    def __init__(self, **settings: Any) -> None:
        shown = records.load().sheet if records.names() else ""
        defaults = {"gpu": shown if shown in gpus() else "h200", "source": source()}
        super().__init__(**defaults | self.of_records() | settings)
        self.on_msg(self._answer)

    @classmethod
    def of_records(cls) -> dict[str, Any]:
        known = {record.sheet: record for record in map(records.load, records.names())}
        return {
            "gpus": data_sheets(),
            "speeds": {key: speeds(record) for key, record in known.items()},
            "registers": {key: registers(record) for key, record in known.items()},
            "recorded": {key: record.caption() for key, record in known.items()},
        }

    def _answer(self, _: Any, asked: dict[str, Any], __: Any) -> None:
        if asked.get("type") == "hello":
            size = f", {SIZE_ON_GPU}³" if on_gpu else ""
            self.send({"type": "here", "text": where() + size})
        elif asked.get("type") == "run":
            for answer in self.run(asked["tile"]):
                self.send(answer)

    def run(self, tile: int) -> Iterator[dict[str, Any]]:
        """Launch the tiled kernel on this machine, as the button does.

        On a GPU the matrices have `SIZE_ON_GPU` rows and columns; the interpreter gets those of
        the picture, and its time says nothing about any GPU.

        Parameters
        ----------
        tile : int
            Side of the tiles.

        Yields
        ------
        dict
            ``type`` is ``"progress"``, then ``"result"`` or ``"error"``, each with a ``text``. The
            result is also appended to ``measured``.
        """
        from kernels.rungs.order import LADDER

        M, N, K = (SIZE_ON_GPU,) * 3 if on_gpu else (self.M, self.N, self.K)
        rung = LADDER["tiled"]
        try:
            yield {"type": "progress", "text": f"Compiling for tile {tile} …"}
            grid, block = rung.launch(M, N, tile=tile)
            A, B = (cupy.asarray(matrix) for matrix in oracle.inputs(M, N, K))
            C = cupy.full((M, N), float("nan"), "float32")
            launch = rung.kernel(tile=tile)[grid, block]
            arrays = tuple(cuda.as_cuda_array(x) for x in (A, B, C)) if on_gpu else (A, B, C)
            launch(*arrays)
            yield {"type": "progress", "text": "Checking the result …"}
            oracle.check(*(cupy.asnumpy(x) for x in (C, A, B)))
            yield {"type": "progress", "text": f"Timing {M} × {N} × {K} …"}
            timing = time_launch(lambda: launch(*arrays), repeat=10, limit=2.0)
        except Exception as error:  # whatever went wrong is for the reader to see
            yield {"type": "error", "text": f"{type(error).__name__}: {error}"}
            return
        found = {
            "tile": tile, "M": M, "N": N, "K": K, "on_gpu": on_gpu, "gpu": device().name,
            "seconds": timing.median, "gflops": timing.gflops(2 * M * N * K),
        }  # fmt: skip
        self.measured = [*self.measured, found]
        yield {"type": "result", "text": f"Right, and measured on {where()}: {timing}.", **found}


def speeds(record: records.Record) -> list[dict[str, Any]]:
    """Recorded speeds of the tiled rung at 4096³, or at the largest size there is."""
    rows = record.rows("timings", rung="tiled")
    sizes = {row.M for row in rows}
    size = 4096 if 4096 in sizes else max(sizes, default=0)
    return plain(
        [
            {
                "gpu": record.provenance["gpu"], "engine": row.engine, "size": size,
                "tile": row["options"]["tile"], "gflops": row.gflops,
                "cublas_gflops": row.cublas_gflops,
            }
            for row in rows
            if row.M == size
        ]
    )  # fmt: skip


def registers(record: records.Record) -> dict[str, int]:
    """Recorded registers per thread of the Numba kernel, by tile."""
    if "resources" not in record.tables:
        return {}
    rows = record.rows("resources", rung="tiled", engine="numba")
    return {str(row["options"]["tile"]): row.registers for row in rows}


def source() -> list[list[Any]]:
    """The loop of the tiled kernel: for each statement its name, its line and its text."""
    from kernels.rungs import tiled

    text = inspect.getsource(tiled)
    lines = text.splitlines()
    kernel = next(
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.name == "tiled"
    )
    loop = next(node for node in kernel.body if isinstance(node, ast.For))
    load_a, load_b, first, inner, second = loop.body
    guard = kernel.body[-1]
    nodes = (loop, load_a, load_b, first, inner, inner.body[0], second, guard, guard.body[0])
    indent = loop.col_offset
    return [
        [name, node.lineno, lines[node.lineno - 1][indent:]]
        for name, node in zip(STATEMENTS, nodes, strict=True)
    ]

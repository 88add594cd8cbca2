"""The tile player: a tiled product, step by step, with its ledger and its recorded speed."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import traitlets as t

from kernels import records
from kernels.basics.data_sheets import gpus
from kernels.lab.widgets.base import Widget, data_sheets, plain

LARGEST = 64  #: rows and columns the picture can hold
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

    def __init__(self, **settings: Any) -> None:
        shown = records.load().sheet if records.names() else ""
        defaults = {"gpu": shown if shown in gpus() else "h200", "source": source()}
        super().__init__(**defaults | self.of_records() | settings)

    @classmethod
    def of_records(cls) -> dict[str, Any]:
        known = {record.sheet: record for record in map(records.load, records.names())}
        return {
            "gpus": data_sheets(),
            "speeds": {key: speeds(record) for key, record in known.items()},
            "registers": {key: registers(record) for key, record in known.items()},
            "recorded": {key: record.caption() for key, record in known.items()},
        }


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

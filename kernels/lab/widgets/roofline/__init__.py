"""The roofline of a GPU, and the recorded rungs under it or, as asked bytes go, above it."""

from __future__ import annotations

from typing import Any

import traitlets as t

from kernels import records
from kernels.basics import data_sheets
from kernels.lab.widgets.base import Widget, plain
from kernels.records import roofline

SIZE = 4096  #: M, N and K of the recorded points, where that size is recorded


class Roofline(Widget):
    """How fast a kernel may run, given how many FLOP it does for each byte.

    Parameters
    ----------
    gpu : str
        Short name of the GPU, such as ``"h200"``.
    intensity : float
        FLOP per byte that the reading is taken at.
    counted : {"asked", "compulsory"}
        Which bytes the points stand for: those the threads ask for, or those that must move once.

    Attributes
    ----------
    gpus : dict
        For each GPU its name, its roofs (data sheet, and recorded if there is a record), its points
        and where they come from.
    """

    shown = ("gpu", "intensity", "counted")

    gpu = t.Unicode("h200").tag(sync=True)
    intensity = t.Float(0.25, min=0.0625, max=4096).tag(sync=True)
    counted = t.Enum(("asked", "compulsory"), "asked").tag(sync=True)
    gpus = t.Dict().tag(sync=True)

    def __init__(self, **settings: Any) -> None:
        default = records.load().sheet if records.names() else "h200"
        super().__init__(**{"gpu": default} | self.of_records() | settings)

    @classmethod
    def of_records(cls) -> dict[str, Any]:
        gpus: dict[str, dict[str, Any]] = {
            name: {
                "name": sheet.name,
                "roofs": [plain(vars(roofline.data_sheet(sheet)))],
                "points": [],
                "source": "",
            }
            for name, sheet in data_sheets.gpus().items()
        }
        for record in map(records.load, records.names()):
            name = record.sheet
            shown = gpus.setdefault(name, {"name": record.provenance["gpu"], "roofs": []})
            if record.tables.get("bandwidth"):
                shown["roofs"].append(plain(vars(roofline.recorded(record))))
            shown["points"] = points(record)
            shown["source"] = record.caption()
        return {"gpus": gpus}


def points(record: records.Record) -> list[dict[str, Any]]:
    """The recorded rungs: label, engine, FLOP/s, and FLOP per byte asked for and compulsory."""
    from kernels.lab.plots import rung_label  # and with it Matplotlib: when there is a record
    from kernels.rungs.order import LADDER

    sizes = {row.M for row in record.rows("timings", rung="tiled")}
    size = SIZE if SIZE in sizes else max(sizes, default=SIZE)
    found = []
    for row in record.ladder(M=size):
        library = row.engine == "library"
        model = LADDER["naive" if library else row.rung].model(
            row.M, row.N, row.K, **({} if library else row.options)
        )
        found.append(
            {
                "label": rung_label(row), "engine": row.engine, "size": size,
                "flops": row.gflops * 1e9, "compulsory": model.intensity_compulsory,
                # What the library's threads ask for is not known.
                "asked": None if library else model.intensity,
            }
        )  # fmt: skip
    return plain(found)

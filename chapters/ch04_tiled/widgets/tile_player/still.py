"""One block of the tiled kernel, the whole product, and recorded speeds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kernels.basics.data_sheets import gpu as data_sheet
from kernels.basics.units import percent, quantity
from kernels.host import cdiv
from kernels.lab.widgets.stills import ENGINES, StillTable
from kernels.measure.occupancy import occupancy
from kernels.rungs.order import LADDER


def still(state: dict[str, Any]) -> Iterable[StillTable]:
    M, N, K, tile = (state[name] for name in ("M", "N", "K", "tile"))
    sheet = data_sheet(state["gpu"])
    registers = state["registers"].get(state["gpu"], {}).get(str(tile), 0)
    resident = occupancy(tile * tile, registers=registers, shared_bytes=8 * tile * tile, gpu=sheet)
    yield StillTable(
        f"One block of the tiled kernel, with tiles of {tile} × {tile}, on the {sheet.name}.",
        ("quantity", "value"),
        [
            ("threads per block", tile * tile),
            ("bytes of shared memory per block", 8 * tile * tile),
            ("blocks per SM", f"{resident.blocks}, limited by {resident.limiter}"),
            ("occupancy", percent(resident.fraction)),
            ("loads per thread", 2 * cdiv(K, tile)),
        ],
    )
    models = [
        LADDER["tiled"].model(M, N, K, tile=tile),
        LADDER["naive"].model(M, N, K, block=tile),
    ]
    yield StillTable(
        f"The whole product, M, N, K = {M}, {N}, {K}.",
        ("quantity", "tiled", "naive"),
        [
            ("global loads", *(sum(model.loads.values()) for model in models)),
            ("FLOP per byte asked", *(model.intensity for model in models)),
        ],
    )
    if speeds := state["speeds"].get(state["gpu"]):
        yield StillTable(
            f"Recorded speed of the tiled kernel. {state['recorded'][state['gpu']]}",
            ("tile", "kernel", "speed"),
            [
                (
                    row["tile"],
                    f"{ENGINES[row['engine']]} on {row['gpu']}",
                    quantity(row["gflops"] * 1e9, "FLOP/s"),
                )
                for row in speeds
            ],
        )

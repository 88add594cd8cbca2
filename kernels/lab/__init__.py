"""The chapters' door: what a cell calls, whatever room it stands in.

>>> from kernels.lab import check, trace, percent   # the names below
>>> from kernels.lab import plots, records          # and these modules

A module loads when something of it is first asked for: Matplotlib and Jupyter take seconds.
"""

from importlib import import_module
from typing import Any

#: Names, by the module that defines them.
NAMES = {
    "kernels.lab.widgets.pipeline_player": ("pipeline_player",),
    "kernels.basics.units": ("percent", "quantity", "size"),
    "kernels.backend.device": ("device", "where"),
    "microscope": ("trace",),
    "kernels.backend.vector": (
        "aligned16",
        "load4",
        "load4_guarded",
        "store4",
        "store4_guarded",
        "unrolled",
    ),
    "kernels.host": ("cdiv",),
    "kernels.host.tiles": ("registers_of",),
    "kernels.host.tma": ("tensor_map",),
    "kernels.lab.measuring": ("measure",),
    "kernels.lab.plots.requests": ("describe", "request_picture"),
    "kernels.measure.anywhere": ("launch", "trace_rung"),
    "kernels.measure.occupancy": ("occupancy",),
    "kernels.measure.oracle": ("check", "inputs", "poisoned"),
    "kernels.measure.overlap": ("Pipeline",),
    "kernels.measure.timing": ("time",),
}
#: Modules of other floors, by the name that chapters give them.
MODULES = {
    "broken": "kernels.measure.broken",
    "budget": "kernels.budget.verdict",
    "counters": "kernels.records.counters",
    "cpp": "kernels.host.cpp",
    "data_sheets": "kernels.basics.data_sheets",
    "half": "kernels.host.half",
    "levels": "kernels.measure.levels",
    "probes": "kernels.measure.probes",
    "ptx": "kernels.measure.ptx",
    "records": "kernels.records",
    "report": "kernels.measure.report",
    "roofline": "kernels.records.roofline",
    "sass": "kernels.measure.sass",
    "side_by_side": "kernels.records.side_by_side",
}
_HOMES = {name: module for module, names in NAMES.items() for name in names}

__all__ = sorted([*_HOMES, *MODULES])


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in MODULES:
        return import_module(MODULES[name])
    try:
        return import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None

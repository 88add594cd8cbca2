"""Measured figures, read from ``chapters/records/<gpu>.json``: found, merged, shown as tables."""

from kernels.records.record import (
    DEFAULT_GPU,
    FOLDER,
    KEY,
    MissingField,
    Record,
    RecordError,
    Row,
    folder,
    holding,
    key_of,
    load,
    merge,
    names,
    read,
    write,
)
from kernels.records.table import Table, ablation, sustained

__all__ = [
    "DEFAULT_GPU",
    "FOLDER",
    "KEY",
    "MissingField",
    "Record",
    "RecordError",
    "Row",
    "Table",
    "ablation",
    "folder",
    "holding",
    "key_of",
    "load",
    "merge",
    "names",
    "read",
    "sustained",
    "write",
]

"""Find figures of performance in text, and the figures that records and data files hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PREFIX = {"n": 1e-9, "µ": 1e-6, "μ": 1e-6, "u": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "K": 1e3,
          "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}  # fmt: skip
FIGURE = re.compile(
    r"(?<![\w.])(?P<number>\d+(?:[ \u00a0\u202f,]\d{3})*(?:\.\d+)?)[ \u00a0\u202f]?"
    r"(?:(?P<prefix>[kKMGTP]?)(?P<rate>B/s|B/sec|FLOP/s|FLOPS|FLOPs/s)"
    r"|(?P<small>[nµμum])(?P<time>s)"
    r"|(?P<share>%)\s+of\s+(?:cuBLAS|the\s+library|the\s+peak|peak))(?![\w/])"
)

#: A value that `authoring.inline` fills in.
FILLED = re.compile(r"<!-- =\S.*?<!-- = -->", re.S)


@dataclass(frozen=True)
class Figure:
    """A number with a unit of performance, in bare units, and half a unit of its last digit."""

    text: str
    value: float
    half: float
    kind: str

    def agrees(self, other: Figure) -> bool:
        """Whether both can stand for one value, each rounded as it is written."""
        close = abs(self.value - other.value) <= self.half + other.half + 1e-9 * self.value
        return self.kind == other.kind and close


def figures(text: str) -> Iterator[Figure]:
    """All figures of performance in a text."""
    for found in FIGURE.finditer(text):
        number = re.sub(r"[ \u00a0\u202f,]", "", found["number"])
        decimals = len(number.partition(".")[2])
        if found["rate"]:
            scale, kind = PREFIX[found["prefix"]], "B/s" if found["rate"][0] == "B" else "FLOP/s"
        elif found["time"]:
            scale, kind = PREFIX[found["small"]], "s"
        else:
            scale, kind = 0.01, "share"
        half = 0.5 * 10.0**-decimals * scale
        yield Figure(" ".join(found[0].split()), float(number) * scale, half, kind)


#: Fields of records and data files: their unit, and what makes the bare unit of it.
FIELDS = {
    "gflops": ("FLOP/s", 1e9), "cublas_gflops": ("FLOP/s", 1e9), "fp32_peak": ("FLOP/s", 1.0),
    "fp32_tflops": ("FLOP/s", 1e12), "fp16_tensor_tflops": ("FLOP/s", 1e12),
    "bf16_tensor_tflops": ("FLOP/s", 1e12), "bytes_per_second": ("B/s", 1.0),
    "bandwidth_gbs": ("B/s", 1e9), "bandwidth_peak": ("B/s", 1.0), "median": ("s", 1.0),
    "q1": ("s", 1.0), "q3": ("s", 1.0), "ns": ("s", 1e-9), "share_of_copy": ("share", 1.0),
}  # fmt: skip


def held(data: Any) -> Iterator[Figure]:
    """All figures in the contents of a record or a data file."""
    if isinstance(data, dict):
        if {"gflops", "cublas_gflops"} <= data.keys():
            yield Figure("", data["gflops"] / data["cublas_gflops"], 0.0, "share")
        for name, value in data.items():
            known = name in FIELDS or name.isdigit()
            if known and isinstance(value, int | float):
                kind, factor = FIELDS.get(name, ("B/s", 1e9))
                yield Figure("", value * factor, 0.0, kind)
            else:
                yield from held(value)
    elif isinstance(data, list):
        for value in data:
            yield from held(value)
    elif isinstance(data, str):
        yield from figures(data)


def files(paths: Iterable[Path]) -> list[Figure]:
    """All figures that some JSON files hold."""
    return [figure for path in paths for figure in held(json.loads(path.read_text("utf-8")))]


def shown(notebook: Any) -> list[Figure]:
    """All figures in the stored text outputs of a chapter."""
    texts = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            texts.append(output.get("text", ""))
            texts.append(output.get("data", {}).get("text/plain", ""))
    return [figure for text in texts for figure in figures(text)]


def unheld(text: str, known: Iterable[Figure]) -> list[str]:
    """Figures of a text that nothing holds, beside those that are filled in from a record."""
    known, text = list(known), FILLED.sub("", text)
    return [f.text for f in figures(text) if not any(f.agrees(other) for other in known)]

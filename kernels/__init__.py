"""*Tile by Tile*: the kernels of the course, one idea a file, and the instruments around them.

>>> from kernels import cuda, float32, uint32   # what every kernel needs
>>> from kernels import LADDER                  # the rungs: LADDER["tiled"].matmul(A, B, tile=32)
>>> from kernels import matmul                  # the fastest of them for the shape: matmul(A, B)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernels import lab, ptx
    from kernels.backend import cuda, cupy, float32, float64, int32, on_gpu, uint8, uint32, uint64
    from kernels.rungs.order import LADDER, Rung
    from kernels.tuning.chooser import choose, grouped_matmul, matmul, plan

__all__ = [
    "LADDER",
    "Rung",
    "choose",
    "cuda",
    "cupy",
    "float32",
    "float64",
    "grouped_matmul",
    "int32",
    "lab",
    "matmul",
    "on_gpu",
    "plan",
    "ptx",
    "uint8",
    "uint32",
    "uint64",
]

#: Where the names above are. They are imported when they are asked for: a folder below needs none
#: of them, and a backend that isn't there is an error of whoever asks for it.
PLACES = {
    "kernels.backend": (
        "cuda",
        "cupy",
        "float32",
        "float64",
        "int32",
        "on_gpu",
        "uint8",
        "uint32",
        "uint64",
    ),
    "kernels.rungs.order": ("LADDER", "Rung"),
    "kernels.tuning.chooser": ("choose", "grouped_matmul", "matmul", "plan"),
}


def __getattr__(name: str) -> Any:
    if name in {"lab", "ptx"}:
        return import_module(f"kernels.{name}")
    for module, names in PLACES.items():
        if name in names:
            found = globals()[name] = getattr(import_module(module), name)
            return found
    raise AttributeError(f"module 'kernels' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

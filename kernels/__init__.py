"""*Tile by Tile*: the kernels of the course, one idea a file, and the instruments around them.

>>> from kernels import cuda, float32, uint32   # what every kernel needs
>>> from kernels import LADDER                  # the rungs: LADDER["tiled"].matmul(A, B, tile=32)
>>> from kernels import matmul                  # the fastest of them for the shape: matmul(A, B)
"""

from kernels import lab
from kernels.engine import cuda, cupy, float32, float64, int32, on_gpu, uint32
from kernels.rungs.order import LADDER, Rung
from kernels.tuning.chooser import choose, matmul

__all__ = [
    "LADDER",
    "Rung",
    "choose",
    "cuda",
    "cupy",
    "float32",
    "float64",
    "int32",
    "lab",
    "matmul",
    "on_gpu",
    "uint32",
]

"""Print the processor seconds of the tiled kernel in Numba's simulator; needs
``NUMBA_ENABLE_CUDASIM=1``.

The kernel is the course's own text, taken from its file, since the course's engine cannot be chosen
here.
"""

import ast
import os
import sys
import time
from pathlib import Path

import numpy as np


def tiled(tile: int):
    """The kernel of ``kernels/rungs/tiled.py`` under the simulator's `cuda`."""
    from numba import cuda, float32, uint32

    path = Path(__file__).resolve().parents[2] / "kernels" / "rungs" / "tiled.py"
    tree = ast.parse(path.read_text())
    tree.body = [node for node in tree.body if getattr(node, "name", "") == "make_tiled"]
    names = {"cuda": cuda, "float32": float32, "uint32": uint32}
    exec(compile(tree, str(path), "exec"), names)
    return names["make_tiled"](tile)


def main() -> None:
    """Print the seconds of one launch of ``size``³ with 16 × 16 tiles."""
    if os.environ.get("NUMBA_ENABLE_CUDASIM") != "1":
        raise SystemExit("set NUMBA_ENABLE_CUDASIM=1: this times Numba's simulator")
    size, tile = int(sys.argv[1]), 16
    A = np.arange(size * size, dtype=np.float32).reshape(size, size) % 7
    B, C = A.T.copy() % 5, np.full((size, size), np.nan, np.float32)
    grid = (-(-size // tile),) * 2
    start = time.process_time()
    tiled(tile)[grid, (tile, tile)](A, B, C)
    seconds = time.process_time() - start
    if not np.array_equal(C, A @ B):
        raise SystemExit("the simulator's result is wrong")
    print(seconds)


if __name__ == "__main__":
    main()

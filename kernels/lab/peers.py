"""Other ways to a matrix product on this GPU, measured beside the rungs where they are installed.

None of them is needed by anything else here: a machine without them has shorter tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

__all__ = ["TITLES", "launches"]

#: What a table calls them.
TITLES = {"triton": "Triton"}


def launches(A: Any, B: Any, C: Any) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield the name and a launch of every other way that is installed.

    Parameters
    ----------
    A, B, C : CuPy arrays, shapes (M, K), (K, N) and (M, N)
    """
    if find_spec("triton") and find_spec("torch"):
        from kernels.lab import peer_triton

        yield "triton", peer_triton.launch(A, B, C)

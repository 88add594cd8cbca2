"""Compile the CUDA C++ twins in ``kernels/cpp`` and hand them over ready to launch."""

from functools import cache
from pathlib import Path

from kernels.lab.backend import cupy, on_gpu, why_cpu

__all__ = ["SOURCES", "load", "source"]

SOURCES = Path(__file__).resolve().parents[1] / "cpp"


def source(name: str) -> str:
    """Return the text of ``kernels/cpp/NAME.cu``; LookupError names the files there are."""
    path = SOURCES / f"{name}.cu"
    if not path.is_file():
        there = ", ".join(sorted(p.stem for p in SOURCES.glob("*.cu")))
        raise LookupError(f"no CUDA C++ file {name!r} in kernels/cpp: use one of {there}")
    return path.read_text(encoding="utf-8")


@cache
def load(name: str, function: str = "", **macros: int):
    """Compile ``kernels/cpp/NAME.cu`` with NVRTC and return one of its kernels.

    Parameters
    ----------
    name : str
        The file, without ``.cu``.
    function : str, optional
        The ``extern "C"`` kernel in it; by default the one named like the file.
    **macros : int
        What the preprocessor defines, such as ``TILE=16`` (``-DTILE=16``).

    Returns
    -------
    cupy.RawKernel
        Launch it with ``kernel(grid, block, arguments)``. It is compiled once for each choice of
        macros.

    Raises
    ------
    RuntimeError
        Without a GPU.
    LookupError
        If there is no such file.
    """
    text = source(name)
    if not on_gpu:
        raise RuntimeError(f"{name}.cu needs an NVIDIA GPU ({why_cpu}): use engine='numba'")
    options = ("--std=c++17", "--generate-line-info", *(f"-D{k}={v}" for k, v in macros.items()))
    return cupy.RawModule(code=text, options=options).get_function(function or name)

"""Choose where kernels run, once: on an NVIDIA GPU, or in the interpreter of the microscope.

Everything else imports `cuda`, `cupy` and the scalar types from here and never asks again. The
environment variable ``KERNELS_BACKEND`` overrides the choice: ``cpu``, ``gpu``, or unset (a GPU if
there is a usable one).

``KERNELS_LIMITS`` names a data sheet, such as ``t4``: then kernels are compiled for that GPU's
compute capability, and have no more shared memory per block and memory than it has. So what its
owner sees can be tried on a larger GPU. Its SMs, clocks and caches stay those of the hardware.

=============  ===================================  ==============================================
name           on a GPU                             without one
=============  ===================================  ==============================================
`cuda`         ``numba.cuda`` (numba-cuda)          the interpreter, under ``numba.cuda``'s names
`cupy`         CuPy                                 a stand-in over NumPy
`float32`, …   Numba's scalar types                 NumPy's scalar types
`on_gpu`       True                                 False
`why_cpu`      ``""``                               why no GPU is used, in a few words
`imposed`      the data sheet of KERNELS_LIMITS     None
=============  ===================================  ==============================================
"""

import os
import warnings
from importlib.util import find_spec

from kernels.basics import data_sheets

__all__ = [
    "cuda",
    "cupy",
    "float32",
    "float64",
    "imposed",
    "int32",
    "on_gpu",
    "uint8",
    "uint32",
    "uint64",
    "why_cpu",
]


def _missing() -> str:
    """Say what keeps this machine from running kernels on a GPU; empty if nothing does."""
    if find_spec("numba_cuda") is None:
        return "the package numba-cuda is not installed"
    if find_spec("cupy") is None:
        return "the package cupy-cuda12x or cupy-cuda13x is not installed"
    from numba import cuda

    if not cuda.is_available():
        return "numba-cuda finds no NVIDIA GPU with a working driver"
    return ""


def _choose(wish: str) -> str:
    """Return why the interpreter is used, empty for the GPU, from the wish in KERNELS_BACKEND."""
    if wish not in ("", "cpu", "gpu"):
        raise ValueError(f"KERNELS_BACKEND={wish!r} is no backend: use cpu, gpu, or leave it unset")
    if wish == "cpu":
        return "KERNELS_BACKEND=cpu asks for the CPU"
    missing = _missing()
    if wish == "gpu" and missing:
        raise RuntimeError(f"KERNELS_BACKEND=gpu, but {missing}: use KERNELS_BACKEND=cpu")
    return missing


def _impose(wish: str) -> data_sheets.Gpu | None:
    """Return the data sheet that KERNELS_LIMITS names, None if it is unset."""
    if not wish:
        return None
    if wish not in data_sheets.gpus():
        known = ", ".join(data_sheets.gpus())
        raise ValueError(f"KERNELS_LIMITS={wish!r} is no GPU: use {known}, or leave it unset")
    return data_sheets.gpu(wish)


imposed = _impose(os.environ.get("KERNELS_LIMITS", "").strip().lower())
if imposed:  # Numba reads it when it is imported
    os.environ.setdefault("NUMBA_FORCE_CUDA_CC", imposed.compute_capability)

why_cpu = _choose(os.environ.get("KERNELS_BACKEND", "").strip().lower())
on_gpu = not why_cpu
imposed = imposed if on_gpu else None

if on_gpu:
    import cupy
    import numba.cuda.random  # noqa: F401  (so that `cuda.random` is there)
    from numba import cuda, float32, float64, int32, uint8, uint32, uint64

    if imposed:
        cupy.get_default_memory_pool().set_limit(size=imposed.memory_gb * 10**9)

    # A grid of four blocks is often the point of an example, not a mistake to be warned of.
    warnings.filterwarnings("ignore", message=r".*Grid size \d+ will likely result in GPU")
else:
    from numpy import float32, float64, int32, uint8, uint32, uint64

    from kernels.backend import cupy_stand_in as cupy
    from microscope import cuda

"""Compile the CUDA C++ twins, which lie beside their Numba kernels, ready to launch."""

import os
import re
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TextIO

from kernels.backend import cupy, imposed, on_gpu, why_cpu
from kernels.backend.device import device
from kernels.basics.files import ROOT

__all__ = ["RUNGS", "SOURCES", "check_shared", "compiled", "load", "source"]

RUNGS = ROOT / "kernels" / "rungs"
#: Every file of CUDA C++ kernels by its name, without ``.cu``; the program has a ``main`` instead.
SOURCES = {
    path.stem: path
    for path in sorted((ROOT / "kernels").rglob("*.cu"))
    if path.parent != ROOT / "kernels" / "program"
}


def source(name: str, headers: bool = True) -> str:
    """Return the text of the file NAME.cu; LookupError names the files there are.

    Parameters
    ----------
    name : str
        The file, without ``.cu``.
    headers : bool
        Paste in the course's headers where it includes them, so that the text stands
        on its own; otherwise it is the file as it was written.
    """
    if name not in SOURCES:
        raise LookupError(f"no CUDA C++ file {name!r}: use one of {', '.join(sorted(SOURCES))}")
    path = SOURCES[name]
    text = path.read_text(encoding="utf-8")
    if not headers:
        return text

    def header(included: re.Match) -> str:
        found = path.parent / included[1]
        if not found.is_file():
            raise LookupError(f"{path.name} includes {included[1]}, which is not there")
        return found.read_text(encoding="utf-8")

    return re.sub(r'^#include "([\w./]+\.cuh)"\n', header, text, flags=re.M)


@cache
def load(name: str, function: str = "", shared_bytes: int = 0, arch: str = "", **macros: int):
    """Compile the file NAME.cu with NVRTC and return one of its kernels.

    Parameters
    ----------
    name : str
        The file, without ``.cu``.
    function : str, optional
        The ``extern "C"`` kernel in it; by default the one named like the file.
    shared_bytes : int
        Shared memory that each launch asks for beyond what the kernel declares itself; a kernel
        needs to be told of more than 48 KB in advance.
    arch : str
        The GPU to compile for, where that of the device is not exact enough: ``"sm_90a"`` has
        instructions that no other GPU has, and that ``sm_90`` promises not to use.
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
    ValueError
        If a block may not have so much shared memory.
    """
    text = source(name)
    if not on_gpu:
        raise RuntimeError(f"{name}.cu needs an NVIDIA GPU ({why_cpu}): use engine='numba'")
    check_shared(name, shared_bytes)
    if imposed:
        arch, kind = "sm_" + imposed.compute_capability.replace(".", ""), "ptx"
        module = cupy.RawModule(path=_compiled_file(name, text, arch, macros, kind))
    elif arch:
        module = cupy.RawModule(path=_compiled_file(name, text, arch, macros))
    else:
        options = (
            "--std=c++17",
            "--generate-line-info",
            *(f"-D{k}={v}" for k, v in macros.items()),
        )
        module = cupy.RawModule(code=text, options=options)
    kernel = module.get_function(function or name)
    if shared_bytes:
        kernel.max_dynamic_shared_size_bytes = shared_bytes
    return kernel


def check_shared(name: str, shared_bytes: int) -> None:
    """Raise ValueError if a block of a kernel asks for more shared memory than the GPU here has."""
    here = device()
    limit = here.shared_per_block_optin or here.shared_per_block
    if shared_bytes > limit:
        raise ValueError(
            f"{name} asks for {shared_bytes} bytes of shared memory per block; the {here.name} "
            f"allows {limit}: use smaller tiles or fewer stages"
        )


def compiled(
    name: str, arch: str, log: TextIO | None = None, kind: str = "cubin", **macros: int
) -> bytes:
    """Return the machine code of the file NAME.cu for a GPU such as ``"sm_90a"``.

    It takes NVRTC through ``cuda.core``, and no GPU: CuPy compiles only for the GPU at hand, and
    does not know ``sm_90a``.

    Parameters
    ----------
    name, **macros
        As in `load`.
    arch : str
    log : file, optional
        Where the compiler writes what it has to say, registers and spills included.
    kind : {"cubin", "ptx"}
        Machine code, or PTX, which a driver compiles for its own GPU.

    Raises
    ------
    ValueError
        If the file does not compile: the first error, and the line that it is about.
    """
    try:
        from cuda.core import Program, ProgramOptions
    except ImportError:  # its place before version 1
        from cuda.core.experimental import Program, ProgramOptions

    options = ProgramOptions(
        arch=arch,
        std="c++17",
        lineinfo=True,
        define_macro=[f"{name}={value}" for name, value in macros.items()] or None,
        ptxas_options="-v" if log else None,
    )
    text = source(name)
    try:
        return bytes(Program(text, "c++", options).compile(kind, logs=log).code)
    except Exception as error:
        found = re.search(r"\((\d+)\): (?:catastrophic )?error: (.+)", str(error))
        if found is None:
            raise
        place = text.splitlines()[int(found[1]) - 1].strip()
        path = SOURCES[name].relative_to(ROOT).as_posix()
        raise ValueError(f"{path} does not compile for {arch}: {found[2]}, in: {place}") from None


def _compiled_file(
    name: str, text: str, arch: str, macros: dict[str, int], kind: str = "cubin"
) -> str:
    """Return the path of the compiled file, which lies where CuPy keeps its own."""
    made_of = f"{text} {arch} {sorted(macros.items())} {cupy.cuda.nvrtc.getVersion()}"
    folder = Path(os.environ.get("CUPY_CACHE_DIR") or Path.home() / ".cupy" / "kernel_cache")
    path = folder / f"{name}-{sha256(made_of.encode()).hexdigest()[:32]}.{kind}"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        # Written under another name first: two programs may come here at once.
        with NamedTemporaryFile(dir=folder, delete=False) as file:
            file.write(compiled(name, arch, kind=kind, **macros))
        os.replace(file.name, path)
    return str(path)

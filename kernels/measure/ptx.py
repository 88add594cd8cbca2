"""What two compilers make of one loop: the PTX of a kernel, and its innermost loop counted.

``python -m kernels.measure.ptx`` compiles the naive kernel in both languages and writes
``ptx.json``; it needs the packages of a GPU machine (numba-cuda with the CUDA toolkit), not a
GPU. `compile_kernel` needs the same packages; everything else here only reads that file.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import CellType, FunctionType, ModuleType
from typing import Any

from kernels import ptx
from kernels.basics.files import ROOT
from kernels.ptx.instruction import Instruction
from microscope import cuda as interpreter

__all__ = [
    "Loop", "caption", "compile_cpp", "compile_kernel", "compile_numba", "inner_loop", "load",
    "with_numba",
]  # fmt: skip

RUNGS = ROOT / "kernels" / "rungs"
DATA = Path(__file__).with_name("ptx.json")
CAPABILITY = (9, 0)


@dataclass(frozen=True)
class Loop:
    """The instructions of one turn of a loop, in order.

    Attributes
    ----------
    lines : tuple of str
        PTX instructions without labels, such as ``"ld.global.f32 %f1, [%rd2];"``.
    """

    lines: tuple[str, ...]

    def count(self, opcode: str) -> int:
        """How many instructions start with ``opcode``, such as ``"ld.global"``."""
        return sum(line.startswith(opcode) for line in self.lines)

    @property
    def steps(self) -> int:
        """Steps of the source's loop in one turn: its multiply-adds."""
        return self.count("fma.rn.f32")

    @property
    def instructions_per_step(self) -> float:
        """Instructions that one step of the source's loop costs."""
        return len(self.lines) / self.steps


def inner_loop(ptx: str) -> Loop:
    """Return the loop of a kernel that does the most multiply-adds a turn.

    A loop is a label and the instructions up to the branch back to it, with no label between.

    Raises
    ------
    ValueError
        If no such loop has a multiply-add.
    """
    loops = []
    for found in re.finditer(r"^(\$\w+):\n((?:(?!^\$).*\n)*?)\s*@%p\d+ bra\s+\1;", ptx, re.M):
        branch = found[0].rstrip().splitlines()[-1]
        lines = [" ".join(line.split()) for line in [*found[2].splitlines(), branch]]
        loops.append(Loop(tuple(line for line in lines if line and not line.startswith("."))))
    best = max(loops, key=lambda loop: loop.steps, default=Loop(()))
    if not best.steps:
        raise ValueError("this PTX has no loop with a float32 multiply-add")
    return best


class SpellWhile(ast.NodeTransformer):
    """Turn ``for k in range(n)`` into a while loop that counts k in 32 bits."""

    def visit_For(self, loop: ast.For) -> list[ast.stmt]:
        self.generic_visit(loop)
        k, n = loop.target.id, ast.unparse(loop.iter.args[0])
        # Numba adds integers in 64 bits: without the outer uint32 the counter would grow.
        text = f"{k} = uint32(0)\nend = {n}\nwhile {k} < end:\n    {k} = uint32({k} + uint32(1))"
        *start, counted = ast.parse(text).body
        counted.body = [*loop.body, *counted.body]
        return [*start, counted]


def compile_numba(
    rung: str, capability: tuple[int, int] = CAPABILITY, spell_while: bool = False
) -> str:
    """Return the PTX of the Numba kernel ``rung`` in ``kernels/<rung>.py``, for 2-D float32 arrays.

    The kernel is compiled from its text: on a machine without a GPU the function that a chapter
    imports belongs to the interpreter. With ``spell_while`` its ``for`` loops become ``while``
    loops first.
    """
    from numba import cuda, float32, uint32, void

    tree = ast.parse((RUNGS / f"{rung}.py").read_text(encoding="utf-8"))
    kernel = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == rung)
    kernel.decorator_list = []
    if spell_while:
        kernel = ast.fix_missing_locations(SpellWhile().visit(kernel))
    scope = {"cuda": cuda, "float32": float32, "uint32": uint32}
    exec(compile(ast.Module([kernel], []), f"{rung}.py", "exec"), scope)
    matrix = float32[:, ::1]
    return cuda.compile_ptx(scope[rung], void(matrix, matrix, matrix), cc=capability)[0]


def with_numba(kernel: Any, index: str = "uint32") -> FunctionType:
    """Return a kernel's function with the names of numba-cuda, whichever backend runs here.

    Parameters
    ----------
    kernel : kernel
        Such as ``LADDER["vectorized"].kernel(BK=16)``, of either engine.
    index : {"uint32", "int64"}
        What its indices are made of: "int64" puts that type wherever the kernel says ``uint32``.

    Raises
    ------
    ImportError
        Where numba-cuda is not installed.
    """
    if not find_spec("numba_cuda"):
        # Numba has a compiler for GPUs of its own, older than what these kernels are written for.
        raise ImportError("numba-cuda is not installed: the kernels cannot be compiled here")
    from numba import cuda
    from numba.cuda import types

    from kernels.backend import vector_numba

    function = kernel.py_func
    names = {"cuda": cuda, "uint32": getattr(types, index)}
    names |= {name: getattr(types, name) for name in ("float32", "int32", "uint8", "uint64")}
    names |= {name: getattr(vector_numba, name) for name in vector_numba.__all__}
    names["ptx"] = ModuleType("ptx")  # Numba looks for attributes in modules alone
    vars(names["ptx"]).update({name: numba_of(getattr(ptx, name)) for name in ptx.__all__})
    used = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    names |= {
        name: numba_of(called, index)
        for name, called in used.items()
        if isinstance(called, interpreter.DeviceFunction)
    }
    cells = tuple(
        CellType(numba_of(cell.cell_contents, index)) for cell in function.__closure__ or ()
    )
    return FunctionType(
        function.__code__, function.__globals__ | names, function.__name__,
        function.__defaults__, cells or None,
    )  # fmt: skip


def numba_of(value, index: str = "uint32"):
    """Return what Numba takes for an instruction or a device function; anything else stays."""
    if isinstance(value, interpreter.DeviceFunction):
        from numba import cuda

        # Inlined, a function is compiled with the kernel that calls it, and needs no GPU.
        return cuda.jit(device=True, inline="always")(with_numba(value, index))
    return value.numba if isinstance(value, Instruction) else value


def compile_kernel(
    kernel: Any,
    index: str = "uint32",
    capability: tuple = CAPABILITY,
    signature: Any = "",
) -> str:
    """Return the PTX of a Numba kernel.

    Parameters
    ----------
    kernel, index
        As in `with_numba`.
    capability : (int, int) or (9, 0, "a")
        Compute capability of the GPU to compile for; "a" has instructions of no other GPU.
    signature : str or signature of Numba, optional
        Types of its arguments, such as ``"void(int32[::1])"``; by default three contiguous 2-D
        float32 arrays.

    Raises
    ------
    ImportError
        Where numba-cuda is not installed.
    ValueError
        If the kernel does not compile: why, and in which line of which file.
    """
    function = with_numba(kernel, index)
    from numba import cuda, errors, float32, void

    matrix = float32[:, ::1]
    types = signature or void(matrix, matrix, matrix)
    try:
        bounds = kernel.targetoptions.get("launch_bounds")
        return cuda.compile_ptx(function, types, cc=capability, launch_bounds=bounds)[0]
    except errors.NumbaError as error:
        # Numba writes many lines: what it is comes first, and the line of the kernel somewhere.
        lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in str(error).splitlines()]
        why = next(line for line in lines if line and not line.startswith("Failed in"))
        place = re.search(r'File ".+", (line \d+)', "\n".join(lines))
        where = f", {place[1]}" if place else ""
        file = Path(function.__code__.co_filename).name
        raise ValueError(
            f"{function.__name__} in {file}{where} does not compile: {why.rstrip(':')}"
        ) from None


def compile_cpp(rung: str, capability: tuple[int, int] = CAPABILITY) -> str:
    """Return the PTX that NVRTC makes of ``kernels/rungs/<rung>.cu``.

    Raises
    ------
    RuntimeError
        With the compiler's log, if the file does not compile.
    """
    from cuda.bindings import nvrtc

    text = (RUNGS / f"{rung}.cu").read_bytes()
    _, program = nvrtc.nvrtcCreateProgram(text, f"{rung}.cu".encode(), 0, [], [])
    options = ["--std=c++17", "--gpu-architecture=compute_{}{}".format(*capability)]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), [o.encode() for o in options])
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        log = bytearray(nvrtc.nvrtcGetProgramLogSize(program)[1])
        nvrtc.nvrtcGetProgramLog(program, log)
        raise RuntimeError(f"{rung}.cu does not compile: {log.decode()}")
    ptx = bytearray(nvrtc.nvrtcGetPTXSize(program)[1])
    nvrtc.nvrtcGetPTX(program, ptx)
    text = ptx.decode().rstrip("\0")
    return text[text.index(f".entry {rung}(") :]


@cache
def _data() -> dict:
    return json.loads(DATA.read_text(encoding="utf-8"))


def load(rung: str, engine: str = "numba") -> Loop:
    """Return the stored inner loop of a rung in one of its languages.

    Parameters
    ----------
    rung : str
        ``"naive"``.
    engine : {"numba", "while", "cpp"}
        ``"while"`` is the Numba kernel with its ``for`` loop spelled as a ``while`` loop.

    Raises
    ------
    LookupError
        If nothing is stored under these names.
    """
    loops = _data()["loops"]
    if rung not in loops or engine not in loops[rung]:
        stored = ", ".join(f"{r} ({e})" for r, engines in loops.items() for e in engines)
        raise LookupError(f"no PTX of {rung!r} in {engine!r}; there is {stored}")
    return Loop(tuple(loops[rung][engine]))


def caption() -> str:
    """One line on which compilers made the stored loops, and for which GPUs."""
    made = _data()["made_by"]
    return (
        f"Compiled for compute capability {made['capability']} by numba-cuda {made['numba-cuda']}"
        f" and NVRTC {made['nvrtc']}."
    )


def main() -> None:
    """Compile, count and store."""
    from importlib.metadata import version

    from cuda.bindings import nvrtc

    made_of = {
        "numba": compile_numba("naive"),
        "while": compile_numba("naive", spell_while=True),
        "cpp": compile_cpp("naive"),
    }
    loops = {"naive": {name: list(inner_loop(ptx).lines) for name, ptx in made_of.items()}}
    made = {
        "capability": "{}.{}".format(*CAPABILITY),
        "numba-cuda": version("numba-cuda"),
        "nvrtc": "{1}.{2}".format(*nvrtc.nvrtcVersion()),
    }
    text = json.dumps({"made_by": made, "loops": loops}, indent=1)
    DATA.write_text(text + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()

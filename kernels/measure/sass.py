"""What a GPU runs in the end: the machine code (SASS) of a kernel, its innermost loop counted.

`code_of` takes the machine code of a compiled kernel in either language, `disassemble` makes text
of it with a tool of the CUDA toolkit, and `inner_loop` finds in that text the loop that does the
work. The rest reads that loop: how many instructions of which kind, and what one of them means.

>>> loop = inner_loop(disassemble(code_of(LADDER["tiled"].cpp_kernel())))          # doctest: +SKIP
>>> loop.counts()["multiply_adds"], loop.counts()["local"]                    # doctest: +SKIP
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernels.backend import cupy
from kernels.backend.device import device
from microscope import cuda as interpreter

__all__ = [
    "Instruction", "Loop", "SassError", "code_of", "disassemble", "functions", "inner_loop",
    "meaning", "missing", "tools",
]  # fmt: skip

#: Instructions that multiply and add, the strongest first: tensor cores, then single numbers.
TENSOR = ("QGMMA", "HGMMA", "HMMA")
SCALAR = ("FFMA", "FFMA2", "DFMA")
#: How each tool is asked for the code alone.
TOOLS = {"nvdisasm": ("-c",), "cuobjdump": ("-sass",)}
NO_TOOL = "neither nvdisasm nor cuobjdump is on PATH: they come with the CUDA toolkit"
SECONDS = 60  # after which a tool is taken to hang


class SassError(RuntimeError):
    """Machine code that cannot be had, read or understood: one line says why."""


# From a kernel to text -------------------------------------------------------------------


def code_of(kernel: Any) -> bytes:
    """Return the machine code of a compiled kernel, as the driver is given it.

    Parameters
    ----------
    kernel : kernel
        A Numba kernel that was launched before (Numba compiles at the first launch), or one that
        `kernels.host.cpp.load` returned.

    Raises
    ------
    SassError
        For a kernel that is not compiled yet, or runs in the interpreter.
    """
    if isinstance(kernel, interpreter.Kernel):
        raise SassError(f"{kernel.__name__} has no machine code: it needs an NVIDIA GPU")
    if hasattr(kernel, "overloads"):  # of Numba: one for each list of types
        compiled = list(kernel.overloads.values())
        if not compiled:
            raise SassError("this Numba kernel is not compiled yet: launch it once")
        code = compiled[-1]._codelibrary.get_cubin()
        return bytes(getattr(code, "code", code))
    if getattr(kernel, "file_path", None):
        return Path(kernel.file_path).read_bytes()
    if getattr(kernel, "code", None):
        return _compiled_again(kernel.code, kernel.options)
    raise SassError(f"{type(kernel).__name__} has no machine code: it needs an NVIDIA GPU")


def _compiled_again(text: str, options: Sequence[str]) -> bytes:
    """Compile as CuPy does, which keeps no copy of what it hands to the driver."""
    nvrtc, arch = cupy.cuda.nvrtc, "sm_{}{}".format(*device().compute_capability)
    program = nvrtc.createProgram(text, "kernel.cu", (), ())
    try:
        nvrtc.compileProgram(program, (*options, "-ftz=true", f"-arch={arch}"))
        code = nvrtc.getCUBIN(program)
        # CuPy takes the last byte for the zero at the end of a string.
        return code + bytes(-len(code) % 8)
    finally:
        nvrtc.destroyProgram(program)


def tools() -> list[tuple[str, ...]]:
    """The disassemblers of this machine, as commands to which a file's name is added.

    Those of nvdisasm stand first; of each tool, the one on PATH.
    """
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    folders = [None, *(str(Path(home, "bin")) for home in homes if home)]
    found = (
        (path, *TOOLS[name])
        for name in TOOLS
        for path in (shutil.which(name, path=folder) for folder in folders)
        if path
    )
    return list(dict.fromkeys(found))


def missing() -> str:
    """Say what keeps machine code from being read here; empty if nothing obvious does."""
    return "" if tools() else NO_TOOL


def disassemble(code: bytes) -> str:
    """Return machine code as text, made by nvdisasm or cuobjdump of the CUDA toolkit.

    Raises
    ------
    SassError
        Without such a tool, or where none of them can read this code.
    """
    said = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "kernel.cubin")
        file.write_bytes(code)
        for command in tools():
            name = Path(command[0]).name
            try:
                done = subprocess.run(
                    [*command, str(file)], capture_output=True, text=True, timeout=SECONDS
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                said.append(f"{name} did not run: {error}")
                continue
            if done.returncode == 0 and functions(done.stdout):
                return done.stdout
            last = (done.stderr.strip().splitlines() or ["no instruction in its output"])[-1]
            said.append(f"{name} cannot read this code: {last.replace(str(file), file.name)}")
    raise SassError(" ".join((said or [NO_TOOL])[0].split())[:300])


# From text to the loop -------------------------------------------------------------------


@dataclass(frozen=True)
class Instruction:
    """One instruction: where it stands in its function, and its text without the semicolon."""

    address: int
    text: str

    @property
    def opcode(self) -> str:
        """Such as ``"LDS.128"``, without the predicate that may stand before it."""
        return re.sub(r"^@\S+\s+", "", self.text).partition(" ")[0]

    @property
    def name(self) -> str:
        """The opcode without what follows its first dot, such as ``"LDS"``."""
        return self.opcode.partition(".")[0]

    @property
    def idle(self) -> bool:
        """Whether its predicate keeps it from doing anything: what never holds is ``@!PT``."""
        return self.text.startswith("@!PT ")

    @property
    def bytes(self) -> int:
        """Bytes that a load or store moves for a thread: 16, 8, or 4 (and less)."""
        parts = self.opcode.split(".")
        return 16 if "128" in parts else 8 if "64" in parts else 4


@dataclass(frozen=True)
class Loop:
    """The instructions of a loop, in the order in which they stand."""

    instructions: tuple[Instruction, ...]

    @property
    def multiply_adds(self) -> Counter[str]:
        """How many instructions of each kind multiply and add."""
        names = (each.name for each in self.instructions)
        return Counter(name for name in names if name in TENSOR + SCALAR)

    def counts(self) -> dict[str, Any]:
        """What the loop consists of.

        Returns
        -------
        dict
            ``instructions``; ``math``, the name of the instruction that does the work, how many
            ``multiply_adds`` these are, their ``share`` of all and how many mark an operand with
            ``.reuse``; ``shared_loads``, ``shared_stores`` and ``global_loads`` by the bytes of a
            thread (``"of_4"``, ``"of_8"``, ``"of_16"``); ``matrix_loads`` from shared memory, of
            small matrices for the tensor cores; ``copies`` from global to shared memory that pass
            no register; accesses to ``local`` memory; ``barriers`` of the block.
        """
        math = max(TENSOR + SCALAR, key=lambda name: self.multiply_adds[name])
        working = [each for each in self.instructions if each.name == math]
        acting = [each for each in self.instructions if not each.idle]

        def widths(*names: str) -> dict[str, int]:
            found = Counter(each.bytes for each in acting if each.name in names)
            return {f"of_{width}": found[width] for width in (4, 8, 16)}

        def number(*names: str) -> int:
            return sum(each.name in names for each in acting)

        return {
            "instructions": len(self.instructions),
            "math": math,
            "multiply_adds": len(working),
            "share": round(len(working) / len(self.instructions), 4),
            "reuse": sum(".reuse" in each.text for each in working),
            "shared_loads": widths("LDS"),
            "matrix_loads": number("LDSM"),
            "shared_stores": widths("STS"),
            "global_loads": widths("LDG", "LD"),
            "copies": number("LDGSTS", "UTMALDG", "UBLKCP"),
            "local": number("LDL", "STL"),
            "barriers": number("BAR"),
        }

    def excerpt(self, lines: int = 24) -> list[str]:
        """Some lines from where the work begins: loads from shared memory, and multiply-adds.

        Parameters
        ----------
        lines : int
            How many, at most.
        """
        names = ["" if each.idle else each.name for each in self.instructions]
        first = next((i for i, name in enumerate(names) if name in TENSOR + SCALAR), 0)
        near = max(0, first - lines // 3)
        # Loads that the first multiply-add waits for; in a loop that reads ahead they come later.
        load = next((i for i in range(near, len(names)) if names[i] in ("LDS", "LDSM")), first)
        start = load if load <= first else load - lines // 6
        return [each.text for each in self.instructions[start : start + lines]]


def functions(text: str) -> dict[str, list[Instruction]]:
    """The functions in a disassembler's text, and their instructions in order.

    It reads what nvdisasm and cuobjdump write. Where a branch names a label, its text has the
    address in the label's place, as cuobjdump has it.
    """
    found: dict[str, list[Instruction]] = {}
    labels: dict[str, int] = {}
    waiting: list[str] = []
    here: list[Instruction] = []
    for line in text.splitlines():
        begins = re.match(r"\.text\.(\S+):\s*$|\s*Function : (\S+)", line)
        label = re.match(r"(\.L\w+):", line)
        told = re.match(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;", line)
        if begins:
            here = found.setdefault(begins[1] or begins[2], [])
        elif label:
            waiting.append(label[1])
        elif told:
            address = int(told[1], 16)
            labels.update(dict.fromkeys(waiting, address))
            waiting.clear()
            here.append(Instruction(address, " ".join(told[2].split())))

    def placed(each: Instruction) -> Instruction:
        named = re.search(r"`\((\.L\w+)\)", each.text)
        if named is None or named[1] not in labels:
            return each
        return Instruction(each.address, each.text.replace(named[0], f"{labels[named[1]]:#x}"))

    return {name: [placed(each) for each in body] for name, body in found.items() if body}


def inner_loop(text: str, function: str = "") -> Loop:
    """Return the loop of a kernel that does the work.

    A loop is all that lies on a way from one instruction back to it. Of those that multiply and
    add, the ones are looked at that hold no other such loop; of these the one with most tensor
    core instructions, then with most multiply-adds, then the shortest is returned.

    Parameters
    ----------
    text : str
        From `disassemble`.
    function : str
        The kernel, where the text holds several.

    Raises
    ------
    SassError
        Without such a function, or if no loop of it multiplies and adds.
    """
    bodies = functions(text)
    if function and function not in bodies:
        raise SassError(f"no kernel {function!r} in this code: it has {', '.join(bodies)}")
    chosen = [bodies[function]] if function else bodies.values()
    found = [loop for body in chosen for loop in innermost(body)]
    if not found:
        raise SassError(f"{function or 'this code'} has no loop with a multiply-add")
    return max(found, key=_work)


def _work(loop: Loop) -> tuple[int, int, int]:
    number = loop.multiply_adds
    return sum(number[n] for n in TENSOR), sum(number[n] for n in SCALAR), -len(loop.instructions)


def innermost(body: Sequence[Instruction]) -> list[Loop]:
    """The loops of a function that multiply and add, and hold no other that does."""
    found = [
        (members, loop)
        for members in _loops(body)
        if (loop := Loop(tuple(body[i] for i in sorted(members)))).multiply_adds
    ]
    return [loop for members, loop in found if not any(other < members for other, _ in found)]


def _loops(body: Sequence[Instruction]) -> list[set[int]]:
    """The loops of a function, each as the numbers of its instructions.

    A branch back closes a loop if the one way to it leads through where it goes: code that waits
    behind the end of a kernel, and then jumps back into the middle of things, closes none.
    """
    at = {each.address: i for i, each in enumerate(body)}
    ways = [list(_next(i, each, at, len(body))) for i, each in enumerate(body)]
    back: list[list[int]] = [[] for _ in body]
    for i, following in enumerate(ways):
        for each in following:
            back[each].append(i)
    found = []
    for head in range(len(body)):
        closing = [i for i in back[head] if i >= head]
        if closing:
            elsewhere = _reached([0], ways, head)
            closing = [i for i in closing if i not in elsewhere]
        if closing:
            found.append(_reached(closing, back, head) | {head})
    return found


def _next(i: int, each: Instruction, at: dict[int, int], end: int) -> Iterator[int]:
    """Where a thread may go on after an instruction."""
    to = re.search(r"\b0x([0-9a-f]+)$", each.text) if each.name == "BRA" else None
    if to and int(to[1], 16) in at:
        yield at[int(to[1], 16)]
    always = not each.text.startswith("@") and "," not in each.text
    leaves = each.name in ("BRA", "EXIT", "RET", "BRX") and always
    if not leaves and i + 1 < end:
        yield i + 1


def _reached(start: Sequence[int], ways: Sequence[Sequence[int]], without: int) -> set[int]:
    """What can be reached from some instructions on ways that do not touch one of them."""
    seen: set[int] = set()
    todo = [i for i in start if i != without]
    while todo:
        i = todo.pop()
        if i not in seen:
            seen.add(i)
            todo.extend(each for each in ways[i] if each != without)
    return seen


# Reading it ------------------------------------------------------------------------------

_WHOLE = "whole-number arithmetic: an address, an index or a count"
#: What instructions do, by name; a name that ends in * stands for all that begin like it.
_MEANINGS = {
    "BAR": "the barrier: wait for the block's other threads",
    "BRA": "go on at {target}",
    "BSSY": "remember where lanes that part now meet again",
    "BSYNC": "lanes that had parted meet again",
    "CS2R": "two registers from a special one; from SRZ it is zero",
    "EXIT": "the thread is done",
    "FADD": "an addition",
    "FMUL": "a multiplication",
    "FSEL": "one of two numbers, as a predicate says",
    "HFMA2": "a constant, made by a multiply-add",
    "HGMMA": "a matrix product for the tensor cores, of four warps together",
    "HMMA": "a small matrix product for the tensor cores, of one warp",
    "IADD*": _WHOLE,
    "IMAD": _WHOLE,
    "ISETP": "a comparison: {first} says yes or no",
    "LDC": "a constant, such as an argument of the kernel",
    "LDGDEPBAR": "note that copies were asked for up to here",
    "DEPBAR": "wait until copies have arrived",
    "LDGSTS": "{bytes} bytes from global straight to shared memory",
    "LDSM": "small matrices from shared memory, for the tensor cores",
    "LEA": _WHOLE,
    "LOP3": "logic on single bits",
    "MOV": "a copy of a register",
    "NOP": "nothing",
    "P2R": "predicates, kept in a register",
    "PLOP3": "logic on predicates",
    "QGMMA": "a matrix product of 8-bit numbers for the tensor cores, of four warps together",
    "R2P": "predicates, from a register",
    "R2UR": "a number that all lanes share, from a register",
    "S2R": "a special register, such as the number of the thread",
    "S2UR": "a special register, such as the number of the block",
    "SEL": "one of two numbers, as a predicate says",
    "SHF": _WHOLE,
    "SYNCS": "a barrier in shared memory, of the kind that copies arrive at",
    "UBLKCP": "a block of bytes from global to shared memory",
    "ULDC": "a constant, the same for all lanes",
    "UTMALDG": "a tile from global to shared memory, in one piece",
    "VIADD": _WHOLE,
    "WARPGROUP": "the four warps of a group wait for one another, or for their products",
    "WARPSYNC": "the lanes of a warp wait for one another",
    "U*": "arithmetic that is the same for all lanes of a warp",
}


def meaning(line: str) -> str:
    """Say in a few words what an instruction does; empty where we have no words for it.

    >>> meaning("FFMA R12, R76.reuse, R80, R12")
    'R12 = R76 · R80 + R12, and R76 is kept for reuse'
    >>> meaning("LDS.128 R76, [R98+0x210]")
    '16 bytes from shared memory into R76 to R79'
    """
    each = Instruction(0, line)
    if each.idle:
        return "nothing: its predicate never holds"
    rest = re.sub(r"^@\S+\s+", "", line).removeprefix(each.opcode).strip()
    operands = re.split(r",\s*(?![^\[]*\])", rest) if rest else []
    said = _said(each, operands)
    only = re.match(r"@(!?)(\S+)\s", line)
    if said and only:
        return f"{said}, {'unless' if only[1] else 'if'} {only[2]} says so"
    return said


def _said(each: Instruction, operands: list[str]) -> str:
    plain = [re.sub(r"\.reuse\b|\.F16\b", "", operand) for operand in operands]
    first = plain[0] if plain else ""
    if each.name == "FFMA" and len(plain) == 4:
        kept = [now for now, was in zip(plain, operands, strict=True) if now != was]
        stays = f", and {' and '.join(kept)} {'is' if len(kept) == 1 else 'are'} kept for reuse"
        return "{} = {} · {} + {}".format(*plain) + (stays if kept else "")
    spaces = {"S": "shared memory", "G": "global memory", "L": "local memory", "": "memory"}
    if re.fullmatch("LD[SGL]?", each.name):
        return f"{each.bytes} bytes from {spaces[each.name[2:]]} into {_span(first, each.bytes)}"
    if re.fullmatch("ST[SGL]?", each.name) and len(plain) > 1:
        return f"{each.bytes} bytes to {spaces[each.name[2:]]} from {_span(plain[1], each.bytes)}"
    if each.opcode.startswith(("IMAD.MOV", "IMAD.U32")):
        return _MEANINGS["MOV"]
    names = (name for name in _MEANINGS if _fits(name, each.name))
    words = _MEANINGS.get(next(names, ""), "")
    return words.format(first=first, target=plain[-1] if plain else "", bytes=each.bytes)


def _fits(pattern: str, name: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


def _span(register: str, size: int) -> str:
    """The registers that ``size`` bytes fill, from one on: ``"R76 to R79"``."""
    number = re.fullmatch(r"R(\d+)", register)
    if size == 4 or number is None:
        return register
    return f"{register} to R{int(number[1]) + size // 4 - 1}"

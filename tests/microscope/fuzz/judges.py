"""A program on each engine: the interpreter, Numba's compiled code without a GPU, and a GPU."""

from __future__ import annotations

import ast
import re
import types
import warnings
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from unittest import mock

import numpy as np

from kernels.host import tma
from microscope import TensorMap
from tests.microscope.cases import from_source
from tests.microscope.fuzz import ptx
from tests.microscope.fuzz.programs import Program

CAPABILITY = (9, 0, "a")


@dataclass
class Verdict:
    """What a compiler or interpreter made of a program.

    Attributes
    ----------
    outputs : list of ndarray
        All array arguments after the launch; empty if it was refused.
    problems : list of str
        Kinds that the microscope reported.
    refused : str
        Why it cannot run, in one line; empty if it can.
    undefined : bool
        Whether an integer overflowed, or a float was made an integer that cannot hold it: LLVM
        counts on neither, and the compiled code may do anything. So is `abs` of the lowest integer
        of a type, and its negative: a GPU's assembler takes that of int16 in 32 bits. Or whether
        `min` or `max` had to choose between 0.0 and -0.0: of two constants LLVM takes the first,
        the GPU goes by sign.
    """

    outputs: list[np.ndarray] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    refused: str = ""
    undefined: bool = False


# ------------------------------------------------------------------------------- the interpreter
def interpreted(program: Program, inputs: int, schedule: str = "lockstep") -> Verdict:
    """The program under the microscope."""
    from microscope import KernelError, functions, trace, values

    undefined: list = []
    absolute = functions.BUILTINS[abs]
    convert, operate, choose = values.clamped, values.binary, values.of_floats
    negate = values.negative

    def converts(d: np.dtype, v):
        limits = np.iinfo(d)
        held = (v > limits.min - 1.0) & (v < limits.max + 1.0)
        undefined.append(not np.all(held))
        return convert(d, v)

    def operates(op: type, a, b):
        v = operate(op, a, b)
        if v.dtype == np.int64 and op in (ast.Add, ast.Sub, ast.Mult):
            exact = operate(op, a.astype(float), b.astype(float))
            undefined.append(np.any(np.abs(exact) >= 2.0**63))
        return v

    def lowest(v):
        if v.dtype.kind == "i":
            undefined.append(np.any(v == np.iinfo(v.dtype).min))
        return v

    def positive(run, n, m, arguments):
        return absolute(run, n, m, [lowest(v) for v in arguments])

    def chooses(less: bool, a, b):
        undefined.append(np.any((a == 0) & (b == 0) & (np.signbit(a) != np.signbit(b))))
        return choose(less, a, b)

    with (
        mock.patch.dict(functions.BUILTINS, {abs: positive}),
        mock.patch.object(values, "negative", lambda v: negate(lowest(v))),
        mock.patch.object(values, "of_floats", chooses),
        mock.patch.object(values, "clamped", converts),
        mock.patch.object(values, "binary", operates),
    ):
        try:
            module = from_source(f"{INTERPRETER}\n{program.source}", f"interpreted_{program.seed}")
            seen = trace(
                module.kernel,
                program.grid,
                program.block,
                *program.values(inputs),
                schedule=schedule,
            )
        except KernelError as error:
            return Verdict(refused=str(error))
    problems = [p.kind for p in seen.problems]
    return Verdict(list(seen.outputs.values()), problems, undefined=any(undefined))


INTERPRETER = "from kernels import ptx\nfrom microscope import api as cuda"
#: The same for Numba, to which an instruction is an intrinsic.
NUMBA = "from numba import cuda\nfrom tests.microscope.fuzz.judges import intrinsics as ptx"


def __getattr__(name: str):
    if name != "intrinsics":
        raise AttributeError(name)
    from kernels import ptx as instructions
    from kernels.ptx.instruction import Instruction

    made = types.ModuleType("intrinsics")  # Numba looks into modules only
    for one in list(vars(instructions).values()):
        if isinstance(one, Instruction):
            setattr(made, one.name.removeprefix("ptx."), one.numba)
    made.mma = lambda k, dtype: instructions.mma(k, dtype).numba
    made.wgmma = lambda *given, **named: instructions.wgmma(*given, **named).numba
    globals()["intrinsics"] = made
    return made


# ------------------------------------------------------------------------------- the compiler
@dataclass
class Device:
    """A GPU that is not there."""

    compute_capability: tuple = CAPABILITY


@contextmanager
def compiler():
    """Numba's compiler for a GPU that is not there: a function from a kernel and types to PTX.

    It is the code that a GPU would run, after all that Numba's linker changes in it. Afterwards
    Numba is as it was found: what else a test compiles has its multiply-adds.
    """
    import numba.cuda.compiler
    import numba.cuda.dispatcher
    from cuda.core import Linker, LinkerOptions, ObjectCode
    from numba import cuda

    def ptx_of(function, signature) -> str:
        code, _ = cuda.compile(
            function, signature, device=False, abi="numba", cc=CAPABILITY, output="ltoir"
        )
        options = LinkerOptions(
            arch="sm_{}{}{}".format(*CAPABILITY), ptx=True, link_time_optimization=True
        )
        return bytes(Linker(ObjectCode.from_ltoir(code), options=options).link("ptx").code).decode()

    with ExitStack() as changed:
        for module in (numba.cuda.dispatcher, numba.cuda.compiler):
            changed.enter_context(mock.patch.object(module, "get_current_device", Device))
        changed.enter_context(unmerged())
        yield ptx_of


def unmerged():
    """Have the linker leave products and sums apart: which ones it merges is its own choice."""
    from cuda.core import LinkerOptions

    written = LinkerOptions._prepare_nvjitlink_options

    def options(self, as_bytes: bool = False) -> list:
        kept = [x for x in written(self) if not x.startswith("-fma")]
        return [x.encode() if as_bytes else x for x in (*kept, "-fma=0")]

    return mock.patch.object(LinkerOptions, "_prepare_nvjitlink_options", options)


def compiled(program: Program) -> tuple[str, str]:
    """PTX of a program, or why Numba refuses it."""
    with warnings.catch_warnings(), compiler() as ptx_of:
        warnings.simplefilter("ignore")
        try:
            module = from_source(f"{NUMBA}\n{program.source}", f"n{program.seed}")
            return ptx_of(module.kernel.py_func, signature_of(program)), ""
        except Exception as error:
            return "", one_line(error)


def signature_of(program: Program):
    """The types of a program's arguments, as Numba sees them."""
    from numba import typeof, types

    def type_of(a):
        if isinstance(a, TensorMap):  # 128 bytes in global memory
            return types.Array(types.uint8, 1, "C")
        return types.Array(typeof(a).dtype, a.ndim, "C") if isinstance(a, np.ndarray) else typeof(a)

    return types.void(*map(type_of, program.values(0)))


def one_line(error: Exception) -> str:
    """The line of Numba's report that says what is wrong."""
    text = re.sub(r"\x1b\[\d+m", "", str(error))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = ("No implementation", "Cannot unify", "Invalid use", "Int value", "Type of variable",
               "cannot determine", "Unknown attribute", "Unsupported", "not supported")  # fmt: skip
    for k, line in enumerate(lines):
        if any(word in line for word in telling):
            rest = lines[k + 1] if line.endswith("signature:") and k + 1 < len(lines) else ""
            return f"{type(error).__name__}: {line} {rest}".strip()
    return f"{type(error).__name__}: {' '.join(lines)[:200]}"


class Executed:
    """Numba's compiled code, executed without a GPU.

    Attributes
    ----------
    refused : str
        Why Numba does not compile it; empty if it does.
    """

    def __init__(self, program: Program):
        self.program = program
        self.text, self.refused = compiled(program)

    def run(self, inputs: int) -> list[np.ndarray]:
        """All array arguments after the launch.

        Raises
        ------
        ptx.Unknown
            If the code holds an instruction that is not known here.
        """
        p = self.program
        after = ptx.run(self.text, p.grid, p.block, flat(p.values(inputs)))
        return [a for a in after if isinstance(a, np.ndarray)]

    def aside(self, inputs: int, outputs: list[np.ndarray], names) -> str:
        """Where a further judge differs from `outputs`: there is none."""
        return ""


#: Tensor maps on the GPU, whose cache of them does not see that the host has written another one
#: where one lay before.
KEPT: list = []


class OnGPU:
    """numba-cuda on a GPU; beside it the same code executed without one."""

    def __init__(self, program: Program):
        from numba import cuda

        self.program, self.cuda, self.refused = program, cuda, ""
        module = from_source(f"{NUMBA}\n{program.source}", f"n{program.seed}")
        self.kernel = module.kernel
        with warnings.catch_warnings(), unmerged():
            warnings.simplefilter("ignore")
            try:
                self.kernel.compile(signature_of(program))
            except Exception as error:
                if "cudadrv" in type(error).__module__:  # the driver, not the compiler
                    raise
                self.refused = one_line(error)

    def text(self) -> str:
        """The code that runs, after all that Numba's linker changed in it."""
        with unmerged():
            (text,) = self.kernel.inspect_lto_ptx().values()
        return text

    def run(self, inputs: int) -> list[np.ndarray]:
        """All array arguments after the launch."""
        p, cuda = self.program, self.cuda
        arrays, given = [], []
        for a in p.values(inputs):
            array = a.array if isinstance(a, TensorMap) else a
            if isinstance(array, np.ndarray):
                arrays.append(cuda.to_device(array))
                array = arrays[-1]
            if isinstance(a, TensorMap):
                made = tma.encoded(
                    array.device_ctypes_pointer.value,
                    array.shape,
                    array.strides[-2::-1],
                    a.box,
                    a.dtype,
                )
                array = cuda.to_device(made.view(np.uint8))
                KEPT.append(array)
            given.append(array)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.kernel[p.grid, p.block](*given)
            cuda.synchronize()
        return [a.copy_to_host() for a in arrays]

    def aside(self, inputs: int, outputs: list[np.ndarray], names) -> str:
        """Where the executed code differs from `outputs`, those of the GPU."""
        try:
            p = self.program
            after = ptx.run(self.text(), p.grid, p.block, flat(p.values(inputs)))
        except Exception as error:
            return f"{type(error).__name__}: {error}"[:200]
        return first_difference(names, [a for a in after if isinstance(a, np.ndarray)], outputs)


def flat(arguments: list) -> list:
    """The arguments of compiled code: of a tuple each item is one."""
    return [x for a in arguments for x in (a if isinstance(a, tuple) else (a,))]


JUDGES = {"ptx": Executed, "gpu": OnGPU}


# ------------------------------------------------------------------------------- side by side
#: How near complex numbers must be, by their size in bytes.
NEAR = {8: 1e-2, 16: 1e-8}


def same(a: np.ndarray, b: np.ndarray, single: bool = False) -> bool:
    """Equal bit for bit; all NaN are one. Complex numbers may be near: functions make them.

    With `single`, they come from complex64 whatever they are stored in.
    """
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind == "c":
        near = NEAR[8 if single else a.dtype.itemsize]
        return bool(np.isclose(a, b, rtol=near, atol=near, equal_nan=True).all())
    if a.dtype.kind == "f":
        nan = np.isnan(a) & np.isnan(b)
        a, b = np.where(nan, 0, a), np.where(nan, 0, b)
    return a.tobytes() == b.tobytes()


def first_difference(names, mine: list[np.ndarray], theirs: list[np.ndarray]) -> str:
    """The first element in which two lists of arrays differ; empty if none does."""
    single = any(name.startswith("c8") for name in names)
    pairs = []
    for name, a, b in zip(names, mine, theirs, strict=True):
        fields = a.dtype.names or ()
        pairs += [(f"{name}.{field}", a[field], b[field]) for field in fields] or [(name, a, b)]
    for name, a, b in pairs:
        if not same(a, b, single):
            if a.dtype.kind == "c":
                near = NEAR[8 if single else a.itemsize]
                far = ~np.isclose(a, b, rtol=near, atol=near, equal_nan=True)
                where = tuple(int(k) for k in np.argwhere(far)[0])
                return f"{name}{list(where)}: {a[where]!r} here, {b[where]!r} there"
            unlike = (a != b) & ~((a != a) & (b != b)) | (
                (a == b) & (np.signbit(a) != np.signbit(b)) if a.dtype.kind == "f" else False
            )
            where = tuple(int(k) for k in np.argwhere(unlike)[0])
            return f"{name}{list(where)}: {a[where]!r} here, {b[where]!r} there"
    return ""

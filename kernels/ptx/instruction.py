"""What a PTX instruction is to a kernel: a name, its operands, and the line of assembly it becomes.

On a GPU an instruction is a Numba intrinsic (`kernels.ptx.numba_intrinsic`): inline assembly in the
machine code. Without one the microscope knows it by its name, and by the choices of its kind.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from kernels.backend import on_gpu
from kernels.ptx.operands import RegisterList, Scalar, Special
from microscope import Intrinsic, also_known

__all__ = ["Capability", "Instruction", "assembly", "made"]

Capability = tuple[int, int]


@dataclass(eq=False)
class Instruction(Intrinsic):
    """One PTX instruction (or two that belong together) as a function of kernels.

    Attributes
    ----------
    name : str
        ``"ptx."`` and the name that kernels call it by.
    text : str
        The assembly, an operand's name in ``<…>``; results are ``<0>``, ``<1>``, ….
    takes : dict of str to operand
        The arguments, in order.
    gives : tuple of Scalar
        The results: none, one, or a tuple of several.
    least : (int, int)
        The least compute capability of a GPU that has it.
    only : bool
        Whether GPUs of later generations lack it (``sm_90a``).
    choices : dict
        What was chosen of a family, such as ``{"columns": 256, "dtype": "bfloat16"}``.
    check : callable, optional
        Called with the literals, by name; raises ValueError for those that cannot be.
    memory : bool
        Whether other accesses to memory have to stay on their side of it.
    """

    name: str
    text: str
    takes: Mapping[str, Scalar | RegisterList | Special]
    gives: tuple[Scalar, ...] = ()
    least: Capability = (7, 5)
    only: bool = False
    choices: Mapping[str, object] = field(default_factory=dict)
    check: Callable[..., None] | None = None
    memory: bool = True

    #: What makes the intrinsic, in `kernels.ptx.numba_intrinsic`.
    intrinsic = "intrinsic_of"

    def __call__(self, *args, **kwargs):
        raise RuntimeError(f"{self.name} works inside a kernel only")

    def __repr__(self):
        return f"<{self.name}>"

    @cached_property
    def numba(self):
        """The Numba intrinsic; ImportError where numba-cuda is not installed."""
        from kernels.ptx import numba_intrinsic

        return getattr(numba_intrinsic, self.intrinsic)(self)

    def missing(self, capability: Capability) -> str:
        """Say why GPUs of a compute capability lack it; empty if they have it."""
        if capability >= self.least and (not self.only or capability[0] == self.least[0]):
            return ""
        needs = "sm_{}{}".format(*self.least) + ("a, and no other," if self.only else "")
        return f"{self.name} needs {needs} and this GPU is sm_{capability[0]}{capability[1]}"


def made(instruction: Instruction):
    """Return an instruction as kernels here name it, and tell the microscope what it is."""
    if not on_gpu:
        return instruction
    also_known(instruction.numba, instruction)
    return instruction.numba


def assembly(text: str, gives: tuple[Scalar, ...] = (), **about):
    """Decorate a function that has only a signature and a docstring: an instruction of this text.

    The annotations of its parameters are the operands.
    """

    def decorate(function):
        takes = {name: p.annotation for name, p in inspect.signature(function).parameters.items()}
        one = Instruction(f"ptx.{function.__name__}", text, takes, gives, **about)
        one.__doc__ = function.__doc__
        result = made(one)
        result.__doc__ = function.__doc__
        return result

    return decorate

"""What every framework's operator checks before it launches a kernel."""

from __future__ import annotations

from kernels.host.options import either
from kernels.host.rung import Rung
from kernels.rungs.order import LADDER

__all__ = ["check_product", "rung_for"]


def rung_for(name: str, engine: str) -> Rung:
    """Return the rung of a name, which multiplies float32 in an engine.

    Parameters
    ----------
    name : str
        A key of `kernels.LADDER`.
    engine : {"cpp", "numba"}
        The language that will run.

    Raises
    ------
    LookupError, ValueError
        One line that lists the rungs that do.
    """
    fit = [r.name for r in LADDER.values() if engine in r.engines and r.dtypes == ("float32",)]
    if name not in LADDER:
        raise LookupError(f"there is no rung {name!r}: use one of {', '.join(fit)}")
    if name not in fit:
        takes = LADDER[name].dtypes
        why = f"multiplies {' or '.join(takes)} on every device, not float32"
        if takes == ("float32",):  # every such rung has a CUDA C++ kernel
            why = "is CUDA C++ and needs a GPU"
        raise ValueError(f"{name} {why}: use {', '.join(fit)}")
    return LADDER[name]


def check_product(
    A: tuple[int, ...],
    B: tuple[int, ...],
    A_dtype: str = "float32",
    B_dtype: str = "float32",
    takes: tuple[str, ...] = ("float32",),
) -> None:
    """Raise TypeError or ValueError unless arrays of these shapes and types can be multiplied.

    `takes` are the number formats that they may both have.
    """
    for name, shape, dtype in (("A", A, A_dtype), ("B", B, B_dtype)):
        if dtype.removeprefix("torch.") not in takes:
            raise TypeError(
                f"{name} holds {dtype}; the kernels take {either(takes)}: convert it first"
            )
        if len(shape) != 2:
            matrix = f"{name}.reshape(-1, {shape[-1] if shape else 1})"
            raise ValueError(f"{name} has shape {shape}; expected two sizes, as in {matrix}")
        if 0 in shape:
            raise ValueError(f"{name} has shape {shape}; expected sizes of at least 1")
    if A_dtype != B_dtype:
        raise TypeError(f"A holds {A_dtype} and B holds {B_dtype}: convert one")
    if A[1] != B[0]:
        raise ValueError(
            f"A is {A[0]}×{A[1]} and B {B[0]}×{B[1]}: A needs as many columns as B rows"
        )

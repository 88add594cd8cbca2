"""The operands of a product of numbers in 8 bits: A by rows, B by columns."""

from kernels import host
from kernels.engine import cupy
from kernels.host import half

__all__ = ["Fp8Product"]


class Fp8Product(half.HalfProduct):
    """The operands of C = A·B with A and B in e4m3, and C in float32 or 16 bits.

    The instructions want the values of k side by side in both: of a B that lies by rows, the kernel
    gets a transposed copy. Rows that do not start on 16-byte boundaries are copied to wider ones.

    Parameters
    ----------
    A, B : array of e4m3, shapes (M, K) and (K, N)
        As uint8 (see `kernels.host.e4m3`), or of ml_dtypes. A transposed view, such as
        ``columns.T``, needs no copy.
    out : array, shape (M, N), optional
        Its format decides that of C: float32, float16 or bfloat16. A new array holds float32.
    engine : str
        "cpp": tensor cores are not within reach of Numba.
    """

    takes = ("uint8", "float8_e4m3fn")
    gives = ("float32", "float16", "bfloat16")

    @property
    def macros(self) -> dict[str, int]:
        """What the kernels are compiled with: the format of C."""
        return {
            "BF16": int(half.dtype_of(self._result) == "bfloat16"),
            "HALF_C": int(self.dtype.itemsize == 2),
        }

    def cpp_arguments(self) -> tuple:
        """Return (A, Bᵀ, C) on the device, their rows on 16-byte boundaries."""
        A, B, C = super().cpp_arguments()
        return A, B, C

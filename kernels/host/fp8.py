"""The operands of a product of numbers in 8 bits: A by rows, B by columns."""

from kernels.host import half

__all__ = ["Fp8Product"]


class Fp8Product(half.HalfProduct):
    """The operands of C = A·B with A and B in e4m3, and C in float32 or 16 bits.

    The kernel gets A and Bᵀ, the values of k side by side in both, with rows that start on 16-byte
    boundaries: what lies in another way is copied, with zeros to the right.

    Parameters
    ----------
    A, B : array of e4m3, shapes (M, K) and (K, N)
        As uint8 (see `kernels.host.e4m3`), or of ml_dtypes. B by columns, such as ``columns.T``,
        needs no copy if K is a multiple of 16.
    out : array, shape (M, N), optional
        Its format decides that of C: float32, float16 or bfloat16. A new array holds float32.
    engine : {"numba", "cpp"}
    """

    takes = ("uint8", "float8_e4m3fn")
    gives = ("float32", "float16", "bfloat16")

    def __init__(self, A, B, out=None, engine="numba"):
        for name, array in (("A", A), ("B", B)):
            if hasattr(array, "dtype") and str(array.dtype) not in self.takes:
                raise TypeError(
                    f"{name} holds {array.dtype}; expected e4m3 as uint8:"
                    f" use kernels.host.e4m3.quantised({name})"
                )
        super().__init__(A, B, out, engine)

    @property
    def macros(self) -> dict[str, int]:
        """What the kernel is compiled with: the format of C."""
        sixteen = self.dtype.itemsize == 2
        return {"BF16": int(sixteen and self.dtype.kind == "u"), "HALF_C": int(sixteen)}

    def laid_out(self, A, B):
        """Return A and Bᵀ with their rows on 16-byte boundaries."""
        return self._aligned(A), self._aligned(B.T)

"""Rows that begin on 16-byte boundaries: copies of matrices whose rows do not.

Without them a kernel loads and stores element by element, as in a product of 4097³. The copies have
rows up to three zeros longer, so the product of the copies is that of the matrices, with columns of
zeros to the right. They take as much memory again, and every launch makes them anew.
"""

from collections.abc import Callable

from kernels import host
from kernels.backend import cupy
from kernels.host import cdiv, rows

__all__ = ["launcher", "pays"]

CHUNK = 4  #: elements in 16 bytes
#: Multiply-adds for each element that is copied, at the least: a cube reaches it at 3072. What the
#: copies cost grows with the elements, and what narrow loads cost with the multiply-adds. On an
#: H200 copies lose at 1023³, and at 2047³ in C++; in both languages they win at 4097³ and 8191³.
LEAST_WORK = 1024


def pays(M: int, N: int, K: int) -> bool:
    """Whether some rows begin on no 16-byte boundary, and the product is worth copies."""
    off = any(cols % CHUNK for cols in (N, K))
    return off and M * N * K >= LEAST_WORK * (M * K + K * N + M * N)


def launcher(
    product: host.Product, launcher_of: Callable[[host.Product], Callable[[], object]]
) -> Callable[[], object]:
    """Return a function that copies A and B, launches the product of the copies, and copies C back.

    Parameters
    ----------
    product : Product
        The operands as they were given.
    launcher_of : callable
        Returns the launch for other operands: those whose rows are aligned.

    Raises
    ------
    MemoryError
        If the copies do not fit: one line says how many bytes they need.
    """
    A, B, C = (cupy.asarray(array) for array in product.arguments())
    M, N, K = product.M, product.N, product.K
    width, depth = (cdiv(cols, CHUNK) * CHUNK for cols in (N, K))
    with host.memory_errors(4 * (M * depth + depth * width + M * width)):
        wide_A = cupy.zeros((M, depth), product.dtype)
        wide_B = cupy.zeros((depth, width), product.dtype)
        wide_C = cupy.empty((M, width), product.dtype)
    launch = launcher_of(host.Product(wide_A, wide_B, wide_C, product.engine))

    def start() -> None:
        rows.copy(wide_A[:, :K], A)
        rows.copy(wide_B[:K, :N], B)
        launch()
        rows.copy(C, wide_C[:, :N])

    return start

"""Transpose: B = Aᵀ, one load and one store per element, from naive to the speed of a copy.

Each kernel differs from the one before it in one thing: which side is coalesced, the detour
through shared memory, the banks that this detour meets, and how much a thread loads at once.
"""

from collections.abc import Callable
from dataclasses import dataclass

from kernels import host
from kernels.backend import cuda, float32, uint32
from kernels.host import cdiv, cpp
from kernels.host.model import Access, Model
from kernels.host.versions import Versions

TILE = 32  #: side of a tile: a warp covers one row of it
PADDED = TILE + 1
ROWS = 8  #: rows of threads in a block whose threads load several elements each
EACH = TILE // ROWS  #: elements that such a thread loads
LARGE = 64  #: side of the large tile
LARGE_PADDED = LARGE + 1
LARGE_EACH = LARGE // ROWS


@cuda.jit
def transpose_row_read(A, B):
    col = uint32(cuda.blockIdx.x * TILE + cuda.threadIdx.x)
    row = uint32(cuda.blockIdx.y * TILE + cuda.threadIdx.y)
    # x runs along a row of A, and so down a column of B.
    if row < A.shape[0] and col < A.shape[1]:
        B[col, row] = A[row, col]


@cuda.jit
def transpose_row_write(A, B):
    col = uint32(cuda.blockIdx.x * TILE + cuda.threadIdx.x)
    row = uint32(cuda.blockIdx.y * TILE + cuda.threadIdx.y)
    # x runs along a row of B, and so down a column of A.
    if row < B.shape[0] and col < B.shape[1]:
        B[row, col] = A[col, row]


@cuda.jit
def transpose_tiled(A, B):
    s = cuda.shared.array((TILE, TILE), float32)
    tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    # The tile's corner: its column and its row in A, its row and its column in B.
    left, top = uint32(cuda.blockIdx.x * TILE), uint32(cuda.blockIdx.y * TILE)
    M, N = uint32(A.shape[0]), uint32(A.shape[1])
    if top + ty < M and left + tx < N:
        s[ty, tx] = A[top + ty, left + tx]
    # No thread may read an element before another thread has stored it.
    cuda.syncthreads()
    if left + ty < N and top + tx < M:
        B[left + ty, top + tx] = s[tx, ty]


@cuda.jit
def transpose_padded(A, B):
    # One column more than is used: the next row starts one bank further.
    s = cuda.shared.array((TILE, PADDED), float32)
    tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    left, top = uint32(cuda.blockIdx.x * TILE), uint32(cuda.blockIdx.y * TILE)
    M, N = uint32(A.shape[0]), uint32(A.shape[1])
    if top + ty < M and left + tx < N:
        s[ty, tx] = A[top + ty, left + tx]
    cuda.syncthreads()
    if left + ty < N and top + tx < M:
        B[left + ty, top + tx] = s[tx, ty]


@cuda.jit
def transpose_swizzled(A, B):
    s = cuda.shared.array((TILE, TILE), float32)
    tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    left, top = uint32(cuda.blockIdx.x * TILE), uint32(cuda.blockIdx.y * TILE)
    M, N = uint32(A.shape[0]), uint32(A.shape[1])
    # Element (row, column) of the tile lies in column `column ^ row`: no word is wasted.
    if top + ty < M and left + tx < N:
        s[ty, tx ^ ty] = A[top + ty, left + tx]
    cuda.syncthreads()
    if left + ty < N and top + tx < M:
        B[left + ty, top + tx] = s[tx, ty ^ tx]


@cuda.jit
def transpose_four(A, B):
    s = cuda.shared.array((TILE, PADDED), float32)
    held = cuda.local.array(EACH, float32)
    tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    left, top = uint32(cuda.blockIdx.x * TILE), uint32(cuda.blockIdx.y * TILE)
    M, N = uint32(A.shape[0]), uint32(A.shape[1])
    # All loads of a thread are in flight before it waits for the first of them.
    for i in range(EACH):
        row, col = top + ty + uint32(i * ROWS), left + tx
        held[i] = A[row, col] if row < M and col < N else float32(0)
    for i in range(EACH):
        s[ty + uint32(i * ROWS), tx] = held[i]
    cuda.syncthreads()
    for i in range(EACH):
        row, col = left + ty + uint32(i * ROWS), top + tx
        if row < N and col < M:
            B[row, col] = s[tx, ty + uint32(i * ROWS)]


@cuda.jit
def transpose_large(A, B):
    s = cuda.shared.array((LARGE, LARGE_PADDED), float32)
    held = cuda.local.array(LARGE_EACH, float32)
    tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    left, top = uint32(cuda.blockIdx.x * LARGE), uint32(cuda.blockIdx.y * LARGE)
    M, N = uint32(A.shape[0]), uint32(A.shape[1])
    for i in range(LARGE_EACH):
        row, col = top + ty + uint32(i * ROWS), left + tx
        held[i] = A[row, col] if row < M and col < N else float32(0)
    for i in range(LARGE_EACH):
        s[ty + uint32(i * ROWS), tx] = held[i]
    cuda.syncthreads()
    for i in range(LARGE_EACH):
        row, col = left + ty + uint32(i * ROWS), top + tx
        if row < N and col < M:
            B[row, col] = s[tx, ty + uint32(i * ROWS)]


@cuda.jit
def transpose_ordered(A, B):
    s = cuda.shared.array((LARGE, LARGE_PADDED), float32)
    held = cuda.local.array(LARGE_EACH, float32)
    tx, ty = uint32(cuda.threadIdx.x), uint32(cuda.threadIdx.y)
    # Blocks start along x first: those that run together now store side by side.
    left, top = uint32(cuda.blockIdx.y * LARGE), uint32(cuda.blockIdx.x * LARGE)
    M, N = uint32(A.shape[0]), uint32(A.shape[1])
    for i in range(LARGE_EACH):
        row, col = top + ty + uint32(i * ROWS), left + tx
        held[i] = A[row, col] if row < M and col < N else float32(0)
    for i in range(LARGE_EACH):
        s[ty + uint32(i * ROWS), tx] = held[i]
    cuda.syncthreads()
    for i in range(LARGE_EACH):
        row, col = left + ty + uint32(i * ROWS), top + tx
        if row < N and col < M:
            B[row, col] = s[tx, ty + uint32(i * ROWS)]


# ----------------------------------------------------------------------------------- the versions


@dataclass(frozen=True)
class Version:
    """One way to transpose.

    Attributes
    ----------
    name : str
        Its key in `VERSIONS`; the kernel in either language is called ``transpose_NAME``.
    title : str
        What a table calls it.
    kernel : callable
        The Numba kernel: launch it ``[grid, block](A, B)``.
    tile, rows : int
        Columns and rows of a tile, and rows of threads in a block.
    read, written : tuple of int
        Rows and columns of the piece of A, and of B, that one request of a warp covers.
    along_rows_of_b : bool
        Whether blocks that follow each other along x lie side by side in B; otherwise in A.
    """

    name: str
    title: str
    kernel: Callable
    tile: int = TILE
    rows: int = TILE
    read: tuple[int, int] = (1, TILE)
    written: tuple[int, int] = (1, TILE)
    along_rows_of_b: bool = False

    def launch(self, M: int, N: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return (grid, block) that cover A (M×N)."""
        host.check_sizes(M=M, N=N)
        grid = cdiv(N, self.tile), cdiv(M, self.tile)
        grid = host.check_grid(*(reversed(grid) if self.along_rows_of_b else grid))
        return grid, (self.tile, self.rows)

    def model(self, M: int, N: int) -> Model:
        """Predict the traffic: every element is loaded once and stored once."""
        host.check_sizes(M=M, N=N)
        once = {"readers": 1, "sweeps": 1}
        A = Access(M, N, **once, height=self.read[0], width=self.read[1])
        B = Access(N, M, **once, height=self.written[0], width=self.written[1])
        return Model(flops=0, reads={"A": A}, writes={"B": B})

    def launcher(self, A, B, engine: str = "numba") -> Callable[[], object]:
        """Return a function that launches it on contiguous CuPy arrays A (M×N) and B (N×M)."""
        host.check_resident(A=A, B=B)
        return self._launcher(Turned(A, B, engine))

    def _launcher(self, turned: "Turned") -> Callable[[], object]:
        return turned.launcher(self.kernel, self.cpp_kernel, *self.launch(turned.M, turned.N))

    def cpp_kernel(self):
        """Return the compiled CUDA C++ kernel."""
        return cpp.load("transpose", f"transpose_{self.name}")


VERSIONS = Versions(
    "transpose",
    Version("row_read", "naive, reads rows", transpose_row_read, written=(TILE, 1)),
    Version("row_write", "naive, writes rows", transpose_row_write, read=(TILE, 1),
            along_rows_of_b=True),
    Version("tiled", "tiled", transpose_tiled),
    Version("padded", "tiled, padded", transpose_padded),
    Version("swizzled", "tiled, swizzled", transpose_swizzled),
    Version("four", "padded, four elements per thread", transpose_four, rows=ROWS),
    Version("large", "tile of 64, eight elements per thread", transpose_large, LARGE, ROWS),
    Version("ordered", "the same, blocks in the order of B", transpose_ordered, LARGE, ROWS,
            along_rows_of_b=True),
)  # fmt: skip


class Turned(host.Operands):
    """The operands of B = Aᵀ with the sizes `M` and `N` of A."""

    def __init__(self, A, out=None, engine="numba"):
        host.check_array(A, "A", 2)
        self._sizes = self.M, self.N = A.shape
        super().__init__({"A": A}, out, (self.N, self.M), engine)


def transpose(A, out=None, engine="numba", version="ordered"):
    """Return B = Aᵀ, an array of its own.

    Parameters
    ----------
    A : array of float32, shape (M, N)
        A NumPy array is copied to the device; CuPy and Numba arrays stay there. Any strides: the
        Numba kernels follow them, the C++ twins get contiguous copies.
    out : array of float32, shape (N, M), optional
        Where B goes, on the side where A is.
    engine : {"numba", "cpp"}
        Which of the twins runs; "cpp" needs a GPU.
    version : str
        Key of `VERSIONS`.

    Returns
    -------
    array of float32, shape (N, M)
        `out`, or a new array of the kind of A.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        One line that names the value, the limit and the way out.
    """
    chosen, turned = VERSIONS[version], Turned(A, out, engine)
    chosen._launcher(turned)()
    return turned.result()

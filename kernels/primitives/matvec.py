"""A matrix times a vector: one thread per row, one warp per row, then 16 bytes per load.

W (N×K) holds the weights of a layer as frameworks store them: a row for each of its N outputs. One
input x gives y = W·x; M inputs, the rows of X (M×K), give Y = X·Wᵀ (M×N) in one sweep over W.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from kernels import host, ptx
from kernels.backend import cuda, cupy, float32
from kernels.backend.vector import aligned16, load4_guarded, unrolled
from kernels.host import cdiv, cpp
from kernels.host.follow import prepared
from kernels.host.model import WARP, Access, Model
from kernels.host.versions import Versions
from kernels.primitives.reduction import BLOCK, WARPS, sum_of_warp

MOST_VECTORS = 16  #: at once: their sums must fit in a thread's registers
SPAN = 512  #: columns of X that a block stages at a time


@cuda.jit
def matvec_per_thread(W, x, y):
    row = cuda.blockIdx.x * BLOCK + cuda.threadIdx.x
    if row < W.shape[0]:
        acc = float32(0)
        for k in range(W.shape[1]):
            acc += W[row, k] * x[k]
        y[row] = acc


@cuda.jit
def matvec_per_warp(W, x, y):
    lane = cuda.threadIdx.x % 32
    row = cuda.blockIdx.x * WARPS + cuda.threadIdx.x // 32
    # The whole warp has the same row: it stays together.
    if row < W.shape[0]:
        acc = float32(0)
        for k in range(lane, W.shape[1], 32):
            acc += W[row, k] * x[k]
        acc = sum_of_warp(acc)
        if lane == 0:
            y[row] = acc


@cuda.jit
def matvec_vectorized(W, X, y):
    lane = cuda.threadIdx.x % 32
    row = cuda.blockIdx.x * WARPS + cuda.threadIdx.x // 32
    wide = aligned16(W) and aligned16(X)
    if row < W.shape[0]:
        acc = float32(0)
        for k in range(4 * lane, W.shape[1], 128):
            p, q, r, s = load4_guarded(W, row, k, wide)
            t, u, v, w = load4_guarded(X, 0, k, wide)
            acc += (p * t + q * u) + (r * v + s * w)
        acc = sum_of_warp(acc)
        if lane == 0:
            y[row] = acc


@cache
def make_thin(VECTORS, ROWS):
    """Return the kernel for so many vectors, whose warps take so many rows of W each."""

    @cuda.jit
    def matvec_thin(W, X, Y):
        acc = cuda.local.array((ROWS, VECTORS), float32)
        w = cuda.local.array((ROWS, 4), float32)
        lane = cuda.threadIdx.x % 32
        row0 = (cuda.blockIdx.x * WARPS + cuda.threadIdx.x // 32) * ROWS
        N, K = W.shape
        if row0 >= N:
            return
        wide = aligned16(W) and aligned16(X)
        for i in range(ROWS):
            for m in range(VECTORS):
                acc[i, m] = float32(0)
        for k in range(4 * lane, K, 128):
            # Four weights of each row, loaded once, and used by every vector.
            for i in range(ROWS):
                w[i, 0], w[i, 1], w[i, 2], w[i, 3] = load4_guarded(W, row0 + i, k, wide)
            for m in range(VECTORS):
                p, q, r, s = load4_guarded(X, m, k, wide)
                for i in range(ROWS):
                    acc[i, m] += (w[i, 0] * p + w[i, 1] * q) + (w[i, 2] * r + w[i, 3] * s)
        for i in range(ROWS):
            for m in range(VECTORS):
                total = sum_of_warp(acc[i, m])
                if lane == 0 and row0 + i < N:
                    Y[m, row0 + i] = total
            unrolled()
        unrolled()  # so that each sum is a register

    return matvec_thin


@cache
def make_staged(VECTORS, ROWS):
    """Return the same kernel with X staged in shared memory: loaded once per block."""

    @cuda.jit
    def matvec_staged(W, X, Y):
        tile = cuda.shared.array((VECTORS, SPAN), float32, alignment=16)
        sX = ptx.shared_address(tile)
        acc = cuda.local.array((ROWS, VECTORS), float32)
        w = cuda.local.array((ROWS, 4), float32)
        lane = cuda.threadIdx.x % 32
        row0 = (cuda.blockIdx.x * WARPS + cuda.threadIdx.x // 32) * ROWS
        N, K = W.shape
        wide = aligned16(W) and aligned16(X)
        for i in range(ROWS):
            for m in range(VECTORS):
                acc[i, m] = float32(0)
        for k0 in range(0, K, SPAN):
            # All warps have read the columns before these.
            cuda.syncthreads()
            for i in range(4 * cuda.threadIdx.x, VECTORS * SPAN, 4 * BLOCK):
                m, k = i // SPAN, i % SPAN
                p, q, r, s = load4_guarded(X, m, k0 + k, wide)
                ptx.st_shared_v4_f32(sX + 4 * i, p, q, r, s)
            cuda.syncthreads()
            for k in range(4 * lane, min(SPAN, K - k0), 128):
                for i in range(ROWS):
                    w[i, 0], w[i, 1], w[i, 2], w[i, 3] = load4_guarded(W, row0 + i, k0 + k, wide)
                for m in range(VECTORS):
                    p, q, r, s = ptx.ld_shared_v4_f32(sX + 4 * (m * SPAN + k))
                    for i in range(ROWS):
                        acc[i, m] += (w[i, 0] * p + w[i, 1] * q) + (w[i, 2] * r + w[i, 3] * s)
        for i in range(ROWS):
            for m in range(VECTORS):
                total = sum_of_warp(acc[i, m])
                if lane == 0 and row0 + i < N:
                    Y[m, row0 + i] = total
            unrolled()
        unrolled()  # so that each sum is a register

    return matvec_staged


# ----------------------------------------------------------------------------------- the versions


@dataclass(frozen=True)
class Version:
    """One way to multiply a matrix by a vector.

    Attributes
    ----------
    name : str
        Its key in `VERSIONS`; the kernel in either language is called ``matvec_NAME``.
    title : str
        What a table calls it.
    kernel : callable
        The Numba kernel: launch it ``[grid, block](W, x, y)``.
    rows : int
        Rows of W that a block takes.
    vector : int
        Numbers per load: 1, or 4, where the kernel takes x as a matrix of one row.
    """

    name: str
    title: str
    kernel: Callable
    rows: int = WARPS
    vector: int = 1

    def launch(self, N: int) -> tuple[tuple[int], tuple[int]]:
        """Return (grid, block) for a matrix of N rows."""
        host.check_sizes(N=N)
        return host.check_grid(cdiv(N, self.rows)), (BLOCK,)

    def depth(self, K: int) -> int:
        """Return the roundings, at most, that a product of two of the K numbers goes through.

        With it as d, y is off by at most ``d·u / (1 - d·u)`` times ``|W|·|x|``, ``u = 2**-24``.
        """
        if self.rows == BLOCK:
            return K + 1
        return 1 + cdiv(K, WARP * self.vector) + (2 if self.vector == 4 else 0) + 5

    def model(self, N: int, K: int) -> Model:
        """Predict the traffic; with 4 numbers per load, only where 4 divides K."""
        host.check_sizes(N=N, K=K)
        if self.rows == BLOCK:
            # A request takes one column of 32 rows, and one number of x for all of them.
            return _model(N, K, (WARP, 1), 1, cdiv(N, WARP), WARP)
        width = WARP * self.vector if K % self.vector == 0 else None
        return _model(N, K, (1, width), width, N, 1)

    def launcher(self, W, x, y, engine: str = "numba") -> Callable[[], object]:
        """Return a function that launches y = W·x on contiguous CuPy arrays."""
        host.check_resident(W=W, x=x, y=y)
        return self._launcher(MatVec(W, x, y, engine))

    def _launcher(self, operands: "MatVec") -> Callable[[], object]:
        grid, block = self.launch(operands.N)
        if operands.engine == "cpp":
            arguments = operands.cpp_arguments()
            W, x, _ = operands.on_device
            return prepared(self.cpp_kernel(host.wide(W, x.reshape(1, -1))), grid, block, arguments)
        W, x, y = operands.arguments()
        x = cupy.asarray(x).reshape(1, -1) if self.vector == 4 else x
        return prepared(self.kernel, grid, block, (W, x, y))

    def cpp_kernel(self, wide: int = 1):
        """Return the compiled CUDA C++ kernel; `wide` is 1 where 16 bytes may go at once."""
        return cpp.load("matvec", f"matvec_{self.name}", WIDE=wide)


VERSIONS = Versions(
    "product",
    Version("per_thread", "one thread per row", matvec_per_thread, rows=BLOCK),
    Version("per_warp", "one warp per row", matvec_per_warp),
    Version("vectorized", "one warp per row, 16 bytes per load", matvec_vectorized, vector=4),
)


@dataclass(frozen=True)
class Thin:
    """The product with M vectors at once, for one M from 1 to `MOST_VECTORS`.

    Attributes
    ----------
    M : int
    staged : bool
        Whether a block stages X in shared memory, or each warp loads it for itself.
    """

    M: int
    staged: bool = False

    @property
    def rows_of_warp(self) -> int:
        """Rows of W that a warp takes: the more vectors, the more often each load of X is used."""
        return min(4, self.M)

    @property
    def kernel(self):
        """The Numba kernel: launch it ``[grid, block](W, X, Y)``."""
        make = make_staged if self.staged else make_thin
        return make(self.M, self.rows_of_warp)

    def launch(self, N: int) -> tuple[tuple[int], tuple[int]]:
        """Return (grid, block) for a matrix of N rows."""
        host.check_sizes(N=N)
        return host.check_grid(cdiv(N, WARPS * self.rows_of_warp)), (BLOCK,)

    def depth(self, K: int) -> int:
        """Return the roundings, at most, that a product goes through, as in `Version.depth`."""
        return VERSIONS["vectorized"].depth(K)

    def model(self, N: int, K: int) -> Model:
        """Predict the traffic, where 4 divides K: W once, X by every warp (or block)."""
        host.check_sizes(N=N, K=K)
        width = 4 * WARP if K % 4 == 0 else None
        rows = self.rows_of_warp * (WARPS if self.staged else 1)
        return _model(N, K, (1, width), width, cdiv(N, rows), 1, self.M)

    def launcher(self, W, X, Y, engine: str = "numba") -> Callable[[], object]:
        """Return a function that launches Y = X·Wᵀ on contiguous CuPy arrays."""
        host.check_resident(W=W, X=X, Y=Y)
        return self._launcher(ThinProduct(W, X, Y, engine))

    def _launcher(self, operands: "ThinProduct") -> Callable[[], object]:
        def cpp_kernel():
            return self.cpp_kernel(host.wide(*operands.on_device[:2]))

        return operands.launcher(self.kernel, cpp_kernel, *self.launch(operands.N))

    def cpp_kernel(self, wide: int = 1):
        """Return the compiled CUDA C++ kernel; `wide` is 1 where 16 bytes may go at once."""
        macros = {"VECTORS": self.M, "ROWS": self.rows_of_warp, "WIDE": wide}
        return cpp.load("matvec", "matvec_staged" if self.staged else "matvec_thin", **macros)


def _model(N, K, piece, width, sweeps, stored, M=1) -> Model:
    """The model of W in pieces, X in rows of `width` by so many sweeps, Y in rows of `stored`."""
    return Model(
        flops=M * N * (2 * K - 1),
        reads={
            "W": Access(N, K, readers=1, sweeps=1, height=piece[0], width=piece[1]),
            # One sweep is one warp's; it asks for a number once for each row that it takes.
            "x": Access(M, K, readers=sweeps if stored == 1 else N, sweeps=sweeps, height=1,
                        width=width),
        },
        writes={"y": Access(M, N, readers=1, sweeps=1, height=1, width=stored)},
    )  # fmt: skip


# ----------------------------------------------------------------------------------- the operands


class MatVec(host.Operands):
    """The operands of y = W·x with the sizes `N` and `K` of W."""

    def __init__(self, W, x, out=None, engine="numba"):
        host.check_array(W, "W", 2)
        host.check_array(x, "x", 1)
        self._sizes = self.N, self.K = W.shape
        if x.shape != (self.K,):
            raise ValueError(
                f"W is {self.N}×{self.K} and x has {x.shape[0]} elements:"
                " x must have as many as W has columns"
            )
        super().__init__({"W": W, "x": x}, out, (self.N,), engine)


class ThinProduct(host.Operands):
    """The operands of Y = X·Wᵀ with the sizes `M`, `N` and `K`."""

    def __init__(self, W, X, out=None, engine="numba"):
        host.check_array(W, "W", 2)
        host.check_array(X, "X", 2)
        (self.N, self.K), (self.M, columns) = W.shape, X.shape
        if columns != self.K:
            raise ValueError(
                f"W is {self.N}×{self.K} and X is {self.M}×{columns}:"
                " X must have as many columns as W"
            )
        if self.M > MOST_VECTORS:
            raise ValueError(
                f"X has {self.M} rows; the thin product takes {MOST_VECTORS} at most:"
                " use kernels.matmul(X, W.T)"
            )
        self._sizes = self.N, self.K
        super().__init__({"W": W, "X": X}, out, (self.M, self.N), engine)


def matvec(W, x, out=None, engine="numba", version="vectorized"):
    """Return y = W·x.

    Parameters
    ----------
    W : array of float32, shape (N, K)
        A NumPy array is copied to the device; CuPy and Numba arrays stay there. Any strides: the
        Numba kernels follow them, the C++ counterparts get contiguous copies.
    x : array of float32, shape (K,)
    out : array of float32, shape (N,), optional
        Where y goes, on the side where W and x are.
    engine : {"numba", "cpp"}
        Which of the counterparts runs; "cpp" needs a GPU.
    version : str
        Key of `VERSIONS`.

    Returns
    -------
    array of float32, shape (N,)
        `out`, or a new array of the kind of W and x.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        One line that names the value, the limit and the way out.
    """
    chosen, operands = VERSIONS[version], MatVec(W, x, out, engine)
    chosen._launcher(operands)()
    return operands.result()


def thin(W, X, out=None, engine="numba", staged=False):
    """Return Y = X·Wᵀ for 1 to 16 rows of X, loading W once.

    Parameters
    ----------
    W, X : array of float32, shapes (N, K) and (M, K)
        As in `matvec`.
    out : array of float32, shape (M, N), optional
    engine : {"numba", "cpp"}
    staged : bool
        As in `Thin`.

    Returns
    -------
    array of float32, shape (M, N)

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        One line that names the value, the limit and the way out.
    """
    operands = ThinProduct(W, X, out, engine)
    Thin(operands.M, staged)._launcher(operands)()
    return operands.result()

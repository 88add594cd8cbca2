"""Tiled matrix product: the threads of a block share tiles of A and B through shared memory."""

from functools import cache

from kernels import host
from kernels.engine import cuda, float32, uint32
from kernels.host import cdiv, cpp
from kernels.host.model import Access, Model, rows_of_warp


def make_tiled(tile):
    @cuda.jit
    def tiled(A, B, C):
        sA = cuda.shared.array((tile, tile), float32)
        sB = cuda.shared.array((tile, tile), float32)
        tx = uint32(cuda.threadIdx.x)
        ty = uint32(cuda.threadIdx.y)
        col = uint32(cuda.blockIdx.x * tile + tx)
        row = uint32(cuda.blockIdx.y * tile + ty)
        M, N, K = uint32(C.shape[0]), uint32(C.shape[1]), uint32(A.shape[1])

        acc = float32(0)
        # The tiles walk right along A and down along B; the last ones may reach past K.
        for k0 in range(uint32(0), K, uint32(tile)):
            # Zeros beyond the edges add nothing to any dot product.
            sA[ty, tx] = A[row, k0 + tx] if row < M and k0 + tx < K else float32(0)
            sB[ty, tx] = B[k0 + ty, col] if k0 + ty < K and col < N else float32(0)
            # No thread may read the tiles before every thread has written its part.
            cuda.syncthreads()
            for k in range(tile):
                acc += sA[ty, k] * sB[k, tx]
            # No thread may overwrite the tiles before every thread has read them.
            cuda.syncthreads()

        # Threads beyond the edges have helped to load, but own no element of C.
        if row < M and col < N:
            C[row, col] = acc

    return tiled


@cache
def kernel(tile=16):
    """Return the tiled kernel for tiles of `tile` × `tile` elements, compiled for that size."""
    return make_tiled(host.check_tile(tile))


def twin(tile=16):
    """Return the CUDA C++ twin, compiled for tiles of `tile` × `tile` elements."""
    return cpp.load("tiled", TILE=host.check_tile(tile))


def launch(M, N, tile=16):
    """Return (grid, block) that cover C (M×N) with one block of `tile` × `tile` threads a tile."""
    tile = host.check_tile(tile)
    host.check_sizes(M=M, N=N)
    return host.check_grid(cdiv(N, tile), cdiv(M, tile)), (tile, tile)


def model(M, N, K, tile=16):
    """Predict the tiled kernel's traffic: A is loaded once a column of tiles, B once a row."""
    tile, rows = host.check_tile(tile), rows_of_warp(tile)
    host.check_sizes(M=M, N=N, K=K)
    across, down = cdiv(N, tile), cdiv(M, tile)
    A = Access(M, K, readers=across, sweeps=across, height=rows, width=tile)
    B = Access(K, N, readers=down, sweeps=down, height=rows, width=tile)
    C = Access(M, N, readers=1, sweeps=1, height=rows, width=tile)
    return Model(flops=2 * M * N * K, reads={"A": A, "B": B}, writes={"C": C})


def matmul(A, B, out=None, engine="numba", tile=16):
    """Return C = A·B, computed by the tiled kernel.

    Parameters
    ----------
    A, B : array of float32, shapes (M, K) and (K, N)
        NumPy arrays are copied to the device; CuPy and Numba arrays stay there. Any strides: the
        Numba kernel follows them, the C++ twin gets contiguous copies.
    out : array of float32, shape (M, N), optional
        Where C goes, on the side where A and B are.
    engine : {"numba", "cpp"}
        Which of the twins runs; "cpp" needs a GPU.
    tile : int
        Side of the square tiles, and of the block of threads: 8, 16 or 32.

    Returns
    -------
    array of float32, shape (M, N)
        `out`, or a new array of the kind of A and B.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        One line that names the value, the limit and the way out.
    """
    product = host.Product(A, B, out, engine)
    grid, threads = launch(product.M, product.N, tile)
    if engine == "cpp":
        twin(tile)(grid, threads, product.cpp_arguments())
    else:
        kernel(tile)[grid, threads](*product.arguments())
    return product.result()

"""Naive matrix product: one thread computes one element of C, straight from global memory.

`naive` and `swapped` differ in two lines: which of a thread's two indices is the row.
"""

from kernels import host
from kernels.engine import cuda, float32, uint32
from kernels.host import cdiv, cpp
from kernels.host.model import Access, Model, rows_of_warp


@cuda.jit
def naive(A, B, C):
    # Unsigned: a signed index may be negative, and would cost a test each time.
    col = uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
    row = uint32(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    # The last blocks reach past the edges of C.
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(uint32(A.shape[1])):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


@cuda.jit
def swapped(A, B, C):
    # Unsigned: a signed index may be negative, and would cost a test each time.
    row = uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x)
    col = uint32(cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y)
    # The last blocks reach past the edges of C.
    if row < C.shape[0] and col < C.shape[1]:
        acc = float32(0)
        for k in range(uint32(A.shape[1])):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


def kernel(block=32):
    """Return the naive kernel; it is the same for every `block` (the side of a square block)."""
    host.check_tile(block, "block")
    return naive


def swapped_kernel(block=32):
    """Return the swapped kernel; it is the same for every `block`."""
    host.check_tile(block, "block")
    return swapped


def twin(block=32):
    """Return the CUDA C++ twin of the naive kernel; it is the same for every `block`."""
    host.check_tile(block, "block")
    return cpp.load("naive")


def swapped_twin(block=32):
    """Return the CUDA C++ twin of the swapped kernel; it is the same for every `block`."""
    host.check_tile(block, "block")
    return cpp.load("naive", "swapped")


def launch(M, N, block=32):
    """Return (grid, block) that cover C (M×N) with `block` × `block` threads: x along columns."""
    side = host.check_tile(block, "block")
    host.check_sizes(M=M, N=N)
    return host.check_grid(cdiv(N, side), cdiv(M, side)), (side, side)


def swapped_launch(M, N, block=32):
    """Return (grid, block) for the swapped kernel: x along the rows of C."""
    side = host.check_tile(block, "block")
    host.check_sizes(M=M, N=N)
    return host.check_grid(cdiv(M, side), cdiv(N, side)), (side, side)


def model(M, N, K, block=32):
    """Predict the naive kernel's traffic: every thread loads a row of A and a column of B."""
    side, rows = host.check_tile(block, "block"), rows_of_warp(block)
    host.check_sizes(M=M, N=N, K=K)
    down = rows and cdiv(M, rows)
    A = Access(M, K, readers=N, sweeps=cdiv(N, side), height=rows, width=1)
    B = Access(K, N, readers=M, sweeps=down, height=1, width=side)
    C = Access(M, N, readers=1, sweeps=1, height=rows, width=side)
    return Model(flops=2 * M * N * K, reads={"A": A, "B": B}, writes={"C": C})


def swapped_model(M, N, K, block=32):
    """Predict the swapped kernel's traffic: the same loads, but a warp runs down the columns."""
    side, cols = host.check_tile(block, "block"), rows_of_warp(block)
    host.check_sizes(M=M, N=N, K=K)
    across = cols and cdiv(N, cols)
    A = Access(M, K, readers=N, sweeps=across, height=side, width=1)
    B = Access(K, N, readers=M, sweeps=cdiv(M, side), height=1, width=cols)
    C = Access(M, N, readers=1, sweeps=1, height=side, width=cols)
    return Model(flops=2 * M * N * K, reads={"A": A, "B": B}, writes={"C": C})


def matmul(A, B, out=None, engine="numba", block=32):
    """Return C = A·B, computed by the naive kernel.

    Parameters
    ----------
    A, B : array of float32, shapes (M, K) and (K, N)
        NumPy arrays are copied to the device; CuPy and Numba arrays stay there. Any strides: the
        Numba kernel follows them, the C++ twin gets contiguous copies.
    out : array of float32, shape (M, N), optional
        Where C goes, on the side where A and B are.
    engine : {"numba", "cpp"}
        Which of the twins runs; "cpp" needs a GPU.
    block : int
        Side of the square block of threads: 8, 16 or 32.

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
    grid, threads = launch(product.M, product.N, block)
    if engine == "cpp":
        twin(block)(grid, threads, product.cpp_arguments())
    else:
        naive[grid, threads](*product.arguments())
    return product.result()


def swapped_matmul(A, B, out=None, engine="numba", block=32):
    """Return C = A·B, computed by the swapped kernel; arguments and errors as for `matmul`."""
    product = host.Product(A, B, out, engine)
    grid, threads = swapped_launch(product.M, product.N, block)
    if engine == "cpp":
        swapped_twin(block)(grid, threads, product.cpp_arguments())
    else:
        swapped[grid, threads](*product.arguments())
    return product.result()

"""Vector addition: one element per thread, or many."""

from kernels import host
from kernels.backend import cuda
from kernels.host import cdiv, cpp
from kernels.host.model import WARP, Access, Model


@cuda.jit
def vector_add(a, b, c):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    # The last block may reach past the end of the vectors.
    if i < c.size:
        c[i] = a[i] + b[i]


@cuda.jit
def vector_add_grid_stride(a, b, c):
    start = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    # All threads of the grid together step over the vectors until they are done.
    for i in range(start, c.size, cuda.gridDim.x * cuda.blockDim.x):
        c[i] = a[i] + b[i]


def launch(n, block=256):
    """Return (grid, block) that cover n elements with blocks of `block` threads."""
    block = host.check_block(block)
    host.check_sizes(n=n)
    return host.check_grid(cdiv(n, block)), (block,)


def model(n, block=256):
    """Predict the traffic: every element is loaded or stored once, a warp's 32 side by side."""
    block = host.check_block(block)
    host.check_sizes(n=n)
    width = None if block % WARP else WARP
    once = Access(1, n, readers=1, sweeps=1, height=1, width=width)
    return Model(flops=n, reads={"a": once, "b": once}, writes={"c": once})


def add(a, b, out=None, engine="numba", block=256):
    """Return c = a + b, computed by `vector_add`.

    Parameters
    ----------
    a, b : array of float32, shape (n,)
        NumPy arrays are copied to the device; CuPy and Numba arrays stay there. Any strides.
    out : array of float32, shape (n,), optional
        Where c goes, on the side where a and b are.
    engine : {"numba", "cpp"}
        Which of the twins runs; "cpp" needs a GPU.
    block : int
        Threads per block, 1 to 1024.

    Returns
    -------
    array of float32, shape (n,)
        `out`, or a new array of the kind of a and b.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        One line that names the value, the limit and the way out.
    """
    vectors = host.Vectors(a, b, out, engine)
    grid, threads = launch(vectors.n, block)
    if engine == "cpp":
        cpp.load("vector_add")(grid, threads, vectors.cpp_arguments())
    else:
        vector_add[grid, threads](*vectors.arguments())
    return vectors.result()

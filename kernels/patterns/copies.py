"""Kernels that move the same bytes and differ in what the 32 threads of a warp ask for together.

Every thread loads one element and stores one, or updates one record of a table of particles, or
adds up one line of a matrix: what the warp's neighbours touch decides what that costs.
"""

from kernels import host
from kernels.backend import cuda, float32
from kernels.host import cdiv

FIELDS = 8  #: floats of a particle: x, y, z, their three velocities, mass, charge


@cuda.jit
def plain_copy(a, b):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < b.size:
        b[i] = a[i]


@cuda.jit
def shifted(a, b, offset):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < b.size:
        b[i] = a[i + offset]


@cuda.jit
def strided_load(a, b, stride):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < b.size:
        b[i] = a[i * stride]


@cuda.jit
def strided_store(a, b, stride):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < a.size:
        b[i * stride] = a[i]


@cuda.jit
def push_records(particles, dt, axes):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    # An array of structs: a particle is a row, its eight floats lie side by side.
    if i < particles.shape[0]:
        for axis in range(axes):
            particles[i, axis] += dt * particles[i, 3 + axis]


@cuda.jit
def push_fields(particles, dt, axes):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    # A struct of arrays: a field is a row, the same float of all particles lies side by side.
    if i < particles.shape[1]:
        for axis in range(axes):
            particles[axis, i] += dt * particles[3 + axis, i]


@cuda.jit
def sum_rows(A, sums):
    row = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < A.shape[0]:
        acc = float32(0)
        for col in range(A.shape[1]):
            acc += A[row, col]
        sums[row] = acc


@cuda.jit
def sum_columns(A, sums):
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if col < A.shape[1]:
        acc = float32(0)
        for row in range(A.shape[0]):
            acc += A[row, col]
        sums[col] = acc


def launch(n, block=256):
    """Return (grid, block) of one thread for each of n elements, particles, rows or columns."""
    block = host.check_block(block)
    host.check_sizes(n=n)
    return host.check_grid(cdiv(n, block)), (block,)

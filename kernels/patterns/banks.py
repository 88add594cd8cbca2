"""Reads of shared memory whose 32 lanes lie a stride apart: what a row and a column cost."""

from kernels import host
from kernels.backend import cuda, float32, uint32
from kernels.host import cdiv

WORDS = 2048  #: floats in shared memory, all of them in use
READS = 32  #: reads of a thread in one iteration
MOST = 63  #: largest stride whose reads stay inside


@cuda.jit
def strided_reads(sums, stride, iterations):
    s = cuda.shared.array(WORDS, float32)
    tx = uint32(cuda.threadIdx.x)
    for i in range(tx, uint32(WORDS), uint32(cuda.blockDim.x)):
        s[i] = i % uint32(256)
    cuda.syncthreads()
    lane = tx % uint32(32)
    acc = float32(0)
    for iteration in range(uint32(iterations)):
        # Another start each time: otherwise one iteration would do for all.
        first = lane * uint32(stride) + iteration % uint32(32)
        for k in range(READS):
            acc += s[first + uint32(k)]
    sums[cuda.blockIdx.x * cuda.blockDim.x + tx] = acc


def launch(n, block=256):
    """Return (grid, block) of n threads; n must be a multiple of the block."""
    block = host.check_block(block)
    host.check_sizes(n=n)
    if n % block:
        raise ValueError(f"{n} threads are no whole blocks of {block}: use a multiple of {block}")
    return host.check_grid(cdiv(n, block)), (block,)

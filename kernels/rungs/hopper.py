"""Matrix products with Hopper's own instructions: TMA copies whole tiles, `wgmma` multiplies them.

Three rungs, each a step, all CUDA C++ for sm_90a: `wgmma` loads a pair of tiles, multiplies it, and
loads the next; in `specialized` one warp loads while eight multiply; in `persistent` the blocks
stay, share what they load in clusters, and store C while the next tile is on its way. A and B hold
float16 or bfloat16 (see `kernels.host.half`), products are added in float32, and C holds float32;
an `out` in the format of A and B gets C rounded to it.
"""

from kernels import host
from kernels.engine.device import device
from kernels.host import cdiv, cpp, half
from kernels.host.tma import tensor_map

BM, BK = 128, 64
#: Pairs of tiles that fit into the 227 KB of shared memory of a block, by the width of B's.
STAGES = {128: 6, 256: 4}
#: Boxes of 64 rows by 128 bytes through which each consumer of `persistent` stores C.
BOXES, BOX_BYTES = 2, 64 * 128
SMS = 132  #: of an H100 or H200, where no GPU is there to be asked


def shared_bytes(BN, boxes=0):
    """Return the shared memory that a block asks for: the ring of tiles, and boxes for C."""
    return STAGES[BN] * 2 * BK * (BM + BN) + 2 * boxes * BOX_BYTES


def sms():
    """Return how many SMs the GPU has."""
    return device().sms or SMS


def most_clusters(blocks, sms):
    """Return how many clusters of so many blocks work at once on so many SMs; at least one."""
    return max(1, sms // blocks)


def check_choice(name, value, choices):
    """Return an option as an int; TypeError or ValueError unless it is one of `choices`."""
    way_out = f"use {' or '.join(map(str, choices))}"
    if host.check_whole(value, name, way_out, min(1, *choices)) not in choices:
        raise ValueError(f"{name} {value} is none that the kernel is written for: {way_out}")
    return int(value)


# ------------------------------------------------------------------------------------- wgmma


def wgmma_launch(M, N):
    """Return (grid, block) that cover C (M×N): one warpgroup a block, 128 × 128 elements of C."""
    host.check_sizes(M=M, N=N)
    return host.check_grid(cdiv(N, 128), cdiv(M, BM)), (128,)


def wgmma_model(M, N, K):
    """Predict the traffic: A is loaded once a column of 128 × 128 tiles, B once a row."""
    return half.half_model(M, N, K, cdiv(M, BM), cdiv(N, 128))


def wgmma_twin(BF16=1, HALF_C=0):
    """Return the compiled kernel: `BF16` and `HALF_C` are 1 for bfloat16, and for C in 16 bits."""
    return cpp.load("wgmma", arch="sm_90a", BF16=BF16, HALF_C=HALF_C)


def wgmma_matmul(A, B, out=None, engine="cpp"):
    """Return C = A·B, computed tile by tile by `wgmma`; see `persistent_matmul`."""
    product, launch = _wgmma(A, B, out, engine)
    launch()
    return product.result()


def wgmma_prepare(A, B, C, engine="cpp"):
    """Return a function that launches C = A·B on CuPy arrays with rows on 16-byte boundaries."""
    half.check_aligned(A=A, B=B, C=C)
    return _wgmma(A, B, C, engine)[1]


def _wgmma(A, B, out, engine):
    product = operands("wgmma", A, B, out, engine)
    grid, block = wgmma_launch(product.M, product.N)
    twin, given = wgmma_twin(**product.macros), arguments(product)
    return product, lambda held=product: twin(grid, block, given)


# ------------------------------------------------------------------------------- specialized


def specialized_launch(M, N, BN=256):
    """Return (grid, block) that cover C (M×N): 128 × BN elements and three warpgroups a block."""
    check_choice("BN", BN, STAGES)
    host.check_sizes(M=M, N=N)
    return host.check_grid(cdiv(N, BN), cdiv(M, BM)), (384,)


def specialized_model(M, N, K, BN=256):
    """Predict the traffic: A is loaded once a column of 128 × BN tiles, B once a row."""
    check_choice("BN", BN, STAGES)
    return half.half_model(M, N, K, cdiv(M, BM), cdiv(N, BN))


def specialized_twin(BN=256, BF16=1, HALF_C=0):
    """Return the compiled kernel: `BF16` and `HALF_C` are 1 for bfloat16, and for C in 16 bits."""
    BN = check_choice("BN", BN, STAGES)
    return cpp.load(
        "specialized", arch="sm_90a", shared_bytes=shared_bytes(BN), BN=BN, STAGES=STAGES[BN],
        BF16=BF16, HALF_C=HALF_C,
    )  # fmt: skip


def specialized_matmul(A, B, out=None, engine="cpp", BN=256):
    """Return C = A·B, computed by producers and consumers; see `persistent_matmul`.

    The option `BN` is the width of a block's tile of C: 128 or 256.
    """
    product, launch = _specialized(A, B, out, engine, BN)
    launch()
    return product.result()


def specialized_prepare(A, B, C, engine="cpp", BN=256):
    """Return a function that launches C = A·B on CuPy arrays with rows on 16-byte boundaries."""
    half.check_aligned(A=A, B=B, C=C)
    return _specialized(A, B, C, engine, BN)[1]


def _specialized(A, B, out, engine, BN):
    product = operands("specialized", A, B, out, engine)
    grid, block = specialized_launch(product.M, product.N, BN)
    twin, given = specialized_twin(BN, **product.macros), arguments(product)
    asked = shared_bytes(BN)
    return product, lambda held=product: twin(grid, block, given, shared_mem=asked)


# -------------------------------------------------------------------------------- persistent


def persistent_launch(M, N, cluster=2, group=8):
    """Return (grid, block): as few blocks as need no more rounds than all SMs together would.

    A round is one tile of 128 × 256 elements of C for each block. Blocks beyond would end a round
    earlier and gain nothing, but take power from the others.
    """
    check_choice("cluster", cluster, (1, 2))
    host.check_group(group, "group")
    host.check_sizes(M=M, N=N)
    tiles = cdiv(M, BM * cluster) * cdiv(N, 256)
    rounds = cdiv(tiles, most_clusters(cluster, sms()))
    return (cdiv(tiles, rounds) * cluster,), (384,)


def persistent_model(M, N, K, cluster=2, group=8):
    """Predict the traffic: A is loaded once a column of tiles, B once a row of clusters."""
    check_choice("cluster", cluster, (1, 2))
    return half.half_model(M, N, K, cdiv(M, BM * cluster), cdiv(N, 256))


def persistent_twin(cluster=2, group=8, BF16=1, HALF_C=0):
    """Return the compiled kernel: `BF16` and `HALF_C` are 1 for bfloat16, and for C in 16 bits."""
    check_choice("cluster", cluster, (1, 2))
    return cpp.load(
        "persistent", arch="sm_90a", shared_bytes=shared_bytes(256, BOXES), CLUSTER=cluster,
        GROUP=group, STAGES=STAGES[256], BOXES=BOXES, BF16=BF16, HALF_C=HALF_C,
    )  # fmt: skip


def persistent_matmul(A, B, out=None, engine="cpp", cluster=2, group=8):
    """Return C = A·B, computed by blocks that stay and share what they load.

    Parameters
    ----------
    A, B : array of float16 or bfloat16, shapes (M, K) and (K, N)
        NumPy arrays are copied to the device; CuPy and Numba arrays stay there. Rows that do not
        start on 16-byte boundaries are copied to some that do.
    out : array of float32, or as A and B, shape (M, N), optional
        Where C goes, on the side where A and B are.
    engine : {"cpp"}
    cluster : int
        Blocks that share the columns of B: 1 or 2.
    group : int
        Rows of tiles that are computed together, so that they share A and B in the L2 cache: 1 to
        32.

    Returns
    -------
    array of float32, shape (M, N)
        `out`, or a new array of the kind of A and B.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        One line that names the value, the limit and the way out.
    """
    product, launch = _persistent(A, B, out, engine, cluster, group)
    launch()
    return product.result()


def persistent_prepare(A, B, C, engine="cpp", cluster=2, group=8):
    """Return a function that launches C = A·B on CuPy arrays with rows on 16-byte boundaries."""
    half.check_aligned(A=A, B=B, C=C)
    return _persistent(A, B, C, engine, cluster, group)[1]


def _persistent(A, B, out, engine, cluster, group):
    product = operands("persistent", A, B, out, engine)
    grid, block = persistent_launch(product.M, product.N, cluster, group)
    twin = persistent_twin(cluster, group, **product.macros)
    map_A, map_B, C, *sizes = arguments(product)
    dtype = half.dtype_of(C)
    given = (map_A, map_B, tensor_map(C, 64, 128 // C.itemsize, dtype), *sizes)
    asked = shared_bytes(256, BOXES)
    return product, lambda held=(product, C): twin(grid, block, given, shared_mem=asked)


# ------------------------------------------------------------------------------------ shared


def operands(rung, A, B, out, engine):
    """Return the operands, checked, for the one generation of GPUs that has `wgmma`."""
    product = half.HalfProduct(A, B, out, engine)
    half.check_gpu(rung, (9, 0), "use mma", only=True)
    return product


def arguments(product):
    """Return tensor maps of A and B, then C, M, N (as C lies in memory) and K.

    Tensor maps hold addresses alone: whoever launches later keeps `product`, and so the matrices.
    """
    A, B, C = product.cpp_arguments()
    product.on_device = A, B
    return (
        tensor_map(A, BM, BK, product.format),
        tensor_map(B, BK, 64, product.format),
        C,
        *half.int32s(product.M, C.shape[1], product.K),
    )

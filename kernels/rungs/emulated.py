"""A float32 product on tensor cores that know no float32: each number as three of bfloat16.

Tensor cores multiply bfloat16 more than ten times as fast as other units multiply float32. A
float32 number has 24 significant bits and a bfloat16 has 8, with the same range of exponents, so
three of them hold it exactly, and A·B is the sum of nine products of parts. Six of them already
reach the accuracy of float32; nine leave out nothing. CUDA C++ for sm_90a; the loop is that of
`kernels.rungs.hopper.persistent_matmul`.

Sources: G. Henry, P. T. P. Tang and A. Heinecke, *Leveraging the bfloat16 Artificial Intelligence
Datatype For Higher-Precision Computations*, ARITH 2019; NVIDIA, *cuBLAS*, section on BF16x9.
"""

import numpy as np

from kernels import host
from kernels.engine import cupy
from kernels.host import cdiv, cpp, half
from kernels.host.tma import tensor_map
from kernels.rungs import hopper

BM, BK = 128, 64
#: Pairs of tiles that fit into shared memory beside the boxes for C, by the width of B's.
STAGES = {192: 5, 128: 6}
CLUSTER, BOXES = 2, 1
#: Steps of BK after which the sums of the tensor cores are added to float32 sums that round.
PIECE = 4
#: Sums of fewer products are left to the plain kernel: tensor cores would gain nothing.
LEAST_K = 32


def parts(X):
    """Return the three parts of a matrix as the kernel writes them, each in bfloat16 (as uint16).

    Parameters
    ----------
    X : array of float32, NumPy or CuPy
        Of finite numbers.

    Returns
    -------
    list of three arrays of uint16
        With `kernels.host.half.floats` around each, X is exactly P0 + P1 / 2**8 + P2 / 2**16: the
        later parts are kept 2**8 and 2**16 times too large, so that they exist for tiny X too.
    """
    found, rest = [], X
    for _ in range(3):
        rounded, cut = half.bfloat16(rest), (rest.view(np.uint32) >> 16).astype(np.uint16)
        # Close to the largest float32, rounding up would lead to infinity.
        rounded = np.where(abs(half.floats(rounded)) == np.inf, cut, rounded)
        found.append(rounded)
        rest = (rest - half.floats(rounded)) * np.float32(256)
    return found


def footprint(products=6, BN=0):
    """Return what a block takes: {"registers", "shared_bytes", "tile"}."""
    BN = BN or 192
    return {"registers": 168, "shared_bytes": shared_bytes(BN), "tile": (BM, BN, BK)}


def shared_bytes(BN):
    """Return the shared memory that a block asks for: the ring of tiles, and boxes for C."""
    return STAGES[BN] * 2 * BK * (BM + BN) + 2 * BOXES * hopper.BOX_BYTES


def check_options(products, BN):
    """Raise TypeError or ValueError, in one line, for options that the kernel is not made for."""
    hopper.check_choice("products", products, (6, 9))
    if BN != 0 or isinstance(BN, bool):
        hopper.check_choice("BN", BN, (128, 192))


def rounds(M, N, BN):
    """Return how many tiles of C each cluster of blocks computes, and how many there are."""
    tiles = cdiv(M, BM * CLUSTER) * cdiv(N, BN)
    return cdiv(tiles, hopper.most_clusters(CLUSTER, hopper.sms())), tiles


def width(M, N, BN=0):
    """Return the width of a block's tile: BN, or with 0 that by which all of C is done sooner."""
    return BN or min(STAGES, key=lambda BN: BN * rounds(M, N, BN)[0])


def launch(M, N, products=6, BN=0):
    """Return (grid, block) of the kernel that adds up the products of parts."""
    check_options(products, BN)
    host.check_sizes(M=M, N=N)
    times, tiles = rounds(M, N, width(M, N, BN))
    return (cdiv(tiles, times) * CLUSTER,), (384,)


def model(M, N, K, products=6, BN=0):
    """Predict the traffic of that kernel: every product of parts loads A and B once more.

    The operations are those of the float32 product; the tensor cores do `products` times as many.
    """
    check_options(products, BN)
    host.check_sizes(M=M, N=N, K=K)
    down, across = cdiv(M, BM * CLUSTER), cdiv(N, width(M, N, BN))
    return half.half_model(M, N, K, products * down, products * across)


def twin(products=6, BN=0):
    """Return the compiled kernel that adds up the products of parts (with BN 0: 192 wide)."""
    check_options(products, BN)
    asked = shared_bytes(BN or 192)
    return cpp.load("emulated", arch="sm_90a", shared_bytes=asked, **macros(products, BN))


def macros(products=6, BN=0):
    """Return what the file is compiled with."""
    BN = BN or 192
    return {
        "BN": BN, "STAGES": STAGES[BN], "BOXES": BOXES, "CLUSTER": CLUSTER, "GROUP": 8,
        "PIECE": PIECE, "PRODUCTS": products, "BF16": 1, "HALF_C": 0,
    }  # fmt: skip


def matmul(A, B, out=None, engine="cpp", products=6, BN=0):
    """Return C = A·B in float32, computed from products of bfloat16 parts.

    Rows of A and columns of B that hold an infinity or NaN, and products with K below 32, are
    computed in plain float32, by a slow kernel. A result within 1 % of the largest float32 may come
    out infinite, and so may a sum whose terms reach that far.

    Parameters
    ----------
    A, B, out
        As in `kernels.rungs.tiled.matmul`.
    engine : {"cpp"}
    products : int
        6: those products of parts that float32 can tell from 0. 9: all of them, which inputs
        below 1.2e-38 need if they are to keep their digits.
    BN : int
        Width of a block's tile of C: 128 or 192; 0 takes the one that is done sooner.

    Returns
    -------
    array of float32, shape (M, N)
        `out`, or a new array of the kind of A and B.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        One line that names the value, the limit and the way out.
    """
    product, start = _prepared(A, B, out, engine, products, BN)
    start()
    return product.result()


def prepare(A, B, C, engine="cpp", products=6, BN=0):
    """Return a function that splits A and B and adds up the products, on CuPy arrays."""
    host.check_resident(A=A, B=B, C=C)
    return _prepared(A, B, C, engine, products, BN)[1]


def _prepared(A, B, out, engine, products, BN):
    check_options(products, BN)
    if engine != "cpp":
        raise ValueError(f"engine {engine!r} has no tensor cores: use engine='cpp'")
    product = host.Product(A, B, out, engine)
    half.check_gpu("emulated", (9, 0), "use async_tiled", only=True)
    M, N, K = product.M, product.N, product.K
    BN = width(M, N, BN)
    padded_K, padded_N, pitch = cdiv(K, BK) * BK, cdiv(N, 8) * 8, cdiv(N, 4) * 4
    half.int32s(M, padded_N, 3 * padded_K)  # or ValueError, before memory is taken
    short = K < LEAST_K
    A, B, C, *_ = product.cpp_arguments()
    with host.memory_errors(6 * padded_K * (M + padded_N) + 4 * M * pitch):
        result = C if host.wide(C) else cupy.empty((M, pitch), np.float32)
        odd = cupy.zeros(M + N + 2, np.uint8)
        if not short:
            parts_A = cupy.empty((M, 3 * padded_K), np.uint16)
            parts_B = cupy.empty((3 * padded_K, padded_N), np.uint16)
    plain = cpp.load("emulated", "plain", arch="sm_90a", **macros(products, BN))
    blocks = cdiv(M * N, 256)
    if not short:
        blocks = min(blocks, 8 * hopper.sms())
    sizes = half.int32s(M, N, K)
    plain_arguments = (A, B, result, *sizes, np.int32(result.shape[1]), odd, np.int32(short))
    steps = [] if short else _steps(A, B, result, odd, parts_A, parts_B, sizes, products, BN)
    steps.append(lambda: plain((blocks,), (256,), plain_arguments))
    if result is not C:
        steps.append(lambda: cupy.copyto(C, result[:, :N]))

    def start():
        for step in steps:
            step()

    return product, start


def _steps(A, B, C, odd, parts_A, parts_B, sizes, products, BN):
    """Return the launches that split A and B and add up the products of their parts."""
    M, N, _ = (int(size) for size in sizes)
    padded_K, padded_N = parts_A.shape[1] // 3, parts_B.shape[1]
    split = cpp.load("emulated", "split", arch="sm_90a", **macros(products, BN))

    def splitting(X, parts, odd, shape, following, by_col):
        numbers = (*X.shape, *shape, parts.shape[1])
        arguments = (
            X, parts, odd, *half.int32s(*numbers), np.int64(following),
            np.int32(host.wide(X)), np.int32(by_col),
        )  # fmt: skip
        grid = (cdiv(shape[1], 4 * 32), min(cdiv(shape[0], 8), 65535))
        return lambda: split(grid, (32, 8), arguments)

    grid, block = launch(M, N, products, BN)
    kernel = twin(products, BN)
    arguments = (
        tensor_map(parts_A, BM, BK, "bfloat16"),
        tensor_map(parts_B, BK // CLUSTER, 64, "bfloat16"),
        tensor_map(C, 64, 32, "float32"),
        *sizes,
    )
    asked = shared_bytes(BN)
    return [
        lambda: odd.data.memset_async(0, odd.nbytes),
        splitting(A, parts_A, odd[1:], (M, padded_K), padded_K, 0),
        splitting(B, parts_B, odd[2 + M :], (padded_K, padded_N), padded_K * padded_N, 1),
        lambda: kernel(grid, block, arguments, shared_mem=asked),
    ]

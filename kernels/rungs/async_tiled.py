"""Asynchronous copies: tiles go to shared memory past the registers, several at a time.

CUDA C++ alone, for GPUs of compute capability 8.0 and above: Numba has no such copies. The order
of the blocks and the shares of K are those of `kernels.rungs.swizzled`.
"""

from kernels import host
from kernels.host import cdiv, cpp
from kernels.host.model import Model
from kernels.host.tiles import check_limits, check_multiple, check_rows, check_whole_tiles
from kernels.rungs import swizzled

PAD = 4  # elements between the rows of A's tile, so that its columns spread over the banks


def tiles(BM, BN, BK, WM, WN, TM, TN, stages):
    """Return the checked sizes, and the threads of a block."""
    sizes = {"BM": BM, "BN": BN, "BK": BK, "WM": WM, "WN": WN, "TM": TM, "TN": TN}
    BM, BN, BK, WM, WN, TM, TN, stages = check_whole_tiles(**sizes, stages=stages)
    if stages < 2:
        raise ValueError(f"stages={stages} leaves nothing to copy ahead: use 2, 3 or 4")
    for name, size in {"TM": TM, "TN": TN}.items():
        check_multiple(**{name: size, "the elements of 16 bytes": 4})
    check_multiple(**{"BK": BK, "the two sets of registers": 2})
    for pair in (
        {"WM": WM, "TM": TM},
        {"WN": WN, "TN": TN},
        {"BM": BM, "WM": WM},
        {"BN": BN, "WN": WN},
    ):
        check_multiple(**pair)
    if WM // TM * (WN // TN) != 32:
        raise ValueError(
            f"a warp tile of {WM}×{WN} has {WM // TM * (WN // TN)} thread tiles of {TM}×{TN};"
            " a warp has 32 threads: use WM, WN, TM, TN with (WM/TM)·(WN/TN) = 32"
        )
    threads = BM // WM * (BN // WN) * 32
    # A is copied element by element: a copy cannot turn four of a row on their side.
    loaded = (("BM·BK", BM * BK, threads), ("BK·BN", BK * BN, 4 * threads))
    shared_bytes = 4 * stages * BK * (BM + PAD + BN)
    check_limits(threads, shared_bytes, TM * TN + 2 * (TM + TN), loaded)
    check_rows(threads, BK=BK)
    check_rows(4 * threads, BN=BN)
    return BM, BN, BK, WM, WN, TM, TN, stages, threads


def footprint(
    BM=128, BN=256, BK=8, WM=64, WN=64, TM=8, TN=16, GROUP=8, stages=3, split=1
) -> dict[str, int]:
    """Return what a block takes, by name; the registers are an estimate."""
    tiles(BM, BN, BK, WM, WN, TM, TN, stages)
    return {
        "registers": min(255, TM * TN + 2 * (TM + TN) + 40),
        "shared_bytes": 4 * stages * BK * (BM + PAD + BN),
    }


def launch(M, N, BM=128, BN=256, BK=8, WM=64, WN=64, TM=8, TN=16, GROUP=8, stages=3, split=1):
    """Return (grid, block): `split` layers of a block for each BM × BN elements of C (M×N)."""
    BM, BN, *_, threads = tiles(BM, BN, BK, WM, WN, TM, TN, stages)
    GROUP, split = swizzled.order(GROUP, split)
    host.check_sizes(M=M, N=N)
    return host.check_grid(cdiv(N, BN), cdiv(M, BM), split), (threads, 1)


def model(
    M, N, K, BM=128, BN=256, BK=8, WM=64, WN=64, TM=8, TN=16, GROUP=8, stages=3, split=1
) -> Model:
    """Predict the traffic: the tiles' way into shared memory changes, not what is loaded."""
    tiles(BM, BN, BK, WM, WN, TM, TN, stages)
    return swizzled.traffic(M, N, K, BM, BN, split)


def twin(BM=128, BN=256, BK=8, WM=64, WN=64, TM=8, TN=16, GROUP=8, stages=3, split=1, WIDE=1):
    """Return the CUDA C++ kernel, compiled for these tiles; it is the same for every `split`."""
    BM, BN, BK, WM, WN, TM, TN, stages, _ = tiles(BM, BN, BK, WM, WN, TM, TN, stages)
    sizes = {"BM": BM, "BN": BN, "BK": BK, "WM": WM, "WN": WN, "TM": TM, "TN": TN}
    return cpp.load("async_tiled", **sizes, GROUP=GROUP, STAGES=stages, WIDE=WIDE)


def matmul(A, B, out=None, engine="cpp", split=1, **sizes):
    """Return C = A·B, computed while several tiles are on their way.

    Parameters
    ----------
    A, B, out
        As in `kernels.rungs.tiled.matmul`.
    engine : {"cpp"}
    split : int
        Parts of K, as in `kernels.rungs.swizzled.matmul`.
    BM, BN, BK, WM, WN, TM, TN, GROUP : int
        As there.
    stages : int
        Tiles of each matrix in shared memory: one is multiplied, the others are on their way.

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
    _launches(product, split, sizes)()
    return product.result()


def prepare(A, B, C, engine="cpp", split=1, **sizes):
    """Return a function that computes C = A·B on CuPy arrays, with little work of the host."""
    host.check_resident(A=A, B=B, C=C)
    return _launches(host.Product(A, B, C, engine), split, sizes)


def _launches(product, split, sizes):
    grid, threads = launch(product.M, product.N, split=split, **sizes)
    return swizzled.in_layers(lambda WIDE: twin(**sizes, WIDE=WIDE), product, grid, threads)

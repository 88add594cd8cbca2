"""Matrix products on tensor cores by `mma`: a warp multiplies small matrices in one instruction.

Two rungs, both CUDA C++ alone, since Numba has no such instructions: `mma_sm75` for GPUs from
Turing on, such as the T4, and `mma` for those from Ampere on, fed by asynchronous copies. A and B
hold float16 or bfloat16 (see `kernels.host.half`), products are added in float32, and C holds
float32; an `out` in the format of A and B gets C rounded to it.
"""

from kernels import host
from kernels.engine.device import device
from kernels.host import cdiv, cpp, half

#: What the kernel in mma_sm75.cu is written for.
SM75 = {"BM": 128, "BN": 128, "BK": 32, "WM": 64, "WN": 32}


# ------------------------------------------------------------------------------ sm_75 and later


def mma_sm75_launch(M, N):
    """Return (grid, block) that cover C (M×N): 8 warps a block, 128 × 128 elements of C."""
    host.check_sizes(M=M, N=N)
    return host.check_grid(cdiv(N, SM75["BN"]), cdiv(M, SM75["BM"])), (256,)


def mma_sm75_model(M, N, K):
    """Predict the traffic: A is loaded once a column of 128 × 128 tiles, B once a row."""
    return half.half_model(M, N, K, cdiv(M, SM75["BM"]), cdiv(N, SM75["BN"]))


def mma_sm75_twin(BF16=0, HALF_C=0):
    """Return the compiled kernel; `HALF_C` is 1 where C is to be rounded to 16 bits."""
    return cpp.load("mma_sm75", BF16=BF16, HALF_C=HALF_C)


def mma_sm75_matmul(A, B, out=None, engine="cpp"):
    """Return C = A·B, computed by tensor cores as Turing has them.

    Parameters
    ----------
    A, B : array of float16, shapes (M, K) and (K, N)
        NumPy arrays are copied to the device; CuPy and Numba arrays stay there. Rows that do not
        start on 16-byte boundaries are copied to some that do.
    out : array of float32 or float16, shape (M, N), optional
        Where C goes, on the side where A and B are.
    engine : {"cpp"}

    Returns
    -------
    array of float32, shape (M, N)
        `out`, or a new array of the kind of A and B.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        One line that names the value, the limit and the way out.
    """
    product, launch = _mma_sm75(A, B, out, engine)
    launch()
    return product.result()


def mma_sm75_prepare(A, B, C, engine="cpp"):
    """Return a function that launches C = A·B on CuPy arrays with rows on 16-byte boundaries."""
    half.check_aligned(A=A, B=B, C=C)
    return _mma_sm75(A, B, C, engine)[1]


def _mma_sm75(A, B, out, engine):
    product = half.HalfProduct(A, B, out, engine)
    half.check_gpu("mma_sm75", (7, 5), "use tiled")
    if product.format != "float16":
        raise TypeError("mma_sm75 takes float16 alone: use mma for bfloat16, or float16")
    grid, block = mma_sm75_launch(product.M, product.N)
    return product, _launcher(product, mma_sm75_twin(**product.macros), grid, block)


# ------------------------------------------------------------------------------ sm_80 and later


def most_shared_bytes():
    """Return how much shared memory a block of this GPU may ask for."""
    here = device()
    # Without a GPU to ask, that of an H100 or H200.
    return here.shared_per_block_optin or (227 * 1024 if here.sms is None else 48 * 1024)


def footprint(BM=128, BN=256, BK=64, WM=64, WN=64, stages=0):
    """Return what a block of `mma` takes: {"threads", "registers", "stages", "shared_bytes"}.

    Registers are a lower bound: a thread holds WM·WN/32 sums, two sets of fragments of A and B,
    and about 24 addresses and counters. With `stages` 0 there are as many pairs of tiles as fit
    into shared memory, between 2 and 4.
    """
    stage = 2 * (BM + BN) * BK
    stages = stages or min(4, max(2, most_shared_bytes() // stage))
    return {
        "threads": 32 * (BM // WM) * (BN // WN),
        "registers": WM * WN // 32 + 2 * (WM + WN) // 4 + 24,
        "stages": stages,
        "shared_bytes": stages * stage,
    }


def check_options(BM, BN, BK, WM, WN, stages):
    """Raise TypeError or ValueError, in one line, for options that no launch of `mma` can have."""
    options = {"BM": BM, "BN": BN, "BK": BK, "WM": WM, "WN": WN, "stages": stages}
    for name, value in options.items():
        if not (name == "stages" and value == 0):
            host.check_whole(value, name, "use the default, or one of the options of the rung")
    for name, unit in (("WM", 16), ("WN", 16)):
        if options[name] % unit:
            raise ValueError(f"{name} {options[name]} is no multiple of {unit}: use 32 or 64")
    if BK not in (32, 64):
        raise ValueError(f"BK {BK} is not what the swizzle is made for: use 32 or 64")
    for block, warp in (("BM", "WM"), ("BN", "WN")):
        if options[block] % options[warp]:
            raise ValueError(
                f"{block} {options[block]} is no multiple of {warp} {options[warp]}:"
                f" use {warp} 32 or 64"
            )
    if BN % 64:
        raise ValueError(f"BN {BN} is no multiple of 64: use 64, 128 or 256")
    if stages == 1:
        raise ValueError("stages 1 leaves no tile to load ahead: use 2 or more, or 0 for what fits")
    takes = footprint(**options)
    limits = {"threads": device().max_threads_per_block, "shared_bytes": most_shared_bytes()}
    ways_out = {"threads": "use larger WM or WN", "shared_bytes": "use fewer stages, or smaller BK"}
    for name, limit in limits.items():
        if takes[name] > limit:
            what = {"threads": "threads", "shared_bytes": "bytes of shared memory"}[name]
            raise ValueError(
                f"mma {BM}×{BN}×{BK} in {takes['stages']} stages needs {takes[name]} {what};"
                f" a block of this GPU has {limit}: {ways_out[name]}"
            )
    at_once = 8 * takes["threads"]  # elements: a thread copies 16 bytes, of several whole rows
    for name, rows, width in (("A", BM, BK), ("B", BK, BN)):
        if at_once % width or rows * width % at_once:
            raise ValueError(
                f"mma with {takes['threads']} threads copies {at_once} elements at once, of which"
                f" the {rows}×{width} tile of {name} is no multiple in whole rows: use larger WM"
                " or WN, and powers of two"
            )
    most = min(255, 65536 // takes["threads"])
    if takes["registers"] > most:
        raise ValueError(
            f"mma with warp tiles of {WM}×{WN} needs {takes['registers']} registers a thread;"
            f" {takes['threads']} threads have {most} each: use smaller WM or WN"
        )


def mma_launch(M, N, BM=128, BN=256, BK=64, WM=64, WN=64, stages=0):
    """Return (grid, block) that cover C (M×N): BM × BN elements a block, WM × WN a warp."""
    check_options(BM, BN, BK, WM, WN, stages)
    host.check_sizes(M=M, N=N)
    threads = footprint(BM, BN, BK, WM, WN, stages)["threads"]
    return host.check_grid(cdiv(N, BN), cdiv(M, BM)), (threads,)


def mma_model(M, N, K, BM=128, BN=256, BK=64, WM=64, WN=64, stages=0):
    """Predict the traffic: A is loaded once a column of BM × BN tiles, B once a row."""
    check_options(BM, BN, BK, WM, WN, stages)
    return half.half_model(M, N, K, cdiv(M, BM), cdiv(N, BN))


def mma_twin(BM=128, BN=256, BK=64, WM=64, WN=64, stages=0, BF16=0, HALF_C=0):
    """Return the compiled kernel: `BF16` and `HALF_C` are 1 for bfloat16, and for C in 16 bits."""
    check_options(BM, BN, BK, WM, WN, stages)
    takes = footprint(BM, BN, BK, WM, WN, stages)
    return cpp.load(
        "mma", shared_bytes=takes["shared_bytes"], BM=BM, BN=BN, BK=BK, WM=WM, WN=WN,
        STAGES=takes["stages"], BF16=BF16, HALF_C=HALF_C,
    )  # fmt: skip


def mma_matmul(A, B, out=None, engine="cpp", **options):
    """Return C = A·B, computed by tensor cores as Ampere has them.

    Parameters
    ----------
    A, B : array of float16 or bfloat16, shapes (M, K) and (K, N)
        NumPy arrays are copied to the device; CuPy and Numba arrays stay there. Rows that do not
        start on 16-byte boundaries are copied to some that do.
    out : array of float32, or as A and B, shape (M, N), optional
        Where C goes, on the side where A and B are.
    engine : {"cpp"}
    BM, BN, BK, WM, WN, stages : int
        Tile of a block, tile of a warp, and how many pairs of tiles lie in shared memory (0: as
        many as fit, up to 4).

    Returns
    -------
    array of float32, shape (M, N)
        `out`, or a new array of the kind of A and B.

    Raises
    ------
    TypeError, ValueError, RuntimeError, MemoryError
        One line that names the value, the limit and the way out.
    """
    product, launch = _mma(A, B, out, engine, options)
    launch()
    return product.result()


def mma_prepare(A, B, C, engine="cpp", **options):
    """Return a function that launches C = A·B on CuPy arrays with rows on 16-byte boundaries."""
    half.check_aligned(A=A, B=B, C=C)
    return _mma(A, B, C, engine, options)[1]


def _mma(A, B, out, engine, options):
    product = half.HalfProduct(A, B, out, engine)
    half.check_gpu("mma", (8, 0), "use mma_sm75")
    grid, block = mma_launch(product.M, product.N, **options)
    twin = mma_twin(**options, **product.macros)
    return product, _launcher(product, twin, grid, block, footprint(**options)["shared_bytes"])


def _launcher(product, twin, grid, block, shared_bytes=0):
    """Return a function that launches a kernel of either rung."""
    A, B, C = product.cpp_arguments()
    # N is the width of C as it lies in memory; what is beyond the real one is left out later.
    arguments = (A, B, C, *half.int32s(product.M, C.shape[1], product.K, A.shape[1]))
    return lambda: twin(grid, block, arguments, shared_mem=shared_bytes)

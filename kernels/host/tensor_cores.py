"""Rungs on tensor cores: operands of 16 bits, and what the rungs for Hopper have in common."""

from dataclasses import dataclass

from kernels.backend.device import device
from kernels.host import cdiv, half
from kernels.host.options import Options
from kernels.host.rung import Capability, Rung
from kernels.host.tma import tensor_map

__all__ = [
    "BK",
    "BM",
    "BOX_BYTES",
    "HalfRung",
    "HopperRung",
    "HopperTiles",
    "map_of_result",
    "most_clusters",
    "sms",
]


@dataclass(frozen=True, eq=False)
class HalfRung(Rung):
    """A rung whose A and B hold 16 bits: float16 or bfloat16 (see `kernels.host.half`).

    Products are added in float32, and C holds float32; an `out` in the format of A and B gets C
    rounded to it. Rows that do not start on 16-byte boundaries are copied to some that do.
    """

    engines: tuple[str, ...] = ("cpp",)
    dtypes: tuple[str, ...] = ("float16", "bfloat16")

    def operands(self, A, B, out, engine):
        product = half.HalfProduct(A, B, out, engine)
        if product.format not in self.dtypes:
            takes = " and ".join(self.dtypes)
            raise TypeError(f"{self.name} takes only {takes}: use mma for {product.format}")
        return product

    def copies(self, M, N, K, dtype=""):
        chunk = half.CHUNK_OF_BYTES if dtype == half.E4M3 else half.CHUNK
        return bool(K % chunk or N % half.CHUNK)

    def check_resident(self, A, B, C):
        half.check_aligned(A=A, B=B, C=C)

    def arguments(self, product, options):
        A, B, C = product.cpp_arguments()
        # N is the width of C as it lies in memory; what is beyond the real one is left out later.
        return A, B, C, *half.int32s(product.M, C.shape[1], product.K, A.shape[1])

    def macros(self, product=None):
        return product.macros if product else {"BF16": 0, "HALF_C": 0}

    def formats(self, product=None):
        if product is None:
            return {"dtype": self.dtypes[-1], "out_dtype": "float32"}
        return {"dtype": product.format, "out_dtype": half.dtype_of(product)}

    def numba_arguments(self, product, options):
        return self.arguments(product, options)


# ---------------------------------------------------------------------------------------- Hopper

BM, BK = 128, 64
BOX_BYTES = 64 * 128  #: of a box of 64 rows by 128 bytes, in which C is stored
SMS = 132  #: of an H100 or H200, where no GPU is there to be asked


def sms() -> int:
    """Return how many SMs the GPU has."""
    return device().sms or SMS


def most_clusters(blocks: int, sms: int) -> int:
    """Return how many clusters of so many blocks work at once on so many SMs; at least one."""
    return max(1, sms // blocks)


@dataclass(frozen=True)
class HopperTiles(Options):
    """Tiles of 128 rows by `width` columns of C, 64 steps of K in each of several stages."""

    #: Pairs of tiles that fit into the 227 KB of shared memory per block, by the width of B's.
    stages = {128: 6, 256: 4}
    #: Boxes through which each consumer stores C.
    boxes = 0
    #: A producer and two consumers, each a warpgroup.
    block_dim = (384,)
    registers = 168

    @property
    def width(self) -> int:
        """Columns of C that a block computes at a time."""
        return self.BN

    @property
    def block_tile(self):
        return BM, self.width, BK

    @property
    def shared_bytes(self):
        """The ring of tiles, and the boxes for C."""
        return self.stages[self.width] * 2 * BK * (BM + self.width) + 2 * self.boxes * BOX_BYTES

    def model(self, M, N, K):
        """A is loaded once per column of tiles of C, B once per row of them."""
        return half.half_model(M, N, K, cdiv(M, BM), cdiv(N, self.width))


@dataclass(frozen=True, eq=False)
class HopperRung(HalfRung):
    """A rung that the TMA unit feeds: its kernel takes tensor maps of A and B."""

    needs: Capability = (9, 0)
    only: str = "its instructions are Hopper's alone"
    dynamic_shared: bool = True
    arch: str = "sm_90a"

    def arguments(self, product, options):
        A, B, C = product.cpp_arguments()
        map_A = tensor_map(A, BM, BK, product.format)
        map_B = tensor_map(B, BK, 64, product.format)
        return map_A, map_B, C, *half.int32s(product.M, C.shape[1], product.K)


def map_of_result(C):
    """Return the tensor map of C, stored in boxes of 64 rows by 128 bytes."""
    return tensor_map(C, 64, 128 // C.itemsize, half.dtype_of(C))

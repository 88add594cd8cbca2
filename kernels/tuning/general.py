"""Which general kernel multiplies a shape, with which tiles, and in how many parts of K.

The time of each is reckoned by a model with a few figures, `PACES`. They were fitted to its times
at shapes drawn at random, on an H100 with L2 emptied; on another GPU they go with its SMs, its
clock and its bandwidth. The model is there to choose: its seconds are right to some ten or twenty
per cent, and the versions differ by factors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp

from kernels.basics.data_sheets import Gpu
from kernels.host import cdiv
from kernels.host.rung import Rung, Values
from kernels.rungs.gemm_f16 import FAN
from kernels.rungs.order import GENERAL, LADDER

__all__ = ["seconds", "versions"]


@dataclass(frozen=True)
class Pace:
    """How fast a general kernel goes with some tiles.

    Attributes
    ----------
    rate : float
        Multiply-adds per clock of an SM that holds blocks enough.
    fill : float
        How soon that is: with n blocks on it, an SM goes at ``rate · (1 - exp(-fill · n))``.
    memory : float
        Share of the data sheet's bandwidth at which matrices come, where enough SMs ask for them.
    start : float
        Microseconds of a launch that does next to nothing.
    slow : float
        How much longer a multiply-add takes where rows begin on no 16-byte boundaries.
    parts, part : float
        Microseconds more where K is cut into parts, for each block that an SM computes one after
        the other, and for each part.
    loads : float
        Of the thin kernel: what an element of the long operand costs, in multiply-adds.
    reach : float
        How many SMs' share of the bandwidth one can have.
    late : float
        Microseconds more until the first tile has come, where rows begin on no such boundaries.
    each : float
        Microseconds of a block before and after its multiply-adds.
    """

    rate: float
    fill: float
    memory: float
    start: float
    slow: float
    parts: float
    part: float = 0.0
    loads: float = 0.0
    reach: float = 1.0
    late: float = 0.0
    each: float = 0.0


#: By rung, bytes of a number, and tiles (BM, BN, cluster); of the thin kernel instead of these by
#: whether numbers that lie side by side are steps of k, and PER.
PACES: dict[tuple, Pace] = {
    ("gemm_f16", 2, 64, 64, 1): Pace(622, 8, 0.675, 6.67, 3.99, 1.63, 0.169, 0, 4, 2.54, 0.852),
    ("gemm_f16", 2, 64, 128, 1): Pace(1090, 8, 0.771, 6.47, 5.94, 2.07, 0.473, 0, 4, 2.74, 1.27),
    ("gemm_f16", 2, 64, 256, 1): Pace(1440, 8, 0.816, 3.19, 8, 3.75, 0.829, 0, 4, 1, 3.12),
    ("gemm_f16", 2, 128, 64, 1): Pace(951, 8, 0.654, 6.6, 5.02, 2.12, 0.31, 0, 4, 2.7, 1.41),
    ("gemm_f16", 2, 128, 128, 1): Pace(1570, 8, 0.728, 4.72, 5.66, 3.03, 0.819, 0, 4, 3.94, 2.73),
    ("gemm_f16", 2, 128, 192, 1): Pace(1850, 8, 0.79, 2, 8, 3.6, 1.3, 0, 4, 1, 5),
    ("gemm_f16", 2, 128, 256, 1): Pace(1970, 8, 0.807, 0.3, 8, 4.24, 1.76, 0, 4, 1, 7.34),
    ("gemm_f16", 2, 128, 256, 2): Pace(1930, 8, 0.813, 0.3, 8, 4.77, 1.73, 0, 4, 1, 7.11),
    ("gemm_f32", 4, 16, 128, 1): Pace(66.9, 1.4, 0.90, 6.24, 1.13, 0.32, 0.09, 0, 3.14, 1.76, 0.99),
    ("gemm_f32", 4, 32, 64, 1): Pace(66.8, 1.49, 1.11, 6.25, 1.16, 0.13, 0.09, 0, 0.92, 1.3, 0.989),
    ("gemm_f32", 4, 64, 64, 1): Pace(78.2, 1.88, 0.811, 5.15, 1.1, 0, 0.14, 0, 4, 3.13, 2.36),
    ("gemm_f32", 4, 64, 128, 1): Pace(100, 1.29, 0.623, 4.63, 1.27, 0, 0.426, 0, 4, 5.19, 2.6),
    ("gemm_f32", 4, 128, 16, 1): Pace(48, 2.16, 0.52, 6, 1.17, 0, 0.0945, 0, 2.1, 1.7, 1.14),
    ("gemm_f32", 4, 128, 128, 1): Pace(96, 3.41, 0.271, 3.38, 1.07, 0, 0.533, 0, 4, 5.69, 6.31),
    ("gemm_f32", 4, 128, 256, 1): Pace(97.4, 8, 0.258, 0.3, 1.05, 6.63, 0.776, 0, 4, 15, 8),
    ("gemm_thin", 2, False, 2): Pace(18.7, 5.72, 1.01, 14.7, 1.19, 5.8, 0, 2.36),
    ("gemm_thin", 2, False, 4): Pace(20.1, 6.46, 0.938, 9.32, 1.31, 11.7, 0, 1.89),
    ("gemm_thin", 2, False, 8): Pace(15.5, 5.02, 0.705, 4.31, 3.77, 16.5, 0, 0.0398),
    ("gemm_thin", 2, True, 2): Pace(8.29, 2.6, 0.746, 3.84, 7.98, 3.08, 0, 0.14),
    ("gemm_thin", 2, True, 4): Pace(9.84, 2.64, 0.741, 24.5, 6.74, 1.06, 0, 0.568),
    ("gemm_thin", 2, True, 8): Pace(34.8, 3.79, 0.74, 9.82, 1.9, 5.42, 0, 54.6),
    ("gemm_thin", 4, False, 2): Pace(16.9, 1.51, 1.11, 14.8, 1.11, 1.9, 0, 4.27),
    ("gemm_thin", 4, False, 4): Pace(15.8, 2.49, 1.11, 12.1, 1.14, 4.98, 0, 3.38),
    ("gemm_thin", 4, False, 8): Pace(13, 5.24, 0.777, 11, 1.3, 7.51, 0, 1.3),
    ("gemm_thin", 4, True, 2): Pace(14.7, 2.2, 1.06, 5.18, 4.5, 1.6, 0, 0.238),
    ("gemm_thin", 4, True, 4): Pace(21.7, 2.93, 0.383, 9.89, 3.06, 0.941, 0, 1.17),
    ("gemm_thin", 4, True, 8): Pace(16.3, 4.36, 1, 10.5, 4.06, 1.75, 0, 0.437),
    ("stream_k",): Pace(2000, 1.03, 0.84, 13.9, 1.11, 0, 0.13),
}  # fmt: skip
#: Bytes per clock that an SM gets from L2, where tensor cores of all SMs ask for tiles.
L2_RATE = 32
#: Rows or columns, at most, of a product that is thin.
THIN = 8
#: Copies of rows to 16-byte boundaries: seconds of one, and share of the bandwidth.
COPY, COPYING = 4.5e-6, 0.72


def versions(dtype: str, M: int, N: int, K: int, batch: int, gpu: Gpu) -> Iterator[tuple]:
    """Yield (rung, engine, options) of every kernel that is worth reckoning for a shape."""
    size = _size(dtype)
    for rung in GENERAL.values():
        if dtype not in rung.dtypes or rung.missing(dtype):
            continue
        if rung.name == "gemm_thin":
            few, many = sorted((M, N))
            for tiles in rung.chosen("numba") if few <= THIN else ():
                T, rows = _strip(tiles, size, M, N)
                blocks = batch * cdiv(many, rows) * cdiv(few, T)
                for split in _splits(blocks, K // 256, gpu):
                    yield rung, "numba", tiles | {"T": T, "split": split}
            continue
        for tiles in rung.chosen("numba"):
            BM, BN, BK = rung.Options(**tiles).block_tile
            blocks = batch * cdiv(M, BM) * cdiv(N, BN)
            for split in _splits(blocks, K // (2 * BK), gpu):
                yield rung, "numba", tiles | {"split": split}
    rung = LADDER["stream_k"]
    if size == 2 and batch == 1 and not rung.missing(dtype):
        yield rung, "cpp", rung.default("cpp")


def _splits(blocks: int, most: int, gpu: Gpu) -> list[int]:
    """As many parts of K as SMs have room for, and some between."""
    quarters = (1, 2, 4, 8, 12, 16)
    wanted = {1, 2, 4, 8, *(n * gpu.sms // (4 * blocks) for n in quarters)}
    return sorted(n for n in wanted if 1 <= n <= max(1, most))


def _size(dtype: str) -> int:
    return 4 if dtype == "float32" else 2


def _strip(options: Values, size: int, M: int, N: int) -> tuple[int, int]:
    """What a block of the thin kernel computes: rows or columns of what is short, and of the other.

    Matrices are taken to lie by rows.
    """
    T = min(options["T"], 1 << (min(M, N) - 1).bit_length())
    return T, options["PER"] if N < M else 32 * 16 // size


def seconds(
    rung: Rung, options: Values, M: int, N: int, K: int, dtype: str, batch: int, gpu: Gpu
) -> float:
    """About how long a kernel takes for `batch` products of matrices that lie by rows."""
    size, split = _size(dtype), options.get("split", 1)
    chunk = 16 // size
    odd_A, odd_B = K % chunk > 0, N % chunk > 0
    odd, copied, left, from_L2 = float(odd_A or odd_B), 0, 0.0, 0.0
    if rung.name == "gemm_thin":
        pace = PACES[rung.name, size, N < M, options["PER"]]
        T, rows = _strip(options, size, M, N)
        few, many = sorted((M, N))
        blocks = batch * cdiv(many, rows) * cdiv(few, T) * split
        work = rows * (T + pace.loads) * cdiv(K, split)
        odd, left = float(odd_A if N < M else odd_B), 8 * batch * M * N * split / gpu.bandwidth
    elif rung.name == "stream_k":  # every SM has as much of the work
        pace, blocks = PACES[rung.name,], gpu.sms
        tiles = cdiv(M, 128) * cdiv(N, 256)
        work = 128 * 256 * tiles * K / blocks
        from_L2 = size * K * (128 + 128) * tiles
        split = max(1, blocks // tiles)  # its last block adds up those of all
        copied = 1
    else:
        BM, BN, _ = rung.Options(**options).block_tile
        cluster = options.get("cluster", 1)
        pace = PACES[rung.name, size, BM, BN, cluster]
        blocks = batch * cdiv(M, BM * cluster) * cluster * cdiv(N, BN) * split
        work = BM * BN * cdiv(K, split)
        if size == 2:
            from_L2 = 2 * cdiv(K, split) * (BM + BN / cluster) * blocks
            odd = (BM * odd_A + BN * odd_B) / (BM + BN)  # of a block's elements
            copied = batch > 1 or not rung.Options(**options).moves
    if copied:
        odd = 0.0
    own = cdiv(blocks, gpu.sms)  # blocks of the busiest SM
    rate = pace.rate * 1e6 * gpu.boost_mhz * (1 - exp(-pace.fill * min(own, 8)))
    compute = own * work / rate * (1 + (pace.slow - 1) * odd)
    moved = size * batch * (M * K + K * N + M * N)
    memory = moved / (pace.memory * gpu.bandwidth * min(1, pace.reach * blocks / gpu.sms))
    near = from_L2 / (L2_RATE * 1e6 * gpu.boost_mhz * gpu.sms)
    found = (compute**3 + memory**3 + near**3) ** (1 / 3)
    found += 1e-6 * (pace.start + pace.late * (odd > 0) + own * pace.each)
    if split > 1:
        apart, added = 1 if rung.name == "gemm_thin" else own, split
        if rung.name == "gemm_f16" and split > FAN:  # added up twice
            apart, added = 2 * apart, FAN + cdiv(split, FAN)
        found += 1e-6 * (apart * pace.parts + added * pace.part) + left
    if copied and (odd_A or odd_B):
        elements = M * K * odd_A + K * N * odd_B
        found += batch * COPY * (odd_A + odd_B)
        found += 2 * size * batch * elements / (COPYING * gpu.bandwidth)
    return found

"""The gradients of fused attention for Hopper, in 16 bits: the TMA unit copies, `wgmma` multiplies.

For sm_90a. Two kernels from one template, as in `kernels.primitives.attention_backward`: a block
owns 64 queries and finds dQ, or 64 keys and finds dK and dV, and walks along all tiles of the
others. Either way it computes scores anew, with its own rows as rows:

    own      others   P = exp(…)        dP          sums
    Q, dO    K, V     Q·Kᵀ/√D - lse     dO·Vᵀ       dQ = dS·K/√D
    K, V     Q, dO    K·Qᵀ/√D - lse     V·dOᵀ       dK = dS·Q/√D, dV = P·dO

with dS = P ∘ (dP - delta). P and dS go from the sums of one product into the next as its operand A,
in registers. Sums are in float32, no two blocks add to the same element, and every run gives the
same bits.
"""

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from kernels import ptx
from kernels.backend import cuda, float32, uint8, uint32, uint64
from kernels.backend.vector import unrolled
from kernels.host import cdiv, check_grid, half
from kernels.host.follow import prepared
from kernels.host.tma import tensor_map

__all__ = ["ROWS", "THREADS", "blocks_of", "launcher", "make_gradients_wgmma", "shared_bytes_of"]

ROWS = 64  #: that a block owns, and of a tile
STAGES = 2  #: tiles of each of the others that a block has in shared memory
THREADS = 128  #: one warpgroup
PANEL = ROWS * 128  # bytes: 64 columns of a tile
SCORES, STEPS = ROWS // 2, ROWS // 16  # of a thread; products of 16 rows each
BARRIERS, NUMBERS = 1 + STAGES, STAGES * THREADS
ALL = 0xFFFFFFFF  # the lanes of a warp, a bit each
HIDDEN = float32(-math.inf)  # the score of a key not seen
LOG2_E = float32(math.log2(math.e))


@cache
def make_gradients_wgmma(D=64, causal=False, dtype="bfloat16", of_keys=False, blocks=0):
    """Return the Numba kernel of dQ, or of dK and dV.

    Launched ``(own_1, own_2, other_1, other_2, dO, O, lse, delta, first, second, M, N, shared,
    scale)``. The first four are tensor maps: of Q, dO, K and V, or with `of_keys` of K, V, Q and
    dO. There are M queries and N keys, and `shared` heads of Q have those of one of K and V; O is
    what the forward pass returned and `lse` what it kept of each query. The kernel of dQ writes
    `first`, which is dQ, and `delta`, which that of dK (`first`) and dV (`second`) reads.
    """
    PANELS = D // 64
    TILE = PANELS * PANEL  # bytes
    RESULTS = D // 2  # of a thread
    WORDS = D // 16  # of 16 bytes, in half a row
    multiply_rows = ptx.wgmma(ROWS, dtype, transposed_B=False)
    multiply_tile = ptx.wgmma(D, dtype, "registers")
    pack = ptx.cvt_rn_bf16x2 if dtype == "bfloat16" else ptx.cvt_rn_f16x2

    @cuda.jit(device=True, inline="always")
    def dot(a, b):
        # Of two numbers of 16 bits in each word.
        if dtype == "bfloat16":
            low = ptx.uint_as_float(uint32(a << uint32(16)))
            low *= ptx.uint_as_float(uint32(b << uint32(16)))
            high = ptx.uint_as_float(uint32(a & uint32(0xFFFF0000)))
            return low + high * ptx.uint_as_float(uint32(b & uint32(0xFFFF0000)))
        a0, a1 = ptx.cvt_f32_f16x2(a)
        b0, b1 = ptx.cvt_f32_f16x2(b)
        return a0 * b0 + a1 * b1

    @cuda.jit(device=True, inline="always")
    def load_rows(to, map, row, head, barrier):
        for panel in range(PANELS):
            place = to + panel * PANEL
            ptx.cp_async_bulk_tensor_3d_load(place, map, 64 * panel, row, head, barrier)

    @cuda.jit(device=True, inline="always")
    def place_of(array, head, row):
        # Where a row of a head begins.
        return ptx.global_address(array) + uint64(head * array.strides[0] + row * array.strides[1])

    @cuda.jit(device=True, inline="always")
    def start_rows(s, own, other):
        # Start the product of the own rows with all rows of a tile.
        ptx.wgmma_fence()
        for d in range(0, D, 16):
            column = d // 64 * PANEL + d % 64 * 2
            a = ptx.matrix_descriptor(own + column, 16)
            b = ptx.matrix_descriptor(other + column, 16)
            multiply_rows(s, a, b, d)  # the first wgmma overwrites the scores (scale-d = 0)
        unrolled()
        ptx.wgmma_commit_group()

    @cuda.jit(device=True, inline="always")
    def add_tile(sums, p, other):
        # Start adding the rows of a tile, weighted.
        for row in range(0, ROWS, 16):
            b = ptx.matrix_descriptor(other + row * 128, PANEL)
            multiply_tile(sums, p[row // 16], b, 1)
        unrolled()

    @cuda.jit(device=True, inline="always")
    def rounded(p, s):
        # Rounded to 16 bits, as wgmma wants its A.
        for i in range(ROWS // 4):
            p[i // 4, i % 4] = pack(s[2 * i], s[2 * i + 1])
        unrolled()

    @cuda.jit(device=True, inline="always")
    def store_rows(to, sums, factor, row, head, count, lane):
        place = head * count + row
        for j in range(D // 8):
            col = 8 * j + lane % 4 * 2
            if row < count:
                ptx.store_pair(to, place, col, sums[4 * j] * factor, sums[4 * j + 1] * factor)
            if row + 8 < count:
                x, y = sums[4 * j + 2] * factor, sums[4 * j + 3] * factor
                ptx.store_pair(to, place + 8, col, x, y)
        unrolled()

    @cuda.jit(launch_bounds=(THREADS, blocks or blocks_of(D, of_keys)))
    def gradients_wgmma(
        own_1, own_2, other_1, other_2, dO, O, lse, delta, first, second, M, N, shared, scale  # noqa: E741
    ):  # fmt: skip
        tiles = cuda.shared.array(0, uint8, alignment=1024)
        barriers = cuda.shared.array(BARRIERS, uint64)
        near = cuda.shared.array(NUMBERS, float32)  # lse and delta of a tile's queries
        own = ptx.shared_address(tiles)
        ring = own + 2 * TILE
        full_own = ptx.shared_address(barriers)
        full = full_own + 8
        tid = uint32(cuda.threadIdx.x)
        lane, warp = uint32(tid % 32), uint32(tid // 32)
        # Under a causal mask the last queries, and the first keys, have most to do: they start
        # first, of all heads.
        head = cuda.blockIdx.x
        block = cuda.blockIdx.y if of_keys else cuda.gridDim.y - 1 - cuda.blockIdx.y
        row0, more = block * ROWS, N - M
        begin, end = 0, (M if of_keys else N)
        if causal:
            if of_keys:
                begin = max(0, row0 - more) // ROWS
            else:
                end = min(N, row0 + ROWS + more)
        count = (end + ROWS - 1) // ROWS - begin
        steps = count * shared if of_keys else count

        if tid == 0:
            ptx.mbarrier_init(full_own, 1)
            for slot in range(STAGES):
                ptx.mbarrier_init(full + 8 * slot, 1)
            ptx.fence_mbarrier_init()
            ptx.mbarrier_arrive_expect_tx(full_own, 2 * TILE)
            load_rows(own, own_1, row0, head, full_own)
            load_rows(own + TILE, own_2, row0, head, full_own)
            for n in range(min(STAGES, steps)):
                turn = n // count
                other = head * shared + turn if of_keys else head // shared
                at, bar = ring + n * 2 * TILE, full + 8 * n
                place = (begin + n - turn * count) * ROWS
                ptx.mbarrier_arrive_expect_tx(bar, 2 * TILE)
                load_rows(at, other_1, place, other, bar)
                load_rows(at + TILE, other_2, place, other, bar)

        s, t = cuda.local.array(SCORES, float32), cuda.local.array(SCORES, float32)
        p, q = cuda.local.array((STEPS, 4), uint32), cuda.local.array((STEPS, 4), uint32)
        sums, of_V = cuda.local.array(RESULTS, float32), cuda.local.array(RESULTS, float32)
        log, mean = cuda.local.array(2, float32), cuda.local.array(2, float32)
        for i in range(RESULTS):
            sums[i] = float32(0)
            of_V[i] = float32(0)
        unrolled()
        row = row0 + 16 * warp + lane // 4  # the upper of this thread's two
        if of_keys:
            query = begin * ROWS + tid % 64
            value = float32(0)
            if query < M:
                place = head * shared * M + query
                value = lse[place] * LOG2_E if tid < 64 else delta[place]
            near[tid] = value
        else:
            # Σ dO·O of each row: two threads share one.
            total, query = float32(0), row0 + tid // 2
            if query < M:
                half = uint64(tid % 2 * D)
                place_G = place_of(dO, head, query) + half
                place_O = place_of(O, head, query) + half
                for i in range(WORDS):
                    a0, a1, a2, a3 = ptx.ld_global_v4_u32(place_G + uint64(16 * i))
                    b0, b1, b2, b3 = ptx.ld_global_v4_u32(place_O + uint64(16 * i))
                    total += dot(a0, b0) + dot(a1, b1) + dot(a2, b2) + dot(a3, b3)
                unrolled()
            total += cuda.shfl_xor_sync(ALL, total, 1)
            if tid % 2 == 0:
                near[tid // 2] = total
                if query < M:
                    delta[head * M + query] = total
        cuda.syncthreads()
        if not of_keys:
            for r in range(2):
                query = row + 8 * r
                log[r] = lse[head * M + query] * LOG2_E if query < M else float32(0)
                mean[r] = near[16 * warp + lane // 4 + 8 * r]
            unrolled()

        factor = scale * LOG2_E
        ptx.mbarrier_wait_parity(full_own, 0)
        for n in range(steps):
            slot, parity = n % STAGES, n // STAGES % 2
            turn = n // count
            col0 = (begin + n - turn * count) * ROWS
            at = ring + slot * 2 * TILE
            ptx.mbarrier_wait_parity(full + 8 * slot, parity)
            start_rows(s, own, at)
            start_rows(t, own + TILE, at + TILE)
            after = float32(0)
            if of_keys and n + 1 < steps:  # on its way meanwhile
                turn = (n + 1) // count
                query = (begin + n + 1 - turn * count) * ROWS + tid % 64
                if query < M:
                    place = (head * shared + turn) * M + query
                    after = lse[place] * LOG2_E if tid < 64 else delta[place]
            ptx.wgmma_wait_group(1, s, SCORES)
            if of_keys:
                if col0 + ROWS > M or (causal and row0 + ROWS > col0 + 1 + more):
                    for i in range(SCORES):
                        query = col0 + i // 4 * 8 + i % 2 + lane % 4 * 2
                        key = row + i % 4 // 2 * 8
                        if query >= M or (causal and key > query + more):
                            s[i] = HIDDEN
                    unrolled()
            elif col0 + ROWS > N or (causal and col0 + ROWS > row0 + 1 + more):
                for i in range(SCORES):
                    key = col0 + i // 4 * 8 + i % 2 + lane % 4 * 2
                    query = row + i % 4 // 2 * 8
                    if key >= N or (causal and key > query + more):
                        s[i] = HIDDEN
                unrolled()
            for i in range(SCORES):
                if of_keys:
                    shift = near[slot * THREADS + i // 4 * 8 + i % 2 + lane % 4 * 2]
                else:
                    shift = log[i % 4 // 2]
                s[i] = ptx.ex2_approx(s[i] * factor - shift)
            unrolled()
            ptx.wgmma_wait_group(0, t, SCORES)
            for i in range(SCORES):
                if of_keys:
                    shift = near[slot * THREADS + 64 + i // 4 * 8 + i % 2 + lane % 4 * 2]
                else:
                    shift = mean[i % 4 // 2]
                t[i] = s[i] * (t[i] - shift)
            unrolled()
            rounded(q, t)
            if of_keys:
                rounded(p, s)
            ptx.wgmma_fence()
            add_tile(sums, q, at)
            if of_keys:
                add_tile(of_V, p, at + TILE)
            ptx.wgmma_commit_group()
            if of_keys:
                near[(slot ^ 1) * THREADS + tid] = after
            ptx.wgmma_wait_group(0, sums, RESULTS)
            if of_keys:
                ptx.wgmma_wait_group(0, of_V, RESULTS)
            cuda.syncthreads()
            if tid == 0 and n + STAGES < steps:
                turn = (n + STAGES) // count
                other = head * shared + turn if of_keys else head // shared
                place = (begin + n + STAGES - turn * count) * ROWS
                ptx.mbarrier_arrive_expect_tx(full + 8 * slot, 2 * TILE)
                load_rows(at, other_1, place, other, full + 8 * slot)
                load_rows(at + TILE, other_2, place, other, full + 8 * slot)

        store_rows(first, sums, scale, row, head, N if of_keys else M, lane)
        if of_keys:
            store_rows(second, of_V, float32(1), row, head, N, lane)

    return gradients_wgmma


def blocks_of(D: int, of_keys: bool) -> int:
    """Return how many blocks share a multiprocessor: as many as have registers."""
    return 2 if D == 128 else 4 - of_keys


def shared_bytes_of(D: int) -> int:
    """Return the bytes of shared memory that a block asks for: its own tiles, and a ring."""
    return 2 * D * ROWS * (2 + 2 * STAGES)


def launcher(
    Q, K, V, dO, O, lse, delta, dQ, dK, dV, causal: bool  # noqa: E741
) -> Callable[[], object]:  # fmt: skip
    """Return a function that launches both kernels.

    Parameters
    ----------
    Q, dO, O, dQ : cupy.ndarray of 16 bits, shape (heads, M, D)
        D is 64 or 128. O is what the forward pass returned, dQ is written. Elements of a row are
        neighbours, rows begin on 16-byte boundaries; dQ is contiguous, as are those that follow but
        K and V.
    K, V, dK, dV : cupy.ndarray of 16 bits, shape (kv_heads, N, D)
        Consecutive heads of Q share one of theirs; under a causal mask N is at least M.
    lse, delta : cupy.ndarray of float32, shape (heads, M)
        What the forward pass kept of each query; room for as much.
    causal : bool
        Whether query i sees only keys 0 to i + N - M.
    """
    (heads, M, D), (kv_heads, N, _) = Q.shape, K.shape
    dtype = half.dtype_of(Q)
    map_Q, map_K, map_V, map_G = (tensor_map(x, ROWS, 64, dtype) for x in (Q, K, V, dO))
    sizes = map(np.int32, (M, N, heads // kv_heads))
    near = dO, O, lse.reshape(-1), delta.reshape(-1)
    numbers = *sizes, np.float32(1 / math.sqrt(D))
    dQ, dK, dV = (x.reshape(-1, D) for x in (dQ, dK, dV))
    launches = [
        prepared(
            make_gradients_wgmma(D, causal, dtype, of_keys),
            check_grid(number, cdiv(count, ROWS)), (THREADS,), (*maps, *near, *results, *numbers),
            shared_bytes_of(D),
        )
        for of_keys, number, count, maps, results in (
            (False, heads, M, (map_Q, map_G, map_K, map_V), (dQ, dQ)),
            (True, kv_heads, N, (map_K, map_V, map_Q, map_G), (dK, dV)),
        )
    ]  # fmt: skip
    return lambda: [launch() for launch in launches]

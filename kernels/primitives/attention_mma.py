"""Fused attention on tensor cores as Ampere has them, in Numba: one tile at a time, no pipeline.

For sm_80 on. A warp owns 16 queries, a block 64 of one head. Queries, scores, weights and results
lie in registers as fragments of `mma`; only tiles of K and V lie in shared memory. Its C++
counterpart, ``attention.cu``, copies the next tile meanwhile, and has larger tiles.
"""

import math
from functools import cache

from kernels import ptx
from kernels.backend import cuda, float32, uint8, uint32, uint64
from kernels.backend.vector import unrolled

WARPS = 4  #: of a block
THREADS = 32 * WARPS
QUERIES = 16 * WARPS  #: of a block
KEYS = 64  #: of a tile
ALL = 0xFFFFFFFF  # the lanes of a warp, a bit each
HIDDEN = float32(-math.inf)  # the score of a key not seen


@cache
def make_attention_mma(D=64, causal=False, dtype="bfloat16"):
    """Return the Numba kernel, launched ``(Q, K, V, O, N, scale)``.

    Q, K, V and O are matrices of heads · N rows of D elements, 64 or 128, of 16 bits; `scale` is
    that of the scores, times log2(e): powers are of 2.
    """
    CHUNKS, ROW = D // 8, 2 * D  # of a row: 16 bytes each; bytes
    TILE = KEYS * ROW  # bytes
    STEPS = D // 16  # of mma, along a head
    SPANS, COLUMNS = KEYS // 8, D // 8  # results of 8 keys, and of 8 columns
    COPIES = KEYS * CHUNKS // THREADS  # of a thread
    multiply_add = ptx.mma(16, dtype)
    pack = ptx.cvt_rn_bf16x2 if dtype == "bfloat16" else ptx.cvt_rn_f16x2

    @cuda.jit(device=True, inline="always")
    def place(tile, row, chunk):
        # Chunk c of row r lies at c ^ r % 8: no bank conflicts, as in `mma`.
        turned = uint32(uint32(chunk) ^ uint32(uint32(row) % 8))
        return uint32(tile + uint32(uint32(row) * ROW) + uint32(16 * turned))

    @cuda.jit(device=True, inline="always")
    def load_rows(tile, source, row0, N, tid):
        # 64 rows of a head; what lies beyond its end becomes zeros.
        for i in range(COPIES):
            row, chunk = (tid + i * THREADS) // CHUNKS, (tid + i * THREADS) % CHUNKS
            at = source + uint64((row0 + row) * ROW + 16 * chunk)
            ptx.cp_async_16(place(tile, row, chunk), at, 16 if row0 + row < N else 0)
        unrolled()
        ptx.cp_async_commit_group()

    @cuda.jit(launch_bounds=(THREADS, 1))
    def attention_mma(Q, K, V, O, N, scale):  # noqa: E741
        tiles = cuda.shared.array(0, uint8, alignment=128)
        sK = ptx.shared_address(tiles)
        sV = uint32(sK + TILE)
        tid = uint32(cuda.threadIdx.x)
        lane, warp = uint32(tid % 32), uint32(tid // 32)
        head, first = cuda.blockIdx.y, cuda.blockIdx.x * QUERIES
        start = uint64(head * N) * uint64(ROW)
        from_K, from_V = ptx.global_address(K) + start, ptx.global_address(V) + start
        q = cuda.local.array((STEPS, 4), uint32)
        s = cuda.local.array((SPANS, 4), float32)
        p = cuda.local.array(4, uint32)
        o = cuda.local.array((COLUMNS, 4), float32)
        b, c = cuda.local.array(2, uint32), cuda.local.array(2, uint32)
        largest, total = cuda.local.array(2, float32), cuda.local.array(2, float32)
        rescale = cuda.local.array(2, float32)
        for j in range(COLUMNS):
            for i in range(4):
                o[j, i] = float32(0)
            unrolled()
        unrolled()
        for r in range(2):
            largest[r], total[r] = HIDDEN, float32(0)
        unrolled()

        # The queries become fragments once. Until then their tile lies where K's will.
        load_rows(sK, ptx.global_address(Q) + start, first, N, tid)
        ptx.cp_async_wait_group(0)
        cuda.syncthreads()
        for step in range(STEPS):
            at = place(sK, 16 * warp + lane % 16, 2 * step + lane // 16)
            q[step, 0], q[step, 1], q[step, 2], q[step, 3] = ptx.ldmatrix_x4(at)
        unrolled()
        cuda.syncthreads()

        query = first + 16 * warp + lane // 4  # the upper of this thread's two rows
        end = min(N, first + QUERIES) if causal else N
        for key0 in range(0, end, KEYS):
            load_rows(sK, from_K, key0, N, tid)
            load_rows(sV, from_V, key0, N, tid)
            ptx.cp_async_wait_group(0)
            cuda.syncthreads()

            # Scores of 16 queries and 64 keys: rows of K are columns of its transpose.
            for j in range(SPANS):
                for i in range(4):
                    s[j, i] = float32(0)
                unrolled()
            unrolled()
            for step in range(STEPS):
                for j in range(0, SPANS, 2):
                    at = place(sK, 8 * j + lane // 16 * 8 + lane % 8, 2 * step + lane // 8 % 2)
                    b[0], b[1], c[0], c[1] = ptx.ldmatrix_x4(at)
                    multiply_add(s[j], q[step], b)
                    multiply_add(s[j + 1], q[step], c)
                unrolled()
            unrolled()
            if key0 + KEYS > N or (causal and key0 + KEYS > first):
                for j in range(SPANS):
                    for i in range(4):
                        key = key0 + 8 * j + lane % 4 * 2 + i % 2
                        if key >= N or (causal and key > query + i // 2 * 8):
                            s[j, i] = HIDDEN
                    unrolled()
                unrolled()

            # Scores become weights. The four threads of a row agree on its maximum.
            for r in range(2):
                above = largest[r]
                for j in range(SPANS):
                    above = max(above, max(s[j, 2 * r], s[j, 2 * r + 1]))
                unrolled()
                above = max(above, cuda.shfl_xor_sync(ALL, above, 1))
                above = max(above, cuda.shfl_xor_sync(ALL, above, 2))
                rescale[r] = ptx.ex2_approx((largest[r] - above) * scale)
                largest[r] = above
                total[r] *= rescale[r]
                for j in range(SPANS):
                    for i in range(2 * r, 2 * r + 2):
                        s[j, i] = ptx.ex2_approx((s[j, i] - above) * scale)
                        total[r] += s[j, i]  # of this thread's keys; added up at the end
                    unrolled()
                unrolled()
            unrolled()
            for j in range(COLUMNS):
                for i in range(4):
                    o[j, i] *= rescale[i // 2]
                unrolled()
            unrolled()

            # Accumulators of two results, rounded to 16 bits, are an operand A of 16 keys.
            for step in range(KEYS // 16):
                for i in range(4):
                    j, k = 2 * step + i // 2, i % 2 * 2
                    p[i] = pack(s[j, k], s[j, k + 1])
                unrolled()
                for j in range(0, COLUMNS, 2):
                    at = place(sV, 16 * step + lane % 16, j + lane // 16)
                    b[0], b[1], c[0], c[1] = ptx.ldmatrix_x4_trans(at)
                    multiply_add(o[j], p, b)
                    multiply_add(o[j + 1], p, c)
                unrolled()
            unrolled()
            # The tiles must not be replaced before every warp has used them.
            cuda.syncthreads()

        for r in range(2):
            total[r] += cuda.shfl_xor_sync(ALL, total[r], 1)
            total[r] += cuda.shfl_xor_sync(ALL, total[r], 2)
        unrolled()
        for j in range(COLUMNS):
            col = 8 * j + lane % 4 * 2
            if query < N:
                ptx.store_pair(O, head * N + query, col, o[j, 0] / total[0], o[j, 1] / total[0])
            if query + 8 < N:
                ptx.store_pair(O, head * N + query + 8, col, o[j, 2] / total[1], o[j, 3] / total[1])
        unrolled()

    return attention_mma


def shared_bytes_of(D: int) -> int:
    """Return the bytes of shared memory that a block asks for: a tile of K and one of V."""
    return 2 * KEYS * 2 * D

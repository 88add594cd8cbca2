"""Fused attention for Hopper: the TMA unit copies tiles, `wgmma` multiplies them.

For sm_90a. A block takes 128 queries of one head, then others: a producer fills two rings with
tiles of K and V, and each of two consumers, warpgroups of 64 queries, empties them. Products and
softmax overlap twice. While a tile's values are added up, a consumer takes the softmax of the next
one's scores. And with heads of 128 the consumers alternate (ping-pong): one multiplies while the
other has its softmax. Or a block has one consumer, and two blocks share a multiprocessor: then the
one's copies and stores hide behind the other's work, which pays where there are few keys.

Sources: J. Shah and others, *FlashAttention-3: Fast and Accurate Attention with Asynchrony and
Low-precision*, arXiv:2407.08608; NVIDIA, *PTX ISA*, section on wgmma (register fragments).
"""

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from kernels import host, ptx
from kernels.backend import cuda, float32, int32, uint8, uint32, uint64
from kernels.backend.device import device
from kernels.backend.vector import unrolled
from kernels.host import cdiv, cpp
from kernels.host.follow import prepared
from kernels.host.tma import tensor_map
from kernels.primitives.softmax import LOWEST

KEYS = 128  #: of a tile of K or V
STAGES = 2  #: tiles of K, and of V, that a block has in shared memory
GROUP = 4  #: heads whose K and V share L2
ALL = 0xFFFFFFFF  # the lanes of a warp, a bit each
HIDDEN = float32(-math.inf)  # the score of a key not seen
LN2 = float32(math.log(2))
LEAST = float32(2.0**-126)


@cache
def make_attention_wgmma(
    D=128, causal=False, dtype="bfloat16", overlap=True, pingpong=True, oblique=False,
    consumers=2, stages=STAGES, parted=False,
):  # fmt: skip
    """Return the Numba kernel, launched ``(map_Q, map_K, map_V, O, lse, M, N, shared, heads,
    splits, span, scale)``.

    A head has M queries and N keys; `shared` heads of Q have those of one of K and V. Keys are cut
    into `splits` of `span` each, a multiple of 128, and `heads` counts every part. O is a tensor
    map of 16 rows and 64 columns; of parts (`parted`), a matrix of heads · M rows of D float32.
    `lse` gets, for each row, the logarithm of the sum of its exponentials. `scale` is that of the
    scores, times log2(e): powers are of 2.

    Without `overlap` a softmax waits for all products of its warpgroup. `oblique` is for a causal
    mask where a tile may hide all keys of a query: its diagonal crosses two tiles of a block, as
    N - M is no multiple of its 64 · `consumers` queries, or keys are cut.
    """
    QUERIES, THREADS = 64 * consumers, 128 * (1 + consumers)
    PANELS, PANEL, PANEL_Q = D // 64, KEYS * 128, QUERIES * 128  # 64 columns of a tile, in bytes
    TILE, TILE_Q = PANELS * PANEL, PANELS * PANEL_Q
    SCORES, STEPS = KEYS // 2, KEYS // 16  # of a thread; products of 16 keys each
    RESULTS = D // 2  # of a thread
    BARRIERS = 2 + 4 * stages
    BLOCKS = 3 - consumers  # of a multiprocessor, at the least
    FEW, MANY = (40, 232) if consumers == 2 else (24, 232)  # registers
    PINGPONG = pingpong and D == 128 and consumers == 2  # products of 64 columns are over too soon
    PENDING = 1 if overlap else 0  # products that may run beside a softmax
    START = LOWEST if oblique else HIDDEN  # oblique: the first tile may hide all keys of a query
    multiply_keys = ptx.wgmma(KEYS, dtype, transposed_B=False)
    multiply_values = ptx.wgmma(D, dtype, "registers")
    pack = ptx.cvt_rn_bf16x2 if dtype == "bfloat16" else ptx.cvt_rn_f16x2

    @cuda.jit(device=True, inline="always")
    def load_rows(to, map, row, head, barrier, panel_bytes):
        # Ask for a tile's rows of a head, panel by panel.
        ptx.mbarrier_arrive_expect_tx(barrier, PANELS * panel_bytes)
        for panel in range(PANELS):
            place = to + panel * panel_bytes
            ptx.cp_async_bulk_tensor_3d_load(place, map, 64 * panel, row, head, barrier)

    @cuda.jit(device=True, inline="always")
    def start_scores(s, queries, keys):
        # Start the product of 64 queries with all keys of a tile.
        ptx.wgmma_fence()
        for d in range(0, D, 16):
            column = d % 64 * 2
            q = ptx.matrix_descriptor(queries + d // 64 * PANEL_Q + column, 16)
            k = ptx.matrix_descriptor(keys + d // 64 * PANEL + column, 16)
            multiply_keys(s, q, k, d)  # the first wgmma overwrites the scores (scale-d = 0)
        unrolled()
        ptx.wgmma_commit_group()

    @cuda.jit(device=True, inline="always")
    def start_results(o, p, values):
        # Start adding the values of a tile, weighted, to the results.
        ptx.wgmma_fence()
        for key in range(0, KEYS, 16):
            v = ptx.matrix_descriptor(values + key * 128, PANEL)
            multiply_values(o, p[key // 16], v, 1)
        unrolled()
        ptx.wgmma_commit_group()

    @cuda.jit(device=True, inline="always")
    def hide(s, query, key, N):
        # Hide the keys beyond the end, or beyond the diagonal. `query` is the upper of the
        # thread's two rows, `key` the first of its keys.
        for i in range(SCORES):
            column, row = key + i // 4 * 8 + i % 2, query + i % 4 // 2 * 8
            if column >= N or (causal and column > row):
                s[i] = HIDDEN
        unrolled()

    @cuda.jit(device=True, inline="always")
    def softmax(s, largest, total, rescale, scale):
        # Scores become weights. The four threads of a row agree on its maximum; `rescale` is the
        # factor for all that was added under the old one.
        for r in range(2):
            above = largest[r]
            for j in range(KEYS // 8):
                above = max(above, max(s[4 * j + 2 * r], s[4 * j + 2 * r + 1]))
            unrolled()
            above = max(above, cuda.shfl_xor_sync(ALL, above, 1))
            above = max(above, cuda.shfl_xor_sync(ALL, above, 2))
            rescale[r] = ptx.ex2_approx((largest[r] - above) * scale)
            largest[r] = above
            shift, sum_ = above * scale, total[r] * rescale[r]
            for i in range(KEYS // 4):
                j = i // 2 * 4 + 2 * r + i % 2
                s[j] = ptx.ex2_approx(s[j] * scale - shift)
                sum_ += s[j]  # of this thread's keys; added up at the end
            unrolled()
            total[r] = sum_
        unrolled()

    @cuda.jit(device=True, inline="always")
    def round_weights(p, s):
        # Weights rounded to 16 bits: those of 16 keys lie in registers as wgmma wants its A.
        for i in range(KEYS // 4):
            p[i // 4, i % 4] = pack(s[2 * i], s[2 * i + 1])
        unrolled()

    @cuda.jit(device=True, inline="always")
    def multiply_rows(o, factor):
        # The upper row of a thread's results by one factor, the lower by another.
        for i in range(RESULTS):
            o[i] *= factor[i % 4 // 2]
        unrolled()

    @cuda.jit(device=True, inline="always")
    def place_of(job, blocks, heads, M, N, splits, span):
        # Which queries a job has. Under a causal mask the last have most to do: they come first,
        # those of a few heads together, so that the blocks at work at the same time find K and V
        # in L2.
        head0 = uint32(job // uint32(GROUP * blocks) * uint32(GROUP))
        width = min(uint32(GROUP), uint32(heads - head0))
        within = uint32(job - head0 * uint32(blocks))
        down = uint32(within // width)
        head = uint32(head0 + within - down * width)
        first = int32((blocks - 1 - down) * QUERIES)
        # The keys from `start` on. Under the mask the last query sees all, each before it one less.
        head_Q = uint32(head // uint32(splits))
        start = int32((head - head_Q * splits) * span)
        end = min(int32(N), int32(first + QUERIES + N - M)) if causal else int32(N)
        seen = max(min(int32(end - start), int32(span)), 1)
        # The last tile comes first: it alone has keys to hide.
        return int32(head), int32(head_Q), first, start, int32((seen - 1) // KEYS)

    @cuda.jit(launch_bounds=(THREADS, BLOCKS))
    def attention_wgmma(
        map_Q, map_K, map_V, O, lse, M, N, shared, heads, splits, span, scale  # noqa: E741
    ):  # fmt: skip
        tiles = cuda.shared.array(0, uint8, alignment=1024)
        barriers = cuda.shared.array(BARRIERS, uint64)
        sQ = ptx.shared_address(tiles)
        sK = sQ + TILE_Q
        sV = sK + stages * TILE
        # For Q, and for each slot of K and V, a barrier that says it is full, and one for empty: of
        # each warp of the consumers, or one that lags may miss a phase.
        full_Q = ptx.shared_address(barriers)
        empty_Q = full_Q + 8
        full_K, full_V = full_Q + 16, full_Q + 16 + 16 * stages
        empty_K, empty_V = full_K + 8 * stages, full_V + 8 * stages
        role, tid = cuda.threadIdx.x // 128, cuda.threadIdx.x % 128

        if cuda.threadIdx.x == 0:
            ptx.mbarrier_init(full_Q, 1)
            ptx.mbarrier_init(empty_Q, 4 * consumers)
            for slot in range(stages):
                ptx.mbarrier_init(full_K + 8 * slot, 1)
                ptx.mbarrier_init(empty_K + 8 * slot, 4 * consumers)
                ptx.mbarrier_init(full_V + 8 * slot, 1)
                ptx.mbarrier_init(empty_V + 8 * slot, 4 * consumers)
            ptx.fence_mbarrier_init()
        cuda.syncthreads()

        # A block takes every so manyth job, 64 or 128 queries of a head: its producer goes ahead
        # into the next one while its consumers are at work on this.
        blocks = uint32(uint32(M + QUERIES - 1) // uint32(QUERIES))
        jobs = int32(blocks * uint32(heads))
        slot, parity = uint32(0), uint32(0)  # parity: how often round the ring, modulo 2
        parity_Q = uint32(0)
        if role == 0:
            ptx.setmaxnreg_dec(FEW)
            if tid == 0:
                for job in range(int32(cuda.blockIdx.x), jobs, int32(cuda.gridDim.x)):
                    _, head, first, start, last = place_of(
                        uint32(job), blocks, heads, M, N, splits, span
                    )
                    ptx.mbarrier_wait_parity(empty_Q, parity_Q ^ 1)
                    load_rows(sQ, map_Q, first, head, full_Q, PANEL_Q)
                    parity_Q = uint32(parity_Q ^ 1)
                    # Consumers want the keys of the next tile before the values of this one.
                    before, parity_V = slot, parity
                    for n in range(last + 2):
                        if n <= last:
                            ptx.mbarrier_wait_parity(empty_K + 8 * slot, parity ^ 1)
                            row, to = start + (last - n) * KEYS, sK + slot * TILE
                            load_rows(to, map_K, row, head // shared, full_K + 8 * slot, PANEL)
                        if n > 0:
                            ptx.mbarrier_wait_parity(empty_V + 8 * before, parity_V ^ 1)
                            row, to = start + (last - n + 1) * KEYS, sV + before * TILE
                            load_rows(to, map_V, row, head // shared, full_V + 8 * before, PANEL)
                        before, parity_V = slot, parity
                        if n <= last:
                            slot = uint32(slot + 1)
                            if slot == stages:
                                slot, parity = uint32(0), uint32(parity ^ 1)
        else:
            ptx.setmaxnreg_inc(MANY)
            consumer, lane = role - 1, tid % 32
            upper = consumer * 64
            queries = sQ + upper * 128
            s = cuda.local.array(SCORES, float32)
            o = cuda.local.array(RESULTS, float32)
            p = cuda.local.array((STEPS, 4), uint32)
            largest = cuda.local.array(2, float32)
            total = cuda.local.array(2, float32)
            rescale = cuda.local.array(2, float32)
            for job in range(int32(cuda.blockIdx.x), jobs, int32(cuda.gridDim.x)):
                head, _, first, start, last = place_of(
                    uint32(job), blocks, heads, M, N, splits, span
                )
                query = first + upper + tid // 32 * 16 + lane // 4
                for i in range(RESULTS):
                    o[i] = float32(0)
                unrolled()
                largest[0], largest[1] = START, START
                total[0], total[1] = float32(0), float32(0)

                # Ping-pong: consumers issue products alternately, and while those of one run, the
                # other has its softmax. Consumer i waits at named barrier 1 + i.
                if PINGPONG and consumer == 1 and last > 0:
                    ptx.bar_arrive(1, 256)
                ptx.mbarrier_wait_parity(full_Q, parity_Q)
                parity_Q = uint32(parity_Q ^ 1)
                ptx.mbarrier_wait_parity(full_K + 8 * slot, parity)
                start_scores(s, queries, sK + slot * TILE)
                ptx.wgmma_wait_group(0, s, SCORES)
                if lane == 0:
                    ptx.mbarrier_arrive(empty_K + 8 * slot)
                hide(s, query + N - M - start, last * KEYS + lane % 4 * 2, N - start)
                softmax(s, largest, total, rescale, scale)
                round_weights(p, s)

                for n in range(1, last + 1):
                    before, parity_V = slot, parity
                    slot = uint32(slot + 1)
                    if slot == stages:
                        slot, parity = uint32(0), uint32(parity ^ 1)
                    # The scores of the next tile, and the results of this one.
                    if PINGPONG:
                        ptx.bar_sync(1 + consumer, 256)
                    ptx.mbarrier_wait_parity(full_K + 8 * slot, parity)
                    start_scores(s, queries, sK + slot * TILE)
                    ptx.mbarrier_wait_parity(full_V + 8 * before, parity_V)
                    start_results(o, p, sV + before * TILE)
                    if PINGPONG and (n < last or consumer == 0):  # after the last nobody waits
                        ptx.bar_arrive(2 - consumer, 256)

                    ptx.wgmma_wait_group(PENDING, s, SCORES)
                    if lane == 0:
                        ptx.mbarrier_arrive(empty_K + 8 * slot)
                    if oblique and n == 1:
                        hide(s, query + N - M - start, (last - 1) * KEYS + lane % 4 * 2, N - start)
                    softmax(s, largest, total, rescale, scale)
                    ptx.settle(s, SCORES)
                    # This phase is over already. But the compiler, which would wait for the results
                    # before the softmax, does not move either across this wait.
                    ptx.mbarrier_wait_parity(full_V + 8 * before, parity_V)
                    ptx.wgmma_wait_group(0, o, RESULTS)
                    if lane == 0:
                        ptx.mbarrier_arrive(empty_V + 8 * before)
                    multiply_rows(o, rescale)
                    round_weights(p, s)

                ptx.mbarrier_wait_parity(full_V + 8 * slot, parity)
                start_results(o, p, sV + slot * TILE)
                ptx.wgmma_wait_group(0, o, RESULTS)
                if lane == 0:
                    ptx.mbarrier_arrive(empty_V + 8 * slot)
                slot = uint32(slot + 1)
                if slot == stages:
                    slot, parity = uint32(0), uint32(parity ^ 1)

                for r in range(2):
                    total[r] += cuda.shfl_xor_sync(ALL, total[r], 1)
                    total[r] += cuda.shfl_xor_sync(ALL, total[r], 2)
                    # A part of the keys that a query does not see at all has no weight.
                    rescale[r] = float32(1) / max(total[r], LEAST)
                unrolled()
                multiply_rows(o, rescale)
                row = head * M + query
                if parted:
                    for j in range(D // 8):
                        col = 8 * j + lane % 4 * 2
                        if query < M:
                            ptx.store_pair(O, row, col, o[4 * j], o[4 * j + 1])
                        if query + 8 < M:
                            ptx.store_pair(O, row + 8, col, o[4 * j + 2], o[4 * j + 3])
                    unrolled()
                else:
                    # A warp's results go where its queries were, and from there to memory: nobody
                    # else reads these 16 rows.
                    place = queries + tid // 32 * 2048
                    for j in range(0, D // 8, 2):
                        chunk = (j % 8 + lane // 16) ^ (lane % 8)
                        ptx.stmatrix_x4(
                            place + j // 8 * PANEL_Q + lane % 16 * 128 + chunk * 16,
                            pack(o[4 * j], o[4 * j + 1]), pack(o[4 * j + 2], o[4 * j + 3]),
                            pack(o[4 * j + 4], o[4 * j + 5]), pack(o[4 * j + 6], o[4 * j + 7]),
                        )  # fmt: skip
                    unrolled()
                    ptx.fence_proxy_async()
                    cuda.syncwarp()
                    if lane == 0:
                        for panel in range(PANELS):
                            source = place + panel * PANEL_Q
                            at = first + upper + tid // 32 * 16
                            ptx.cp_async_bulk_tensor_3d_store(O, 64 * panel, at, head, source)
                        ptx.cp_async_bulk_commit_group()
                        ptx.cp_async_bulk_wait_group_read(0)
                for r in range(2):
                    if lane % 4 == 0 and query + 8 * r < M:
                        lse[row + 8 * r] = (largest[r] * scale) * LN2 + math.log(total[r])
                unrolled()
                if lane == 0:
                    ptx.mbarrier_arrive(empty_Q)
                cuda.syncwarp()  # what follows takes whole warps

    return attention_wgmma


def runs_on(capability: tuple[int, int] | None) -> bool:
    """Whether a GPU has the kernel's instructions: Hopper's alone, no later one has them."""
    return capability is not None and capability[0] == 9


def check_gpu(capability: tuple[int, int] | None, instead: str = "use wgmma=0") -> None:
    """Raise RuntimeError for a GPU without the kernel's instructions."""
    if capability is not None and not runs_on(capability):
        raise RuntimeError(
            f"attention_wgmma needs sm_90, this GPU is sm_{capability[0]}{capability[1]}: {instead}"
        )


def shared_bytes_of(D: int, consumers: int = 2, stages: int = STAGES) -> int:
    """Return the bytes of shared memory that a block asks for: a tile of Q, and two rings."""
    return 2 * D * (64 * consumers + 2 * stages * KEYS)


@cache
def make_merge(dtype):
    """Return the kernel that merges the splits of a query: a block each, a thread per element.

    Launched ``(parts, sums, O, lse, M, splits)``: results and logarithms of sums of the splits, and
    those of all keys.
    """

    @cuda.jit
    def merge(parts, sums, O, lse, M, splits):  # noqa: E741
        row, d = cuda.blockIdx.x, cuda.threadIdx.x
        first = row // M * splits * M + row % M
        largest = sums[first]
        for part in range(1, splits):
            largest = max(largest, sums[first + part * M])
        total, result = float32(0), float32(0)
        for part in range(splits):
            weight = math.exp(sums[first + part * M] - largest)
            total += weight
            result += weight * parts[first + part * M, d]
        if dtype == "bfloat16":
            O[row, d] = ptx.cvt_rn_bf16x2(result / total, float32(0)) & uint32(0xFFFF)
        else:
            O[row, d] = result / total
        if d == 0:
            lse[row] = largest + math.log(total)

    return merge


#: Queries from which on, under a causal mask, jobs differ too much to be dealt out beforehand.
LONG = 1024
#: Keys of a split, at the least: fewer take no less time.
LEAST_SPAN = 512


def consumers_of(D: int, N: int, causal: bool) -> int:
    """Return how many consumers a block has.

    One, and so two blocks on a multiprocessor, with heads of 64; with heads of 128 for few keys.
    """
    return 1 if D == 64 or N <= (256 if causal else 128) else 2


def splits_of(blocks: int, N: int, sms: int) -> tuple[int, int]:
    """Return in how many parts keys are cut so that all SMs have some, and the keys of a part."""
    wanted = max(1, min(sms // blocks, N // LEAST_SPAN))
    span = cdiv(cdiv(N, wanted), KEYS) * KEYS
    return cdiv(N, span), span


def launcher(operands, causal: bool, **options: bool) -> Callable[[], object]:
    """Return a function that launches the kernel on checked operands (`attention.Heads`).

    `options` are those of `make_attention_wgmma`; the C++ kernel has none.
    """
    D, M, N, heads = operands.D, operands.M, operands.N, operands.heads
    *inputs, O = operands.cpp_arguments()  # noqa: E741
    scale, format_ = np.float32(math.log2(math.e) / math.sqrt(D)), operands.format
    if operands.engine == "cpp":
        asked = shared_bytes_of(D)
        macros = {"D": D, "CAUSAL": int(causal), "HALF_C": 1, "BF16": int(format_ == "bfloat16")}
        kernel = cpp.load("attention_wgmma", shared_bytes=asked, arch="sm_90a", **macros)
        maps = [tensor_map(array, KEYS, 64, format_) for array in inputs]
        grid = host.check_grid(cdiv(M, 128), heads)
        launch = prepared(kernel, grid, (384,), (*maps, O, np.int32(N), scale), asked)
        # Tensor maps are bare addresses: `operands` keeps the arrays that lie there.
        return lambda held=operands: launch()
    shared, sms = operands.group, device().sms or 1
    if M == 1:  # sees all keys; heads that share theirs are queries of one head
        causal, inputs[0], M, shared = False, inputs[0].reshape(-1, shared, D), shared, 1
        heads = len(inputs[0])
    consumers = consumers_of(D, N, causal)
    stages = 1 if consumers == 1 and D == 128 else STAGES
    blocks, at_once = cdiv(M, 64 * consumers), (3 - consumers) * sms
    splits, span = splits_of(blocks * heads, N, at_once)
    heads *= splits
    maps = [
        tensor_map(array, rows, 64, format_)
        for array, rows in zip(inputs, (64 * consumers, KEYS, KEYS), strict=True)
    ]
    results = O.reshape(-1, D), operands.lse.reshape(-1)
    into = tensor_map(O.reshape(-1, M, D), 16, 64, format_), results[1]
    if splits > 1:
        into = operands.workspace((heads * M, D)), operands.workspace((heads * M,))
    kernel = make_attention_wgmma(
        D, causal, format_, oblique=causal and (splits > 1 or (N - M) % (64 * consumers) != 0),
        consumers=consumers, stages=stages, parted=splits > 1, **options,
    )  # fmt: skip
    sizes = map(np.int32, (M, N, shared, heads, splits, span))
    # Jobs of many sizes go to whoever is free: a block for each.
    each = causal and M > LONG
    grid = host.check_grid(blocks * heads if each else min(blocks * heads, at_once))
    asked = shared_bytes_of(D, consumers, stages)
    launch = prepared(kernel, grid, (128 * (1 + consumers),), (*maps, *into, *sizes, scale), asked)
    if splits == 1:
        return lambda held=operands: launch()
    rows, sizes = results[0].shape[0], map(np.int32, (M, splits))
    merge = prepared(make_merge(operands.format), (rows,), (D,), (*into, *results, *sizes))
    return lambda held=operands: (launch(), merge())

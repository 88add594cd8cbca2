// Tensor cores as in Ampere (sm_80): mma.sync fed by a pipeline of asynchronous copies.
// A block owns BM×BN elements of C, a warp WM×WN; STAGES pairs of tiles, BK deep, lie in
// shared memory: while one is multiplied, the others are on their way. A (M×K), B (K×N)
// and C (M×N) are row-major; K and N are multiples of 8, so that every row starts on a
// 16-byte boundary (the host sees to it).

#include "half.cuh"
#include "mma.cuh"

constexpr int WARPS_ACROSS = BN / WN, THREADS = 32 * (BM / WM) * WARPS_ACROSS;
constexpr int TILE_A = BM * BK * 2, TILE_B = BK * BN * 2, STAGE = TILE_A + TILE_B;  // bytes
constexpr int STEPS = BK / 16;        // of mma, k = 16 each, through one pair of tiles
// A thread copies the same 16-byte chunk of several rows of each tile, these many rows apart.
constexpr int CHUNKS_A = BK / 8, CHUNKS_B = BN / 8;
constexpr int APART_A = THREADS / CHUNKS_A, APART_B = THREADS / CHUNKS_B;
static_assert(STEPS % 2 == 0, "two sets of fragments take turns");
static_assert(BM % APART_A == 0 && BK % APART_B == 0, "all threads copy equally much");
// Blocks in flight should share rows of A and columns of B in the L2 cache: they go down
// GROUP tiles of C before they go one to the right.
constexpr int GROUP = 8;

// Where a 16-byte chunk of a tile lies, in bytes: rows follow each other without a gap, but
// the chunks of a row are permuted, so that the same chunk of 8 rows is in 8 different
// places of the 128 bytes that shared memory reads at once.
template <unsigned CHUNKS> __device__ inline unsigned place(unsigned row, unsigned chunk)
{
    const unsigned turn = CHUNKS < 8 ? row / (8 / CHUNKS) % CHUNKS : row % 8;
    return (row * CHUNKS + (chunk ^ turn)) * 16;
}

// 16 bytes from global to shared memory, past the registers; zeros where `inside` is false.
__device__ inline void copy_async(unsigned to, const Half *from, bool inside)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"(to), "l"(from), "r"(inside ? 16 : 0) : "memory");
}

__device__ inline void commit_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Wait until at most `pending` of this thread's groups of copies are still on their way.
template <int pending> __device__ inline void wait_for_copies()
{
    asm volatile("cp.async.wait_group %0;" :: "n"(pending) : "memory");
}

extern "C" __global__ void __launch_bounds__(THREADS)
mma(const Half *__restrict__ A, const Half *__restrict__ B, Result *__restrict__ C,
    int M, int N, int K, int pitch)
{
    extern __shared__ __align__(128) unsigned char stages[];
    const unsigned shared = shared_address(stages);
    const unsigned tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    const unsigned warp_row = warp / WARPS_ACROSS * WM, warp_col = warp % WARPS_ACROSS * WN;

    const int block = blockIdx.y * gridDim.x + blockIdx.x;
    const int first = block / (GROUP * gridDim.x) * GROUP;
    const int height = min(GROUP, int(gridDim.y) - first);
    const int within = block - first * gridDim.x;
    const int row0 = (first + within % height) * BM, col0 = within / height * BN;

    const unsigned row_A = tid / CHUNKS_A, chunk_A = tid % CHUNKS_A;
    const unsigned row_B = tid / CHUNKS_B, chunk_B = tid % CHUNKS_B;
    const Half *from_A = A + size_t(row0 + row_A) * pitch + chunk_A * 8;
    const Half *from_B = B + size_t(row_B) * N + col0 + chunk_B * 8;
    const bool inside_N = col0 + chunk_B * 8 < N;
    int copied = 0;                   // how far along K the copies have come
    auto copy_tiles = [&](int slot) {
        const unsigned to_A = shared + slot * STAGE, to_B = to_A + TILE_A;
        const bool inside_K = copied + chunk_A * 8 < K;
        #pragma unroll
        for (int i = 0; i < BM / APART_A; ++i)
            copy_async(to_A + place<CHUNKS_A>(row_A + i * APART_A, chunk_A),
                       from_A + size_t(i * APART_A) * pitch,
                       inside_K && row0 + row_A + i * APART_A < M);
        #pragma unroll
        for (int i = 0; i < BK / APART_B; ++i)
            copy_async(to_B + place<CHUNKS_B>(row_B + i * APART_B, chunk_B),
                       from_B + size_t(i * APART_B) * N,
                       inside_N && copied + row_B + i * APART_B < K);
        from_A += BK;
        from_B += size_t(BK) * N;
        copied += BK;
    };

    // Two sets of fragments: one is loaded while the other is multiplied.
    unsigned a[2][WM / 16][4], b[2][WN / 16][4];
    auto load_fragments = [&](int set, int slot, int step) {
        const unsigned sA = shared + slot * STAGE, sB = sA + TILE_A;
        #pragma unroll
        for (int i = 0; i < WM / 16; ++i)
            load_blocks(a[set][i], sA + place<CHUNKS_A>(warp_row + 16 * i + lane % 16,
                                                        2 * step + lane / 16));
        #pragma unroll
        for (int j = 0; j < WN / 16; ++j)
            load_blocks_transposed(b[set][j], sB + place<CHUNKS_B>(16 * step + lane % 16,
                                                     warp_col / 8 + 2 * j + lane / 16));
    };

    // Beyond the end of K copies bring zeros: the count of groups stays in step.
    #pragma unroll
    for (int tile = 0; tile < STAGES - 1; ++tile) {
        copy_tiles(tile);
        commit_copies();
    }
    wait_for_copies<STAGES - 2>();
    __syncthreads();
    load_fragments(0, 0, 0);

    float acc[WM / 16][WN / 8][4] = {};
    int slot = 0, slot_before = STAGES - 1;
    for (int k0 = 0; k0 < K; k0 += BK) {
        const int slot_after = slot + 1 < STAGES ? slot + 1 : 0;
        #pragma unroll
        for (int step = 0; step < STEPS; ++step) {
            if (step == 0) {
                // Where the tiles before these were: every warp has passed a barrier since.
                copy_tiles(slot_before);
                commit_copies();
            }
            if (step < STEPS - 1) {
                load_fragments((step + 1) % 2, slot, step + 1);
            } else {
                // The next pair of tiles: this thread's part is there, then everyone's.
                wait_for_copies<STAGES - 2>();
                __syncthreads();
                load_fragments(0, slot_after, 0);
            }
            #pragma unroll
            for (int i = 0; i < WM / 16; ++i)
                #pragma unroll
                for (int j = 0; j < WN / 8; ++j)
                    multiply_add(acc[i][j], a[step % 2][i], b[step % 2][j / 2] + j % 2 * 2);
        }
        slot_before = slot;
        slot = slot_after;
    }

    #pragma unroll
    for (int i = 0; i < WM / 16; ++i)
        #pragma unroll
        for (int j = 0; j < WN / 8; ++j) {
            const int row = row0 + warp_row + 16 * i + lane / 4;
            const int col = col0 + warp_col + 8 * j + lane % 4 * 2;
            if (row < M && col < N)
                store_pair(C + size_t(row) * N + col, acc[i][j][0], acc[i][j][1]);
            if (row + 8 < M && col < N)
                store_pair(C + size_t(row + 8) * N + col, acc[i][j][2], acc[i][j][3]);
        }
}

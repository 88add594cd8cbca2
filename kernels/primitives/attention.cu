// Fused attention on tensor cores from Ampere on (sm_80): O = softmax(Q·Kᵀ·scale)·V.
// A block owns QUERIES rows of Q and O of one head, a warp 16·TALL of them. Tiles of KEYS rows
// of K and V pass through two stages of shared memory: one is used while the other is on its
// way. Scores and weights stay in registers; no N×N matrix is stored anywhere.
// Q, K, V and O hold heads × N × D numbers of 16 bits, and begin on a 16-byte boundary.

#include "../rungs/half.cuh"
#include "../rungs/mma.cuh"
#include "power.cuh"

constexpr int CHUNKS = D / 8;                    // of 16 bytes in a row
constexpr int THREADS = 32 * WARPS, QUERIES = 16 * TALL * WARPS;
constexpr int TILE = KEYS * D * 2, STAGE = 2 * TILE;                  // bytes; of K and V
constexpr int APART = THREADS / CHUNKS;          // rows between a thread's chunks
// Fragments of 16 queries per warp fit into registers, so Q's tile lies where the second stage
// will be. Those of 32 do not: their tile stays, behind the stages.
constexpr bool HELD = TALL == 1;
constexpr int PLACE_Q = HELD ? STAGE : 2 * STAGE;
#define HIDDEN __int_as_float(0xFF800000)        // minus infinity: the score of a key not seen
static_assert(KEYS % APART == 0 && QUERIES % APART == 0, "all threads copy equally much");
static_assert(!HELD || QUERIES <= 2 * KEYS, "the tile of Q fits into a stage");

// Where a 16-byte chunk of a tile lies, in bytes: the chunks of a row are permuted, so that
// the same chunk of 8 rows is in 8 different places of the 128 bytes that are read at once.
__device__ inline unsigned place(unsigned row, unsigned chunk)
{
    return (row * CHUNKS + (chunk ^ row % 8)) * 16;
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

// The threads of a block ask for `rows` rows of a head from `first` on, as a tile at `to`.
template <int rows>
__device__ inline void copy_rows(unsigned to, const Half *head, int first, int N)
{
    const int row = threadIdx.x / CHUNKS, chunk = threadIdx.x % CHUNKS;
    #pragma unroll
    for (int i = row; i < row + rows; i += APART)
        copy_async(to + place(i, chunk), head + size_t(min(first + i, N - 1)) * D + chunk * 8,
                   first + i < N);
}

// The fragments of A for 16 rows from `row` on and columns 16·step to 16·step + 15.
__device__ inline void load_queries(unsigned (&a)[4], unsigned sQ, int row, int step)
{
    const unsigned lane = threadIdx.x % 32;
    load_blocks(a, sQ + place(row + lane % 16, 2 * step + lane / 16));
}

extern "C" __global__ void __launch_bounds__(THREADS)
attention(const Half *__restrict__ Q, const Half *__restrict__ K, const Half *__restrict__ V,
          Half *__restrict__ O, int N, float scale)   // scale · log2(e): powers are of 2
{
    extern __shared__ __align__(128) unsigned char stages[];
    const unsigned shared = shared_address(stages), sQ = shared + PLACE_Q;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const size_t head = size_t(blockIdx.y) * N * D;
    // Under a causal mask the last rows have most to do: they start first.
    const int block = CAUSAL ? gridDim.x - 1 - blockIdx.x : blockIdx.x;
    const int first = block * QUERIES, row0 = warp * 16 * TALL;
    const int end = CAUSAL ? min(N, first + QUERIES) : N;
    const int tiles = (end + KEYS - 1) / KEYS;

    copy_rows<QUERIES>(sQ, Q + head, first, N);
    commit_copies();
    copy_rows<KEYS>(shared, K + head, 0, N);
    copy_rows<KEYS>(shared + TILE, V + head, 0, N);
    commit_copies();
    wait_for_copies<1>();
    __syncthreads();
    unsigned q[HELD ? D / 16 : 1][TALL][4];
    if constexpr (HELD)
        #pragma unroll
        for (int step = 0; step < D / 16; ++step)
            load_queries(q[step][0], sQ, row0, step);

    float o[TALL][D / 8][4] = {}, total[TALL][2] = {}, largest[TALL][2];
    #pragma unroll
    for (int t = 0; t < TALL; ++t)
        largest[t][0] = largest[t][1] = HIDDEN;

    for (int tile = 0; tile < tiles; ++tile) {
        const int key0 = tile * KEYS;
        const unsigned sK = shared + tile % 2 * STAGE, sV = sK + TILE;
        // This tile is there, and every warp has done with the one before.
        wait_for_copies<0>();
        __syncthreads();
        if (tile + 1 < tiles) {
            const unsigned next = shared + (tile + 1) % 2 * STAGE;
            copy_rows<KEYS>(next, K + head, key0 + KEYS, N);
            copy_rows<KEYS>(next + TILE, V + head, key0 + KEYS, N);
            commit_copies();
        }

        // Scores: rows of K are the columns of Kᵀ, as mma wants them.
        float s[TALL][KEYS / 8][4] = {};
        #pragma unroll
        for (int step = 0; step < D / 16; ++step) {
            if constexpr (!HELD)
                #pragma unroll
                for (int t = 0; t < TALL; ++t)
                    load_queries(q[0][t], sQ, row0 + 16 * t, step);
            #pragma unroll
            for (int j = 0; j < KEYS / 16; ++j) {
                unsigned b[4];
                load_blocks(b, sK + place(16 * j + lane / 16 * 8 + lane % 8,
                                          2 * step + lane / 8 % 2));
                #pragma unroll
                for (int t = 0; t < TALL; ++t) {
                    multiply_add(s[t][2 * j], q[HELD ? step : 0][t], b);
                    multiply_add(s[t][2 * j + 1], q[HELD ? step : 0][t], b + 2);
                }
            }
        }

        // Only a tile at the end, or on the diagonal, has keys to hide.
        if (key0 + KEYS > N || (CAUSAL && key0 + KEYS > first + int(row0)))
            #pragma unroll
            for (int t = 0; t < TALL; ++t)
                #pragma unroll
                for (int i = 0; i < KEYS / 2; ++i) {
                    const int key = key0 + i / 4 * 8 + lane % 4 * 2 + i % 2;
                    const int query = first + row0 + 16 * t + lane / 4 + i % 4 / 2 * 8;
                    if (key >= N || (CAUSAL && key > query))
                        s[t][i / 4][i % 4] = HIDDEN;
                }

        // Weights. A thread has two rows of every 16; the four threads of a row agree on its
        // maximum, and rescale what was added under the old one.
        #pragma unroll
        for (int t = 0; t < TALL; ++t)
            #pragma unroll
            for (int r = 0; r < 2; ++r) {
                float above = largest[t][r];
                #pragma unroll
                for (int j = 0; j < KEYS / 8; ++j)
                    above = fmaxf(above, fmaxf(s[t][j][2 * r], s[t][j][2 * r + 1]));
                above = fmaxf(above, __shfl_xor_sync(0xFFFFFFFF, above, 1));
                above = fmaxf(above, __shfl_xor_sync(0xFFFFFFFF, above, 2));
                const float rescale = power_of_2((largest[t][r] - above) * scale);
                const float shift = above * scale;
                largest[t][r] = above;
                total[t][r] *= rescale;
                #pragma unroll
                for (int i = 0; i < KEYS / 4; ++i) {
                    float &score = s[t][i / 2][2 * r + i % 2];
                    score = power_of_2(score * scale - shift);
                    total[t][r] += score;     // of this thread's keys; added up at the end
                }
                #pragma unroll
                for (int i = 0; i < D / 4; ++i)
                    o[t][i / 2][2 * r + i % 2] *= rescale;
            }

        // Results. The scores of two blocks of 8 keys lie in registers as a fragment of A does.
        #pragma unroll
        for (int step = 0; step < KEYS / 16; ++step) {
            unsigned p[TALL][4];
            #pragma unroll
            for (int t = 0; t < TALL; ++t)
                #pragma unroll
                for (int i = 0; i < 4; ++i)
                    p[t][i] = pack(s[t][2 * step + i / 2][i % 2 * 2],
                                   s[t][2 * step + i / 2][i % 2 * 2 + 1]);
            #pragma unroll
            for (int j = 0; j < D / 16; ++j) {
                unsigned b[4];
                load_blocks_transposed(b, sV + place(16 * step + lane % 16, 2 * j + lane / 16));
                #pragma unroll
                for (int t = 0; t < TALL; ++t) {
                    multiply_add(o[t][2 * j], p[t], b);
                    multiply_add(o[t][2 * j + 1], p[t], b + 2);
                }
            }
        }
    }

    #pragma unroll
    for (int t = 0; t < TALL; ++t)
        #pragma unroll
        for (int r = 0; r < 2; ++r) {
            total[t][r] += __shfl_xor_sync(0xFFFFFFFF, total[t][r], 1);
            total[t][r] += __shfl_xor_sync(0xFFFFFFFF, total[t][r], 2);
            const int query = first + row0 + 16 * t + lane / 4 + 8 * r;
            const float factor = 1 / total[t][r];
            if (query < N)
                #pragma unroll
                for (int j = 0; j < D / 8; ++j)
                    store_pair(O + head + size_t(query) * D + 8 * j + lane % 4 * 2,
                               o[t][j][2 * r] * factor, o[t][j][2 * r + 1] * factor);
        }
}

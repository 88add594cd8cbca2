// Fused attention on Hopper (sm_90a): the tiles of `attention.cu`, now copied by the TMA unit and
// multiplied by wgmma. A block owns 128 queries of one head: a producer fills two rings with tiles
// of K and V, and each of two consumers, warpgroups of 64 queries, empties them.
// Products and softmax overlap twice. While a tile's values are added up, a consumer takes the
// softmax of the next one's scores. And with heads of 128 the consumers alternate (ping-pong): one
// multiplies while the other has its softmax.
// Q, K, V and O hold heads × N × D numbers of 16 bits; the maps have three dimensions, so that
// what lies beyond a head's last row comes as zeros, not as the next head.

#include "../rungs/half.cuh"
#include "../rungs/hopper.cuh"
#include "power.cuh"
#include "warpgroup.cuh"

constexpr int QUERIES = 128, KEYS = 128, STAGES = 2;
constexpr int GROUP = 4;                         // heads whose K and V share L2
constexpr int CONSUMERS = QUERIES / 64, THREADS = 128 * (1 + CONSUMERS);
constexpr int PANEL = KEYS * 128;                // bytes: 64 columns of a tile
constexpr int TILE = D / 64 * PANEL;             // of K or V; Q's is as large
constexpr bool PINGPONG = D == 128;              // products of 64 columns are over too soon
static_assert(QUERIES == KEYS, "one tile has all keys that a block has to hide");
#define HIDDEN __int_as_float(0xFF800000)        // minus infinity: the score of a key not seen

typedef Ring<STAGES, TILE> Tiles;

// Ask for 128 rows of a head, panel by panel.
__device__ inline void load_rows(unsigned to, const TensorMap &map, int row, int head,
                                 unsigned barrier)
{
    barrier_expect(barrier, TILE);
    #pragma unroll
    for (int panel = 0; panel < D / 64; ++panel)
        tile_load(to + panel * PANEL, map, 64 * panel, row, head, barrier);
}

// As soon as a slot of the ring is empty, fill it.
__device__ inline void refill(Tiles &ring, const TensorMap &map, int row, int head)
{
    barrier_wait(ring.empty(), ring.phase ^ 1);
    load_rows(ring.tile(), map, row, head, ring.full());
    ring.advance();
}

// Start the product of 64 queries with all keys of a tile.
__device__ inline void start_scores(float (&s)[KEYS / 2], unsigned queries, const Tiles &K)
{
    barrier_wait(K.full(), K.phase);
    products_begin();
    #pragma unroll
    for (int d = 0; d < D; d += 16) {
        const int column = d / 64 * PANEL + d % 64 * 2;
        multiply_keys(s, rows_of_A(queries + column), rows_of_A(K.tile() + column), d > 0);
    }
    products_commit();
}

// Start adding the values of a tile, weighted, to the results.
__device__ inline void start_results(float (&o)[D / 2], const unsigned (&p)[KEYS / 4],
                                     const Tiles &V)
{
    barrier_wait(V.full(), V.phase);
    products_begin();
    #pragma unroll
    for (int key = 0; key < KEYS; key += 16)
        multiply_values(o, p + key / 4, panels_of_B(V.tile() + key * 128, PANEL));
    products_commit();
}

// Hide the keys beyond the end, or beyond the diagonal. A thread's scores lie as `store_pairs`
// says: here `query` is the upper of its two rows, `key` the first of its keys.
__device__ inline void hide(float (&s)[KEYS / 2], int query, int key, int N)
{
    #pragma unroll
    for (int i = 0; i < KEYS / 2; ++i) {
        const int column = key + i / 4 * 8 + i % 2, row = query + i % 4 / 2 * 8;
        if (column >= N || (CAUSAL && column > row))
            s[i] = HIDDEN;
    }
}

// Scores become weights. The four threads of a row agree on its maximum; `rescale` is the factor for
// all that was added under the old one.
__device__ inline void softmax(float (&s)[KEYS / 2], float (&largest)[2], float (&total)[2],
                               float (&rescale)[2], float scale)
{
    #pragma unroll
    for (int r = 0; r < 2; ++r) {
        float above = largest[r];
        #pragma unroll
        for (int j = 2 * r; j < KEYS / 2; j += 4)
            above = fmaxf(above, fmaxf(s[j], s[j + 1]));
        above = fmaxf(above, __shfl_xor_sync(0xFFFFFFFF, above, 1));
        above = fmaxf(above, __shfl_xor_sync(0xFFFFFFFF, above, 2));
        rescale[r] = power_of_2((largest[r] - above) * scale);
        largest[r] = above;
        total[r] *= rescale[r];
        #pragma unroll
        for (int i = 0; i < KEYS / 4; ++i) {
            float &score = s[i / 2 * 4 + 2 * r + i % 2];
            score = power_of_2(score * scale - above * scale);
            total[r] += score;        // of this thread's keys; added up at the end
        }
    }
}

// Weights rounded to 16 bits. Sums of 16 keys lie in registers as wgmma wants them of its A.
__device__ inline void round_weights(unsigned (&p)[KEYS / 4], const float (&s)[KEYS / 2])
{
    #pragma unroll
    for (int i = 0; i < KEYS / 4; ++i)
        p[i] = pack(s[2 * i], s[2 * i + 1]);
}

// Multiply the upper row of a thread's results by one factor, the lower by another.
__device__ inline void multiply_rows(float (&o)[D / 2], const float (&factor)[2])
{
    #pragma unroll
    for (int i = 0; i < D / 2; ++i)
        o[i] *= factor[i % 4 / 2];
}

// Ping-pong: consumers issue products alternately, and while those of one run, the other has its
// softmax. Consumer i waits at named barrier 1 + i.
__device__ inline void wait_for_turn(int consumer)
{
    asm volatile("bar.sync %0, 256;" :: "r"(1 + consumer) : "memory");
}

__device__ inline void pass_turn(int consumer)
{
    asm volatile("bar.arrive %0, 256;" :: "r"(2 - consumer) : "memory");
}

struct Work { int head, block; };

// Which queries are this block's. Under a causal mask the last have most to do: they start first,
// those of a few heads together, so that the blocks at work at the same time find K and V in L2.
__device__ inline Work find_work()
{
    const int blocks = gridDim.x, heads = gridDim.y, number = blockIdx.y * blocks + blockIdx.x;
    const int first = number / (GROUP * blocks) * GROUP, width = min(GROUP, heads - first);
    const int within = number - first * blocks;
    return {first + within % width, blocks - 1 - within / width};
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
attention_wgmma(const __grid_constant__ TensorMap map_Q, const __grid_constant__ TensorMap map_K,
                const __grid_constant__ TensorMap map_V, Half *__restrict__ O, int N,
                float scale)                     // scale · log2(e): powers are of 2
{
    extern __shared__ __align__(1024) unsigned char shared[];
    __shared__ __align__(8) unsigned long long barriers[1 + 4 * STAGES];
    const unsigned sQ = shared_address(shared), full_Q = shared_address(barriers);
    Tiles K{sQ + TILE, full_Q + 8}, V{K.first + STAGES * TILE, K.barriers + 16 * STAGES};
    const int role = threadIdx.x / 128, tid = threadIdx.x % 128;
    const auto [head, block] = find_work();
    const int first = block * QUERIES, end = CAUSAL ? min(N, first + QUERIES) : N;
    // The last tile comes first: it alone has keys to hide.
    const int last = (end - 1) / KEYS;

    if (threadIdx.x == 0) {
        barrier_init(full_Q, 1);
        K.init(CONSUMERS);
        V.init(CONSUMERS);
        barrier_init_done();
    }
    __syncthreads();

    if (role == 0) {
        give_registers<40>();
        if (tid == 0) {
            load_rows(sQ, map_Q, first, head, full_Q);
            // Consumers want the keys of the next tile before the values of this one.
            refill(K, map_K, last * KEYS, head);
            for (int tile = last; tile >= 0; --tile) {
                if (tile > 0)
                    refill(K, map_K, (tile - 1) * KEYS, head);
                refill(V, map_V, tile * KEYS, head);
            }
        }
        return;
    }

    take_registers<232>();
    const int consumer = role - 1, upper = consumer * 64;
    const int query = first + upper + tid / 32 * 16 + tid % 32 / 4;
    const unsigned queries = sQ + upper * 128;
    float s[KEYS / 2], o[D / 2] = {};
    float largest[2] = {HIDDEN, HIDDEN}, total[2] = {}, rescale[2];
    unsigned p[KEYS / 4];

    if (PINGPONG && consumer == 1 && last > 0)
        pass_turn(consumer);
    barrier_wait(full_Q, 0);
    start_scores(s, queries, K);
    products_wait<0>(s);
    K.release();
    hide(s, query, last * KEYS + tid % 4 * 2, N);
    softmax(s, largest, total, rescale, scale);
    round_weights(p, s);

    for (int tile = last; tile > 0; --tile) {
        // The scores of the next tile, and the results of this one.
        if (PINGPONG)
            wait_for_turn(consumer);
        start_scores(s, queries, K);
        start_results(o, p, V);
        if (PINGPONG && (tile > 1 || consumer == 0))      // after the last nobody waits
            pass_turn(consumer);

        products_wait<1>(s);
        K.release();
        softmax(s, largest, total, rescale, scale);
        settle(s);
        // This phase is over already. But the compiler, which would wait for the results before the
        // softmax, does not move either across this wait.
        barrier_wait(V.full(), V.phase);
        products_wait<0>(o);
        V.release();
        multiply_rows(o, rescale);
        round_weights(p, s);
    }
    start_results(o, p, V);
    products_wait<0>(o);

    float factor[2];
    #pragma unroll
    for (int r = 0; r < 2; ++r) {
        total[r] += __shfl_xor_sync(0xFFFFFFFF, total[r], 1);
        total[r] += __shfl_xor_sync(0xFFFFFFFF, total[r], 2);
        factor[r] = 1 / total[r];
    }
    multiply_rows(o, factor);
    store_pairs(o, O + size_t(head) * N * D, first + upper, 0, N, D);
}

// float32 products by bfloat16 tensor cores. A float32 number has 24 significant bits, three
// bfloat16 numbers have 3 * 8: split() writes every element x of a matrix as
//     x = x0 + x1 / 2^8 + x2 / 2^16,
// and A·B is the sum of nine products of parts, each of which a tensor core forms exactly.
// emulated() adds them, from the smallest to the largest; it is the loop of persistent.cu that
// sweeps over k once for each pair of parts. PRODUCTS is 9, or 6 to leave out the three smallest.

#include "half.cuh"
#include "hopper.cuh"
#include "boxes.cuh"

constexpr int BM = 128, BK = 64, CONSUMERS = 2, THREADS = 128 * (1 + CONSUMERS);
constexpr int TILE_A = BM * BK * 2, TILE_B = BK * BN * 2, STAGE = TILE_A + TILE_B;  // bytes
constexpr int PANEL = BK * 128;                       // 64 columns of B
constexpr int SHARE = BK / CLUSTER;                   // rows of B that each block loads

// Which part of A meets which part of B, the smallest product first, and whether this product
// is of a new size: 2^8 times that of the pair before.
struct Pair { unsigned char A, B, larger; };
__constant__ Pair PAIRS[9] = {{2, 2, 0}, {1, 2, 1}, {2, 1, 0}, {0, 2, 1}, {1, 1, 0}, {2, 0, 0},
                              {0, 1, 1}, {1, 0, 0}, {0, 0, 1}};

// sum = sum * scale + acc, rounded to nearest. A tensor core cuts its sums off instead, always
// towards zero: over a long k that adds up, so they are promoted after every PIECE steps.
__device__ inline void promote(float (&sum)[BN / 2], float (&acc)[BN / 2], float scale)
{
    #pragma unroll
    for (int i = 0; i < BN / 2; ++i)
        sum[i] = fmaf(sum[i], scale, acc[i]);
}

extern "C" __global__ void __cluster_dims__(CLUSTER) __launch_bounds__(THREADS, 1)
emulated(const __grid_constant__ TensorMap map_A, const __grid_constant__ TensorMap map_B,
         const __grid_constant__ TensorMap map_C, int M, int N, int K)
{
    extern __shared__ __align__(1024) unsigned char stages[];
    __shared__ __align__(8) unsigned long long barriers[2 * STAGES];
    const unsigned ring = shared_address(stages), boxes = ring + STAGES * STAGE;
    const unsigned full = shared_address(barriers), empty = full + 8 * STAGES;
    const int role = threadIdx.x / 128, tid = threadIdx.x % 128;
    const int rank = blockIdx.x % CLUSTER;            // within the cluster

    if (threadIdx.x == 0) {
        for (int slot = 0; slot < STAGES; ++slot) {
            barrier_init(full + 8 * slot, 1);
            barrier_init(empty + 8 * slot, CONSUMERS * CLUSTER);
        }
        barrier_init_done();
    }
    // No block may deliver to another whose barriers are not ready.
    cluster_sync();

    const int down = (M + BM * CLUSTER - 1) / (BM * CLUSTER), across = (N + BN - 1) / BN;
    const int steps = (K + BK - 1) / BK, clusters = gridDim.x / CLUSTER;
    int slot = 0, parity = 0;         // parity: how often the ring has gone round, modulo 2
    if (role == 0) {
        give_registers<40>();
        if (tid == 0) {
            for (int t = blockIdx.x / CLUSTER; t < down * across; t += clusters) {
                const Tile tile = tile_number(t, down, across);
                const int row0 = (tile.row * CLUSTER + rank) * BM, col0 = tile.col * BN;
                for (int pair = 9 - PRODUCTS; pair < 9; ++pair) {
                    // The parts of A lie side by side, those of B one below the other.
                    const int first_A = PAIRS[pair].A * steps * BK;
                    const int first_B = PAIRS[pair].B * steps * BK + rank * SHARE;
                    #pragma unroll 1              // four at once would not fit in 40 registers
                    for (int step = 0; step < steps; ++step) {
                        barrier_wait(empty + 8 * slot, parity ^ 1);
                        const unsigned sA = ring + slot * STAGE;
                        const unsigned sB = sA + TILE_A + rank * SHARE * 128;
                        barrier_expect(full + 8 * slot, STAGE);
                        tile_load(sA, map_A, first_A + step * BK, row0, full + 8 * slot);
                        #pragma unroll
                        for (int panel = 0; panel < BN / 64; ++panel) {
                            const int x = col0 + 64 * panel, y = first_B + step * BK;
                            if (CLUSTER == 1)
                                tile_load(sB + panel * PANEL, map_B, x, y, full + 8 * slot);
                            else
                                tile_load_multicast(sB + panel * PANEL, map_B, x, y,
                                                    full + 8 * slot, (1 << CLUSTER) - 1);
                        }
                        if (++slot == STAGES) {
                            slot = 0;
                            parity ^= 1;
                        }
                    }
                }
            }
        }
    } else {
        take_registers<232>();
        const int upper = (role - 1) * 64;            // this warpgroup's first row of the tile
        const unsigned my_boxes = boxes + (role - 1) * BOXES * BOX;
        float acc[BN / 2], sum[BN / 2];
        for (int t = blockIdx.x / CLUSTER; t < down * across; t += clusters) {
            const Tile tile = tile_number(t, down, across);
            const int row0 = (tile.row * CLUSTER + rank) * BM, col0 = tile.col * BN;
            #pragma unroll
            for (int i = 0; i < BN / 2; ++i)
                sum[i] = 0;
            for (int pair = 9 - PRODUCTS; pair < 9; ++pair) {
                float scale = PAIRS[pair].larger ? 0.00390625f : 1.0f;      // 2^-8
                for (int first = 0; first < steps; first += PIECE) {
                    const int count = min(PIECE, steps - first);
                    int previous = 0;
                    for (int step = 0; step < count; ++step) {
                        barrier_wait(full + 8 * slot, parity);
                        const unsigned sA = ring + slot * STAGE, sB = sA + TILE_A;
                        products_begin();
                        #pragma unroll
                        for (int k = 0; k < BK; k += 16)
                            multiply_add(acc, rows_of_A(sA + upper * 128 + k * 2),
                                         panels_of_B(sB + k * 128, PANEL), step + k > 0);
                        products_commit();
                        // These products go on while the next are asked for.
                        products_wait<1>(acc);
                        if (step > 0 && tid < CLUSTER)
                            barrier_arrive(empty + 8 * previous, tid);
                        previous = slot;
                        if (++slot == STAGES) {
                            slot = 0;
                            parity ^= 1;
                        }
                    }
                    products_wait<0>(acc);
                    if (tid < CLUSTER)
                        barrier_arrive(empty + 8 * previous, tid);
                    promote(sum, acc, scale);
                    scale = 1;
                }
            }

            store_sums(sum, my_boxes, map_C, col0, row0 + upper, role);
        }
        if (tid == 0)
            wait_for_reads_of_stores<0>();
    }
    __syncwarp();
    // No block may end while another may still deliver to it.
    cluster_sync();
}

// x rounded to bfloat16; cut off where rounding would go beyond the largest, to infinity.
__device__ inline Half part_of(float x)
{
    const unsigned bits = __float_as_uint(x);
    const unsigned rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (rounded & 0x7f80) == 0x7f80 ? bits >> 16 : rounded;
}

// Write the three parts of a matrix (rows × cols), each `height` × `width` with zeros around it
// in rows of `pitch` elements, the next part `following` elements further. A thread takes four
// neighbours. Rows (or columns, if `by_col`) with an infinity or a NaN are noted in `odd` from
// `at` on; odd[at - 1] says that there are any.
extern "C" __global__ void split(const float *X, Half *parts, unsigned char *odd, int at, int rows,
                                 int cols, int height, int width, int pitch,
                                 long long following, int wide, int by_col)
{
    const int col = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (col >= width)
        return;
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < height;
         row += gridDim.y * blockDim.y) {
        float x[4] = {0, 0, 0, 0};
        const float *place = X + size_t(row) * cols + col;
        if (row < rows && wide && col < cols) {
            const float4 four = *reinterpret_cast<const float4 *>(place);
            x[0] = four.x, x[1] = four.y, x[2] = four.z, x[3] = four.w;
        } else if (row < rows) {
            for (int i = 0; i < 4; ++i)
                if (col + i < cols)
                    x[i] = place[i];
        }
        ushort4 part[3];
        for (int i = 0; i < 4; ++i) {
            if (!isfinite(x[i])) {
                odd[at + (by_col ? col + i : row)] = 1;
                odd[at - 1] = 1;
                x[i] = 0;
            }
            for (int p = 0; p < 3; ++p) {
                const Half rounded = part_of(x[i]);
                (&part[p].x)[i] = rounded;
                // Both steps are exact: what is left has 16 bits at most, then 8.
                x[i] = (x[i] - __uint_as_float(unsigned(rounded) << 16)) * 256;
            }
        }
        Half *to = parts + size_t(row) * pitch + col;
        for (int p = 0; p < 3; ++p)
            *reinterpret_cast<ushort4 *>(to + p * following) = part[p];
    }
}

// C = A·B in float32, the elements whose row of A or column of B is odd, or all of them. An
// infinity has no parts: infinity times the second part of 1, which is 0, would be NaN.
extern "C" __global__ void plain(const float *A, const float *B, float *C, int M, int N, int K,
                                 int pitch, const unsigned char *odd, int all)
{
    if (!all && !odd[0] && !odd[1 + M])
        return;
    const size_t threads = size_t(gridDim.x) * blockDim.x;
    for (size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x; i < size_t(M) * N; i += threads) {
        const int row = i / N, col = i % N;
        if (!all && !odd[1 + row] && !odd[2 + M + col])
            continue;
        float sum = 0;
        for (int k = 0; k < K; ++k)
            sum = fmaf(A[size_t(row) * K + k], B[size_t(k) * N + col], sum);
        C[size_t(row) * pitch + col] = sum;
    }
}

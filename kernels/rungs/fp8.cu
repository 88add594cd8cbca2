// Hopper, in 8 bits: A and B hold e4m3, a number in one byte. The loop is that of `persistent`; a
// row of a tile has the same 128 bytes, now 128 values of k instead of 64, and the tensor cores
// multiply them in the same time. wgmma transposes no bytes: B comes by columns (map_B is of Bᵀ,
// N×K), each column's values of k side by side as those of a row of A are.
// With PROMOTE > 0, sums go on in float32 registers after so many steps; C is `scale` times them.

#include "half.cuh"
#include "hopper.cuh"
#include "e4m3.cuh"
#include "boxes.cuh"

constexpr int BM = 128, BK = 128, CONSUMERS = 2, THREADS = 128 * (1 + CONSUMERS);
constexpr int TILE_A = BM * BK, TILE_B = BN * BK, STAGE = TILE_A + TILE_B;  // bytes
constexpr int SHARE = BN / CLUSTER;                   // columns of B that each block loads
constexpr unsigned short EVERYONE = (1 << CLUSTER) - 1;

extern "C" __global__ void __cluster_dims__(CLUSTER) __launch_bounds__(THREADS, 1)
fp8(const __grid_constant__ TensorMap map_A, const __grid_constant__ TensorMap map_B,
    const __grid_constant__ TensorMap map_C, int M, int N, int K, float scale)
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
                for (int step = 0; step < steps; ++step) {
                    // All consumers of the cluster have to empty a slot: our part of B goes
                    // to all of them.
                    barrier_wait(empty + 8 * slot, parity ^ 1);
                    const unsigned sA = ring + slot * STAGE;
                    const unsigned sB = sA + TILE_A + rank * SHARE * BK;
                    barrier_expect(full + 8 * slot, STAGE);
                    tile_load(sA, map_A, step * BK, row0, full + 8 * slot);
                    if (CLUSTER == 1)
                        tile_load(sB, map_B, step * BK, col0, full + 8 * slot);
                    else
                        tile_load_multicast(sB, map_B, step * BK, col0 + rank * SHARE,
                                            full + 8 * slot, EVERYONE);
                    if (++slot == STAGES) {
                        slot = 0;
                        parity ^= 1;
                    }
                }
            }
        }
    } else {
        take_registers<232>();
        const int upper = (role - 1) * 64;            // this warpgroup's first row of the tile
        const unsigned my_boxes = boxes + (role - 1) * BOXES * BOX;
        float acc[BN / 2], sums[BN / 2];
        for (int t = blockIdx.x / CLUSTER; t < down * across; t += clusters) {
            const Tile tile = tile_number(t, down, across);
            const int row0 = (tile.row * CLUSTER + rank) * BM, col0 = tile.col * BN;
            const int piece = PROMOTE ? PROMOTE : steps;
            #pragma unroll
            for (int i = 0; i < BN / 2; ++i)
                sums[i] = 0;
            for (int first = 0; first < steps; first += piece) {
                const int count = min(piece, steps - first);
                int previous = 0;
                for (int step = 0; step < count; ++step) {
                    barrier_wait(full + 8 * slot, parity);
                    const unsigned sA = ring + slot * STAGE, sB = sA + TILE_A;
                    products_begin();
                    #pragma unroll
                    for (int k = 0; k < BK; k += 32)
                        multiply_add_bytes(acc, rows_of_A(sA + upper * BK + k), rows_of_A(sB + k),
                                           step + k > 0);
                    products_commit();
                    // Leave this group in flight; the previous one is complete.
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
                // Tensor cores keep few bits of a sum of such products: float32 keeps 24.
                #pragma unroll
                for (int i = 0; i < BN / 2; ++i)
                    sums[i] += PROMOTE ? acc[i] : 0;
            }
            // Not in place: who writes to acc makes wgmma wait for each product in turn.
            #pragma unroll
            for (int i = 0; i < BN / 2; ++i)
                sums[i] = scale * (PROMOTE ? sums[i] : acc[i]);
            store_sums(sums, my_boxes, map_C, col0, row0 + upper, role);
        }
        if (tid == 0)
            wait_for_reads_of_stores<0>();
    }
    __syncwarp();
    // No block may end while another may still deliver to it.
    cluster_sync();
}

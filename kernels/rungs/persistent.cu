// Hopper, third step: blocks stay. Each cluster of CLUSTER blocks computes one tile of C
// after the other, so that the producer already loads for the next tile while the last one
// is stored. The blocks of a cluster own tiles below each other and share the columns of B:
// each loads a part and the TMA delivers it to all. C leaves through shared memory, by TMA.

#include "half.cuh"
#include "hopper.cuh"
#include "boxes.cuh"

constexpr int BM = 128, BN = 256, BK = 64, CONSUMERS = 2, THREADS = 128 * (1 + CONSUMERS);
constexpr int TILE_A = BM * BK * 2, TILE_B = BK * BN * 2, STAGE = TILE_A + TILE_B;  // bytes
constexpr int PANEL = BK * 128;                       // 64 columns of B
constexpr int SHARE = BN / 64 / CLUSTER;              // panels that each block loads
constexpr unsigned short EVERYONE = (1 << CLUSTER) - 1;

extern "C" __global__ void __cluster_dims__(CLUSTER) __launch_bounds__(THREADS, 1)
persistent(const __grid_constant__ TensorMap map_A, const __grid_constant__ TensorMap map_B,
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
                for (int step = 0; step < steps; ++step) {
                    // All consumers of the cluster have to empty a slot: our part of B goes
                    // to all of them.
                    barrier_wait(empty + 8 * slot, parity ^ 1);
                    const unsigned sA = ring + slot * STAGE, sB = sA + TILE_A;
                    barrier_expect(full + 8 * slot, STAGE);
                    tile_load(sA, map_A, step * BK, row0, full + 8 * slot);
                    #pragma unroll
                    for (int i = 0; i < SHARE; ++i) {
                        const int panel = rank * SHARE + i;
                        if (CLUSTER == 1)
                            tile_load(sB + panel * PANEL, map_B, col0 + 64 * panel, step * BK,
                                      full + 8 * slot);
                        else
                            tile_load_multicast(sB + panel * PANEL, map_B, col0 + 64 * panel,
                                                step * BK, full + 8 * slot, EVERYONE);
                    }
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
        float acc[BN / 2];
        for (int t = blockIdx.x / CLUSTER; t < down * across; t += clusters) {
            const Tile tile = tile_number(t, down, across);
            const int row0 = (tile.row * CLUSTER + rank) * BM, col0 = tile.col * BN;
            int previous = 0;
            for (int step = 0; step < steps; ++step) {
                barrier_wait(full + 8 * slot, parity);
                const unsigned sA = ring + slot * STAGE, sB = sA + TILE_A;
                products_begin();
                #pragma unroll
                for (int k = 0; k < BK; k += 16)
                    multiply_add(acc, rows_of_A(sA + upper * 128 + k * 2),
                                 panels_of_B(sB + k * 128, PANEL), step + k > 0);
                products_commit();
                // These products go on while the next are asked for; those before are done.
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
            store_sums(acc, my_boxes, map_C, col0, row0 + upper, role);
        }
        if (tid == 0)
            wait_for_reads_of_stores<0>();
    }
    __syncwarp();
    // No block may end while another may still deliver to it.
    cluster_sync();
}

// Hopper, second step: the warps take roles. A producer asks the TMA for tiles as long as
// there is room in a ring of STAGES pairs; two warpgroups of consumers multiply, each 64 of
// the 128 rows of a tile of C that is BN columns wide. No __syncthreads in the loop: each
// pair of tiles has two barriers, `full` and `empty`.

#include "half.cuh"
#include "hopper.cuh"

constexpr int BM = 128, BK = 64, CONSUMERS = 2, THREADS = 128 * (1 + CONSUMERS);
constexpr int TILE_A = BM * BK * 2, TILE_B = BK * BN * 2, STAGE = TILE_A + TILE_B;  // bytes
constexpr int PANEL = BK * 128;       // 64 columns of B
constexpr int GROUP = 16;             // tiles of C that the blocks go down before one to the right

extern "C" __global__ void __launch_bounds__(THREADS, 1)
specialized(const __grid_constant__ TensorMap map_A, const __grid_constant__ TensorMap map_B,
            Result *__restrict__ C, int M, int N, int K)
{
    extern __shared__ __align__(1024) unsigned char stages[];
    __shared__ __align__(8) unsigned long long barriers[2 * STAGES];
    const unsigned ring = shared_address(stages);
    const unsigned full = shared_address(barriers), empty = full + 8 * STAGES;
    const int role = threadIdx.x / 128, tid = threadIdx.x % 128;

    const int block = blockIdx.y * gridDim.x + blockIdx.x;
    const int first = block / (GROUP * gridDim.x) * GROUP;
    const int height = min(GROUP, int(gridDim.y) - first);
    const int within = block - first * gridDim.x;
    const int row0 = (first + within % height) * BM, col0 = within / height * BN;

    if (threadIdx.x == 0) {
        for (int slot = 0; slot < STAGES; ++slot) {
            barrier_init(full + 8 * slot, 1);
            barrier_init(empty + 8 * slot, CONSUMERS);
        }
        barrier_init_done();
    }
    __syncthreads();

    const int steps = (K + BK - 1) / BK;
    int slot = 0, parity = 0;         // parity: how often the ring has gone round, modulo 2
    if (role == 0) {
        // One thread does all the producer's work: leave the registers to the consumers.
        give_registers<40>();
        if (tid == 0) {
            for (int step = 0; step < steps; ++step) {
                // On the first round nobody has to empty a slot: the phase before the first
                // counts as over.
                barrier_wait(empty + 8 * slot, parity ^ 1);
                const unsigned sA = ring + slot * STAGE, sB = sA + TILE_A;
                barrier_expect(full + 8 * slot, STAGE);
                tile_load(sA, map_A, step * BK, row0, full + 8 * slot);
                #pragma unroll
                for (int panel = 0; panel < BN / 64; ++panel)
                    tile_load(sB + panel * PANEL, map_B, col0 + 64 * panel, step * BK,
                              full + 8 * slot);
                if (++slot == STAGES) {
                    slot = 0;
                    parity ^= 1;
                }
            }
        }
    } else {
        take_registers<232>();
        const int upper = (role - 1) * 64;        // this warpgroup's first row of the tile
        float acc[BN / 2];
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
            if (step > 0 && tid == 0)
                barrier_arrive(empty + 8 * previous);
            previous = slot;
            if (++slot == STAGES) {
                slot = 0;
                parity ^= 1;
            }
        }
        products_wait<0>(acc);
        store_pairs(acc, C, row0 + upper, col0, M, N);
    }
}

// Hopper, first step: tiles come by TMA, and two warpgroups (of 128 threads) multiply them by
// wgmma straight from shared memory, each 64 of the 128 rows of a tile of C that is 256 columns
// wide. Nothing overlaps yet: load, wait, multiply, wait.
// A (M×K), B (K×N) and C (M×N) are row-major; K and N are multiples of 8: the TMA wants
// rows to start on 16-byte boundaries (the host sees to it).

#include "half.cuh"
#include "hopper.cuh"

constexpr int BM = 128, BN = 256, BK = 64;
constexpr int TILE_A = BM * BK * 2, TILE_B = BK * BN * 2;     // bytes
constexpr int PANEL = BK * 128;       // 64 columns of B
constexpr int GROUP = 8;              // tiles of C that the blocks go down before one to the right

extern "C" __global__ void __launch_bounds__(256)
wgmma(const __grid_constant__ TensorMap map_A, const __grid_constant__ TensorMap map_B,
      Result *__restrict__ C, int M, int N, int K)
{
    extern __shared__ __align__(1024) unsigned char tiles[];
    __shared__ __align__(8) unsigned long long barrier;
    const unsigned sA = shared_address(tiles), sB = sA + TILE_A;
    const unsigned loaded = shared_address(&barrier);

    const int block = blockIdx.y * gridDim.x + blockIdx.x;
    const int first = block / (GROUP * gridDim.x) * GROUP;
    const int height = min(GROUP, int(gridDim.y) - first);
    const int within = block - first * gridDim.x;
    const int row0 = (first + within % height) * BM, col0 = within / height * BN;

    if (threadIdx.x == 0) {
        barrier_init(loaded, 1);
        barrier_init_done();
    }
    __syncthreads();

    const int upper = threadIdx.x / 128 * 64;         // this warpgroup's first row of the tile
    float acc[BN / 2];
    int parity = 0;
    for (int k0 = 0; k0 < K; k0 += BK) {
        if (threadIdx.x == 0) {
            barrier_expect(loaded, TILE_A + TILE_B);
            tile_load(sA, map_A, k0, row0, loaded);
            #pragma unroll
            for (int panel = 0; panel < BN / 64; ++panel)
                tile_load(sB + panel * PANEL, map_B, col0 + 64 * panel, k0, loaded);
        }
        barrier_wait(loaded, parity);
        parity ^= 1;

        products_begin();
        #pragma unroll
        for (int k = 0; k < BK; k += 16)
            multiply_add(acc, rows_of_A(sA + upper * 128 + k * 2),
                         panels_of_B(sB + k * 128, PANEL), k0 + k > 0);
        products_commit();
        products_wait<0>(acc);
        // The next tiles may come only when all warps are done with these.
        __syncthreads();
    }

    store_pairs(acc, C, row0 + upper, col0, M, N);
}

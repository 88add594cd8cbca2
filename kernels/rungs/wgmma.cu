// Hopper, first step: tiles come by TMA, and one warpgroup (128 threads) multiplies them by
// wgmma straight from shared memory. A block owns 128×128 elements of C. Nothing overlaps
// yet: load, wait, multiply, wait.
// A (M×K), B (K×N) and C (M×N) are row-major; K and N are multiples of 8: the TMA wants
// rows to start on 16-byte boundaries (the host sees to it).

#include "half.cuh"
#include "hopper.cuh"

constexpr int BM = 128, BN = 128, BK = 64;
constexpr int TILE_A = BM * BK * 2, TILE_B = BK * BN * 2;     // bytes
constexpr int PANEL = BK * 128;                               // 64 columns of B

extern "C" __global__ void __launch_bounds__(128)
wgmma(const __grid_constant__ TensorMap map_A, const __grid_constant__ TensorMap map_B,
      Result *__restrict__ C, int M, int N, int K)
{
    __shared__ __align__(1024) unsigned char tiles[TILE_A + TILE_B];
    __shared__ __align__(8) unsigned long long barrier;
    const unsigned sA = shared_address(tiles), sB = sA + TILE_A;
    const unsigned loaded = shared_address(&barrier);

    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;

    if (threadIdx.x == 0) {
        barrier_init(loaded, 1);
        barrier_init_done();
    }
    __syncthreads();

    float upper[64], lower[64];       // rows 0 to 63 and 64 to 127 of the tile of C
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
        for (int k = 0; k < BK; k += 16) {
            const bool add = k0 + k > 0;
            const unsigned long long b = panels_of_B(sB + k * 128, PANEL);
            multiply_add(upper, rows_of_A(sA + k * 2), b, add);
            multiply_add(lower, rows_of_A(sA + 64 * 128 + k * 2), b, add);
        }
        products_commit();
        products_wait<0>(upper);
        products_wait<0>(lower);
        // The next tiles may come only when all four warps are done with these.
        __syncthreads();
    }

    store_pairs(upper, C, row0, col0, M, N);
    store_pairs(lower, C, row0 + 64, col0, M, N);
}

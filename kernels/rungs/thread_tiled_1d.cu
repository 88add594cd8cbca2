// Thread tiles in one dimension: a thread computes TM elements of C below each other, in registers.
// C = A·B with A (M×K), B (K×N) and C (M×N), all row-major. A block computes BM×BN elements of C,
// BK steps of k at a time; a thread TM of them. All are set when this is compiled.
#include "copy_tile.cuh"
#ifndef BM
#define BM 64
#define BN 64
#define BK 8
#define TM 8
#endif
#define THREADS (BM / TM * BN)

extern "C" __global__ void __launch_bounds__(THREADS)
thread_tiled_1d(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C,
                int M, int N, int K)
{
    __shared__ float sA[BM][BK];
    __shared__ float sB[BK][BN];
    const int tx = threadIdx.x % BN;
    const int ty = threadIdx.x / BN;
    const int col0 = blockIdx.x * BN;
    const int row0 = blockIdx.y * BM;

    float acc[TM] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        copy_tile<BM, BK, THREADS>(sA, A, M, K, row0, k0);
        copy_tile<BK, BN, THREADS>(sB, B, K, N, k0, col0);
        // No thread may read the tiles before every thread has written its part.
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            // What a thread reads of B it uses TM times.
            const float b = sB[k][tx];
            #pragma unroll
            for (int i = 0; i < TM; ++i)
                acc[i] += sA[ty * TM + i][k] * b;
        }
        // No thread may overwrite the tiles before every thread has read them.
        __syncthreads();
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        const int row = row0 + ty * TM + i;
        if (row < M && col0 + tx < N)
            C[size_t(row) * N + col0 + tx] = acc[i];
    }
}

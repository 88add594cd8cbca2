// Thread tiles in two dimensions: TM + TN reads serve TM·TN multiplications.
// C = A·B with A (M×K), B (K×N) and C (M×N), all row-major. A block computes BM×BN elements of C,
// BK steps of k at a time; a thread TM×TN of them. All are set when this is compiled.
#include "copy_tile.cuh"
#ifndef BM
#define BM 64
#define BN 64
#define BK 8
#define TM 8
#define TN 8
#endif
#define THREADS (BM / TM * (BN / TN))
// An SM has 65536 registers. The compiler should give a thread no more than 128, or 256 for a
// large tile, so that the SM holds as many blocks as then fit.
#ifndef MIN_BLOCKS
#define REGISTERS (TM * TN > 64 ? 256 : 128)
#define MIN_BLOCKS (THREADS * REGISTERS < 65536 ? 65536 / (THREADS * REGISTERS) : 1)
#endif

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
thread_tiled(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C,
             int M, int N, int K)
{
    __shared__ float sA[BM][BK];
    __shared__ float sB[BK][BN];
    const int tx = threadIdx.x % (BN / TN);
    const int ty = threadIdx.x / (BN / TN);
    const int col0 = blockIdx.x * BN;
    const int row0 = blockIdx.y * BM;

    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        copy_tile<BM, BK, THREADS>(sA, A, M, K, row0, k0);
        copy_tile<BK, BN, THREADS>(sB, B, K, N, k0, col0);
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            // One column of the tile of A and one row of the tile of B, …
            float a[TM], b[TN];
            #pragma unroll
            for (int i = 0; i < TM; ++i)
                a[i] = sA[ty * TM + i][k];
            #pragma unroll
            for (int j = 0; j < TN; ++j)
                b[j] = sB[k][tx * TN + j];
            // … and every product of one with the other.
            #pragma unroll
            for (int i = 0; i < TM; ++i)
                #pragma unroll
                for (int j = 0; j < TN; ++j)
                    acc[i][j] += a[i] * b[j];
        }
        __syncthreads();
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i)
        #pragma unroll
        for (int j = 0; j < TN; ++j) {
            const int row = row0 + ty * TM + i;
            const int col = col0 + tx * TN + j;
            if (row < M && col < N)
                C[size_t(row) * N + col] = acc[i][j];
        }
}

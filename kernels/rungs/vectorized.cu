// Thread tiles with 16-byte accesses: four floats an instruction, to and from every memory.
// C = A·B with A (M×K), B (K×N) and C (M×N), all row-major. A block computes BM×BN elements of C,
// BK steps of k at a time; a thread TM×TN of them. All are set when this is compiled, and WIDE=0
// where 16-byte accesses to A, B or C are not legal.
#include "wide.cuh"
#ifndef BM
#define BM 128
#define BN 128
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
// A row of sA is longer than the tile, so that the four rows a thread writes lie in four banks.
#define PAD 4
static_assert(BM * BK / 4 % THREADS == 0 && BK * BN / 4 % THREADS == 0,
              "every thread loads as many groups of four as the others");

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
vectorized(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C,
           int M, int N, int K)
{
    // A lies on its side: what a thread needs of one column of A are neighbours now.
    __shared__ __align__(16) float sA[BK][BM + PAD];
    __shared__ __align__(16) float sB[BK][BN];
    const int tx = threadIdx.x % (BN / TN);
    const int ty = threadIdx.x / (BN / TN);
    const int col0 = blockIdx.x * BN;
    const int row0 = blockIdx.y * BM;

    float acc[TM][TN] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        #pragma unroll
        for (int done = 0; done < BM * BK / 4; done += THREADS) {
            const unsigned i = done + threadIdx.x;
            const int row = i / (BK / 4);
            const int k = i % (BK / 4) * 4;
            const float4 v = load4(A, M, K, row0 + row, k0 + k);
            sA[k][row] = v.x;
            sA[k + 1][row] = v.y;
            sA[k + 2][row] = v.z;
            sA[k + 3][row] = v.w;
        }
        #pragma unroll
        for (int done = 0; done < BK * BN / 4; done += THREADS) {
            const unsigned i = done + threadIdx.x;
            const int k = i / (BN / 4);
            const int col = i % (BN / 4) * 4;
            four(sB[k][col]) = load4(B, K, N, k0 + k, col0 + col);
        }
        // No thread may read the tiles before every thread has written its part.
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            float a[TM], b[TN];
            #pragma unroll
            for (int i = 0; i < TM; i += 4)
                four(a[i]) = four(sA[k][ty * 4 + i * (BM / TM)]);
            // Groups of four, a stride apart: neighbouring threads read neighbouring groups.
            #pragma unroll
            for (int j = 0; j < TN; j += 4)
                four(b[j]) = four(sB[k][tx * 4 + j * (BN / TN)]);
            #pragma unroll
            for (int i = 0; i < TM; ++i)
                #pragma unroll
                for (int j = 0; j < TN; ++j)
                    acc[i][j] += a[i] * b[j];
        }
        // No thread may overwrite the tiles before every thread has read them.
        __syncthreads();
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        const int row = row0 + ty * 4 + i / 4 * 4 * (BM / TM) + i % 4;
        #pragma unroll
        for (int j = 0; j < TN; j += 4)
            store4(C, M, N, row, col0 + tx * 4 + j * (BN / TN), four(acc[i][j]));
    }
}

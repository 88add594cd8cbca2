// Pipelined: while the threads multiply one tile, the next is on its way from global memory.
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
// Groups of four that a thread loads of each tile.
#define LOADS_A (BM * BK / 4 / THREADS)
#define LOADS_B (BK * BN / 4 / THREADS)
static_assert(LOADS_A * 4 * THREADS == BM * BK && LOADS_B * 4 * THREADS == BK * BN,
              "every thread loads as many groups of four as the others");

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
pipelined(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C,
          int M, int N, int K)
{
    // Two tiles of each: one is read while the other is written.
    __shared__ __align__(16) float sA[2][BK][BM + PAD];
    __shared__ __align__(16) float sB[2][BK][BN];
    const int tx = threadIdx.x % (BN / TN);
    const int ty = threadIdx.x / (BN / TN);
    const int col0 = blockIdx.x * BN;
    const int row0 = blockIdx.y * BM;
    // What this thread loads first of each tile: four floats along k of A, along a row of B.
    const int rowA = threadIdx.x / (BK / 4), kA = threadIdx.x % (BK / 4) * 4;
    const int kB = threadIdx.x / (BN / 4), colB = threadIdx.x % (BN / 4) * 4;
    constexpr int rows_apart = THREADS / (BK / 4), k_apart = THREADS / (BN / 4);

    float4 nextA[LOADS_A], nextB[LOADS_B];
    // From global memory into registers. Nobody waits until the registers are used.
    auto fetch = [&](int k0) {
        #pragma unroll
        for (int i = 0; i < LOADS_A; ++i)
            nextA[i] = load4(A, M, K, row0 + rowA + i * rows_apart, k0 + kA);
        #pragma unroll
        for (int i = 0; i < LOADS_B; ++i)
            nextB[i] = load4(B, K, N, k0 + kB + i * k_apart, col0 + colB);
    };
    // From registers into shared memory, A transposed.
    auto put = [&](int to) {
        #pragma unroll
        for (int i = 0; i < LOADS_A; ++i) {
            const int row = rowA + i * rows_apart;
            sA[to][kA][row] = nextA[i].x;
            sA[to][kA + 1][row] = nextA[i].y;
            sA[to][kA + 2][row] = nextA[i].z;
            sA[to][kA + 3][row] = nextA[i].w;
        }
        #pragma unroll
        for (int i = 0; i < LOADS_B; ++i)
            four(sB[to][kB + i * k_apart][colB]) = nextB[i];
    };

    float acc[TM][TN] = {};
    fetch(0);
    put(0);
    __syncthreads();
    int now = 0;
    for (int k0 = 0; k0 < K; k0 += BK) {
        // The last time there is no next tile: zeros arrive, and nobody reads them.
        fetch(k0 + BK);
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            float a[TM], b[TN];
            #pragma unroll
            for (int i = 0; i < TM; i += 4)
                four(a[i]) = four(sA[now][k][ty * 4 + i * (BM / TM)]);
            #pragma unroll
            for (int j = 0; j < TN; j += 4)
                four(b[j]) = four(sB[now][k][tx * 4 + j * (BN / TN)]);
            #pragma unroll
            for (int i = 0; i < TM; ++i)
                #pragma unroll
                for (int j = 0; j < TN; ++j)
                    acc[i][j] += a[i] * b[j];
        }
        now ^= 1;
        put(now);
        // One barrier per tile: all have read the old tile, and written their part of the new one.
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

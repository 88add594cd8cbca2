// Thread tiles: a thread computes several elements of C, which it keeps in registers.
// C = A·B with A (M×K), B (K×N) and C (M×N), all row-major. A block computes BM×BN elements of C,
// BK steps of k at a time; a thread TM×TN of them. All are set when this is compiled.
#ifndef BM
#define BM 64
#define BN 64
#define BK 8
#define TM 8
#endif
#ifndef TN
#define TN 8
#endif
#define THREADS (BM / TM * (BN / TN))
// An SM has 65536 registers. The compiler shall give a thread no more than 128, or 256 for a large
// tile, so that the SM holds as many blocks as then fit.
#ifndef MIN_BLOCKS
#define REGISTERS (TM * TN > 64 ? 256 : 128)
#define MIN_BLOCKS (THREADS * REGISTERS < 65536 ? 65536 / (THREADS * REGISTERS) : 1)
#endif

// The threads of a block copy a tile of `height`×`width` elements into shared memory, starting at
// element (row0, col0) of the matrix: neighbours take neighbours, then all move on together.
template <int height, int width, int threads>
__device__ void copy_tile(float (&tile)[height][width], const float *__restrict__ matrix,
                          int rows, int cols, int row0, int col0)
{
    constexpr unsigned count = height * width;
    #pragma unroll
    for (unsigned done = 0; done < count; done += threads) {
        const unsigned i = done + threadIdx.x;
        const int row = row0 + i / width;
        const int col = col0 + i % width;
        // Zeros beyond the edges add nothing to any dot product.
        if (count % threads == 0 || i < count)
            tile[i / width][i % width] =
                row < rows && col < cols ? matrix[size_t(row) * cols + col] : 0.0f;
    }
}

// One dimension: a thread owns TM elements below each other. What it reads of B it uses TM times.
extern "C" __global__ void __launch_bounds__(BM / TM * BN)
thread_tiled_1d(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C,
                int M, int N, int K)
{
    constexpr int threads = BM / TM * BN;
    __shared__ float sA[BM][BK];
    __shared__ float sB[BK][BN];
    const int tx = threadIdx.x % BN;
    const int ty = threadIdx.x / BN;
    const int col0 = blockIdx.x * BN;
    const int row0 = blockIdx.y * BM;

    float acc[TM] = {};
    for (int k0 = 0; k0 < K; k0 += BK) {
        copy_tile<BM, BK, threads>(sA, A, M, K, row0, k0);
        copy_tile<BK, BN, threads>(sB, B, K, N, k0, col0);
        // No thread may read the tiles before every thread has written its part.
        __syncthreads();
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
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

// Two dimensions: a thread owns TM×TN elements. TM + TN reads serve TM·TN multiplications.
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

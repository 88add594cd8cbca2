// Tensor cores as in Turing (sm_75): each warp multiplies 64×32 elements of C by mma.sync.
// A block of 8 warps owns 128×128 elements; tiles of A and B pass through shared memory.
// A (M×K), B (K×N) and C (M×N) are row-major; K and N are multiples of 8, so that every
// row starts on a 16-byte boundary (the host sees to it).

#include "half.cuh"
#include "mma.cuh"

constexpr int BM = 128, BN = 128, BK = 32;
constexpr int WM = 64, WN = 32;       // of C, for one warp: 2 × 4 warps per block
constexpr int THREADS = 32 * (BM / WM) * (BN / WN);
// 8 more elements in a row of shared memory: the 8 rows of a block that ldmatrix reads at
// once then start in different banks.
constexpr int PITCH_A = BK + 8, PITCH_B = BN + 8;
// 16-byte pieces of a tile that each thread copies.
constexpr int PIECES_A = BM * BK / 8 / THREADS, PIECES_B = BK * BN / 8 / THREADS;

extern "C" __global__ void __launch_bounds__(THREADS)
mma_sm75(const Half *__restrict__ A, const Half *__restrict__ B, Result *__restrict__ C,
         int M, int N, int K, int pitch)
{
    __shared__ __align__(16) Half sA[BM * PITCH_A];
    __shared__ __align__(16) Half sB[BK * PITCH_B];
    const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int warp_row = warp / (BN / WN) * WM, warp_col = warp % (BN / WN) * WN;

    // The next tiles wait in registers while the tensor cores work on the present ones.
    uint4 next_A[PIECES_A], next_B[PIECES_B];
    auto fetch = [&](int k0) {
        #pragma unroll
        for (int i = 0; i < PIECES_A; ++i) {
            const int piece = tid + i * THREADS;
            const int row = row0 + piece / (BK / 8), k = k0 + piece % (BK / 8) * 8;
            next_A[i] = row < M && k < K
                ? *reinterpret_cast<const uint4 *>(A + size_t(row) * pitch + k) : uint4{0, 0, 0, 0};
        }
        #pragma unroll
        for (int i = 0; i < PIECES_B; ++i) {
            const int piece = tid + i * THREADS;
            const int k = k0 + piece / (BN / 8), col = col0 + piece % (BN / 8) * 8;
            next_B[i] = k < K && col < N
                ? *reinterpret_cast<const uint4 *>(B + size_t(k) * N + col) : uint4{0, 0, 0, 0};
        }
    };

    float acc[WM / 16][WN / 8][4] = {};
    fetch(0);
    for (int k0 = 0; k0 < K; k0 += BK) {
        #pragma unroll
        for (int i = 0; i < PIECES_A; ++i) {
            const int piece = tid + i * THREADS;
            *reinterpret_cast<uint4 *>(
                sA + piece / (BK / 8) * PITCH_A + piece % (BK / 8) * 8) = next_A[i];
        }
        #pragma unroll
        for (int i = 0; i < PIECES_B; ++i) {
            const int piece = tid + i * THREADS;
            *reinterpret_cast<uint4 *>(
                sB + piece / (BN / 8) * PITCH_B + piece % (BN / 8) * 8) = next_B[i];
        }
        // No warp may read the tiles before every thread has written its part.
        __syncthreads();
        fetch(k0 + BK);

        #pragma unroll
        for (int k = 0; k < BK; k += 16) {
            unsigned a[WM / 16][4], b[WN / 16][4];
            #pragma unroll
            for (int i = 0; i < WM / 16; ++i)
                load_blocks(a[i], shared_address(
                    sA + (warp_row + 16 * i + lane % 16) * PITCH_A + k + lane / 16 * 8));
            #pragma unroll
            for (int j = 0; j < WN / 16; ++j)
                load_blocks_transposed(b[j], shared_address(
                    sB + (k + lane % 16) * PITCH_B + warp_col + 16 * j + lane / 16 * 8));
            #pragma unroll
            for (int i = 0; i < WM / 16; ++i)
                #pragma unroll
                for (int j = 0; j < WN / 8; ++j)
                    multiply_add_sm75(acc[i][j], a[i], b[j / 2] + j % 2 * 2);
        }
        // No thread may overwrite the tiles before every warp has read them.
        __syncthreads();
    }

    #pragma unroll
    for (int i = 0; i < WM / 16; ++i)
        #pragma unroll
        for (int j = 0; j < WN / 8; ++j) {
            const int row = row0 + warp_row + 16 * i + lane / 4;
            const int col = col0 + warp_col + 8 * j + lane % 4 * 2;
            if (row < M && col < N)
                store_pair(C + size_t(row) * N + col, acc[i][j][0], acc[i][j][1]);
            if (row + 8 < M && col < N)
                store_pair(C + size_t(row + 8) * N + col, acc[i][j][2], acc[i][j][3]);
        }
}

// Asynchronous copies: tiles go from global to shared memory without passing through registers, and
// several are on their way at once (on GPUs of compute capability 8.0 and above).
// C = A·B with A (M×K), B (K×N) and C (M×N), all row-major. A block computes BM×BN elements of C,
// BK steps of k at a time; a warp WM×WN of them and a thread TM×TN. All are set when this is
// compiled, and WIDE=0 where 16-byte accesses to B or C are not legal.
#include "wide.cuh"
#ifndef BM
#define BM 128
#define BN 256
#define BK 8
#define WM 64
#define WN 64
#define TM 8
#define TN 16
#endif
// Tiles of each matrix in shared memory: one is multiplied while the others are on their way.
#ifndef STAGES
#define STAGES 3
#endif
#include "blocks.cuh"
#define THREADS (BM / WM * (BN / WN) * 32)
// An SM has 65536 registers. The compiler should give a thread no more than 128, or 256 for a
// large tile, so that the SM holds as many blocks as then fit.
#ifndef MIN_BLOCKS
#define REGISTERS (TM * TN > 64 ? 256 : 128)
#define MIN_BLOCKS (THREADS * REGISTERS < 65536 ? 65536 / (THREADS * REGISTERS) : 1)
#endif
#define LANES_M (WM / TM)
#define LANES_N (WN / TN)
static_assert(LANES_M * LANES_N == 32, "a warp has 32 threads");
#define PAD 4
#define COPIES_A (BM * BK / THREADS)
#define COPIES_B (BK * BN / 4 / THREADS)
static_assert(COPIES_A * THREADS == BM * BK && COPIES_B * 4 * THREADS == BK * BN,
              "every thread copies as many elements as the others");

// Start a copy of 4 or 16 bytes; outside the matrix, zeros are written and nothing is read.
template <int bytes>
__device__ __forceinline__ void copy(float &to, const float *from, bool inside)
{
#if __CUDA_ARCH__ >= 800
    const unsigned address = __cvta_generic_to_shared(&to);
    if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                     ::"r"(address), "l"(from), "r"(inside ? 16 : 0));
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;"
                     ::"r"(address), "l"(from), "r"(inside ? 4 : 0));
#else
    // Older GPUs have no such copies: the thread waits for each.
    for (int i = 0; i < bytes / 4; ++i)
        (&to)[i] = inside ? from[i] : 0.0f;
#endif
}

// All copies started since the last call make up one group.
__device__ __forceinline__ void close_group()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;");
#endif
}

// Wait until no more than `pending` groups of this thread are on their way.
template <int pending>
__device__ __forceinline__ void wait_for_groups()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(pending));
#endif
}

// Four sums, in registers of their own. A 16-byte store takes four neighbouring registers, and the
// compiler would rather keep acc in such fours throughout the loop than copy it at the end. There
// they are in the way: registers lie in two banks, and an FFMA that finds its three operands in one
// of them waits. Adding 0 changes no sum, but the store then has its fours, and acc is free.
__device__ __forceinline__ float4 aside(const float &first)
{
    const float4 sums = four(first);
    return make_float4(sums.x + 0.0f, sums.y + 0.0f, sums.z + 0.0f, sums.w + 0.0f);
}

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
async_tiled(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C,
            int M, int N, int K)
{
    __shared__ __align__(16) float sA[STAGES][BK][BM + PAD];
    __shared__ __align__(16) float sB[STAGES][BK][BN];
    const Strip strip = strip_of_block();
    const Slice slice = slice_of_block(K);
    const Corner tile = corner_in(strip);
    const int col0 = tile.col;
    const int row0 = tile.row;
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const int row1 = warp / (BN / WN) * WM + lane / LANES_N * 4;
    const int col1 = warp % (BN / WN) * WN + lane % LANES_N * 4;

    // A copy cannot turn four neighbours along k on their side: A goes float by float.
    const int rowA = threadIdx.x / BK, kA = threadIdx.x % BK;
    const int kB = threadIdx.x / (BN / 4), colB = threadIdx.x % (BN / 4) * 4;
    constexpr int rows_apart = THREADS / BK, k_apart = THREADS / (BN / 4);
    // The last row of A stands in for those beyond it: what comes of it is never stored.
    const int rows_more = max(0, M - 1 - row0 - rowA);
    const float *fromA = A + (size_t(min(row0 + rowA, M - 1)) * K + slice.begin + kA);
    const float *fromB = B + (size_t(slice.begin + kB) * N + col0 + colB);
    // The steps of k that no copy has been started for; below 1, copies write zeros.
    int left = slice.end - slice.begin, stage_next = 0;
    auto start_copies = [&] {
        #pragma unroll
        for (int i = 0; i < COPIES_A; ++i)
            copy<4>(sA[stage_next][kA][rowA + i * rows_apart],
                    fromA + size_t(min(i * rows_apart, rows_more)) * K, kA < left);
        #pragma unroll
        for (int i = 0; i < COPIES_B; ++i) {
            const bool inside = kB + i * k_apart < left;
            float *to = &sB[stage_next][kB + i * k_apart][colB];
            const float *from = fromB + size_t(i * k_apart) * N;
#if WIDE
            copy<16>(*to, from, inside && col0 + colB < N);
#else
            #pragma unroll
            for (int j = 0; j < 4; ++j)
                copy<4>(to[j], from + j, inside && col0 + colB + j < N);
#endif
        }
    };
    auto close = [&] {
        close_group();
        left -= BK;
        fromA += BK;
        fromB += size_t(BK) * N;
        stage_next = stage_next + 1 == STAGES ? 0 : stage_next + 1;
    };

    float acc[TM][TN] = {};
    float a[2][TM], b[2][TN];
    auto read = [&](int stage, int k, int to) {
        #pragma unroll
        for (int i = 0; i < TM; i += 4)
            four(a[to][i]) = four(sA[stage][k][row1 + i * LANES_M]);
        #pragma unroll
        for (int j = 0; j < TN; j += 4)
            four(b[to][j]) = four(sB[stage][k][col1 + j * LANES_N]);
    };

    #pragma unroll 1
    for (int i = 0; i < STAGES - 1; ++i) {
        start_copies();
        close();
    }
    // Every thread waits for its own copies, and then for everybody else's.
    wait_for_groups<STAGES - 2>();
    __syncthreads();
    int stage = 0;
    read(stage, 0, 0);
    for (int steps = slice.end - slice.begin; steps > 0; steps -= BK) {
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            if (k == BK - 1) {
                stage = stage + 1 == STAGES ? 0 : stage + 1;
                wait_for_groups<STAGES - 2>();
                __syncthreads();
            }
            // All have left the stage that is filled now before they met at the last barrier.
            if (k == 0)
                start_copies();
            if (k == BK - 2)
                close();
            read(stage, (k + 1) % BK, (k + 1) % 2);
            #pragma unroll
            for (int j = 0; j < TN; ++j)
                #pragma unroll
                for (int n = 0; n < TM; ++n) {
                    // Down one column and up the next: where it turns, an operand is used again.
                    const int i = j % 2 ? TM - 1 - n : n;
                    acc[i][j] += a[k % 2][i] * b[k % 2][j];
                }
        }
    }

    C += size_t(blockIdx.z) * M * N;
    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        const int row = row0 + row1 + i / 4 * 4 * LANES_M + i % 4;
        #pragma unroll
        for (int j = 0; j < TN; j += 4)
            store4(C, M, N, row, col0 + col1 + j * LANES_N, aside(acc[i][j]));
    }
}

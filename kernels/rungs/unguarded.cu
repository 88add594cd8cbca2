// Unguarded: no load in the loop asks where an edge is.
// C = A·B with A (M×K), B (K×N) and C (M×N), all row-major. A block computes BM×BN elements of C,
// BK steps of k at a time; a warp WM×WN of them and a thread TM×TN. All are set when this is
// compiled, and WIDE=0 where 16-byte accesses to A, B or C are not legal.
#include "wide.cuh"
#ifndef BM
#define BM 128
#define BN 128
#define BK 16
#define WM 64
#define WN 32
#define TM 8
#define TN 8
#endif
#include "blocks.cuh"
#define THREADS (BM / WM * (BN / WN) * 32)
// An SM has 65536 registers. The compiler should give a thread no more than 128, or 256 for a
// large tile, so that the SM holds as many blocks as then fit.
#ifndef MIN_BLOCKS
#define REGISTERS (TM * TN > 64 ? 256 : 128)
#define MIN_BLOCKS (THREADS * REGISTERS < 65536 ? 65536 / (THREADS * REGISTERS) : 1)
#endif
// The 32 threads of a warp stand in a grid of their own.
#define LANES_M (WM / TM)
#define LANES_N (WN / TN)
static_assert(LANES_M * LANES_N == 32, "a warp has 32 threads");
// A row of sA is longer than the tile, so that the four rows a thread writes lie in four banks.
#define PAD 4
// Groups of four that a thread loads of each tile.
#define LOADS_A (BM * BK / 4 / THREADS)
#define LOADS_B (BK * BN / 4 / THREADS)
static_assert(LOADS_A * 4 * THREADS == BM * BK && LOADS_B * 4 * THREADS == BK * BN,
              "every thread loads as many groups of four as the others");

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
unguarded(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C,
          int M, int N, int K)
{
    // Two tiles of each: one is read while the other is written.
    __shared__ __align__(16) float sA[2][BK][BM + PAD];
    __shared__ __align__(16) float sB[2][BK][BN];
    const int warp = threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const Strip strip = strip_of_block();
    const Corner tile = corner_in(strip);
    const int col0 = tile.col;
    const int row0 = tile.row;
    // Where in the block's tile the thread's own part begins: the warp's corner, then the lane's.
    const int row1 = warp / (BN / WN) * WM + lane / LANES_N * 4;
    const int col1 = warp % (BN / WN) * WN + lane % LANES_N * 4;
    // What this thread loads first of each tile: four floats along k of A, along a row of B.
    const int rowA = threadIdx.x / (BK / 4), kA = threadIdx.x % (BK / 4) * 4;
    const int kB = threadIdx.x / (BN / 4), colB = threadIdx.x % (BN / 4) * 4;
    constexpr int rows_apart = THREADS / (BK / 4), k_apart = THREADS / (BN / 4);

    // The first tile takes the steps of k that fill no whole tile, and zeros for the rest; all the
    // others are whole. Beyond the last row of A and the last columns of B, the last ones are loaded
    // again: what comes of them is never stored. So no load in the loop asks where an edge is.
    const int rest = (K - 1) % BK + 1;
    const bool more = K > BK;
    const int col = min(col0 + colB, N - (WIDE ? 4 : 1));
    const int3 apartA = more ? make_int3(1, 2, 3) : make_int3(0, 0, 0);
    const int3 apartB = make_int3(min(1, N - 1 - col), min(2, N - 1 - col), min(3, N - 1 - col));
    const float *fromA[LOADS_A], *fromB[LOADS_B];
    float4 nextA[LOADS_A], nextB[LOADS_B];
    #pragma unroll
    for (int i = 0; i < LOADS_A; ++i) {
        const int row = min(row0 + rowA + i * rows_apart, M - 1);
        fromA[i] = A + size_t(row) * K;
        nextA[i] = load_some(fromA[i] + kA, make_int3(1, 2, 3), rest - kA);
        fromA[i] += more ? rest + kA : 0;
    }
    #pragma unroll
    for (int i = 0; i < LOADS_B; ++i) {
        const int k = kB + i * k_apart;
        fromB[i] = B + col;
        nextB[i] = load_some(fromB[i] + size_t(k) * N, apartB, k < rest ? 4 : 0);
        fromB[i] += more ? size_t(rest + k) * N : 0;
    }
    // From global memory into registers. The last tile is loaded once more, and then not used.
    auto fetch = [&](bool advance) {
        #pragma unroll
        for (int i = 0; i < LOADS_A; ++i) {
            nextA[i] = load_some(fromA[i], apartA, 4);
            fromA[i] += advance ? BK : 0;
        }
        #pragma unroll
        for (int i = 0; i < LOADS_B; ++i) {
            nextB[i] = load_some(fromB[i], apartB, 4);
            fromB[i] += advance ? size_t(BK) * N : 0;
        }
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
    // Two fragments of each: one is multiplied while the other is read from shared memory.
    float a[2][TM], b[2][TN];
    auto read = [&](int from, int k, int to) {
        #pragma unroll
        for (int i = 0; i < TM; i += 4)
            four(a[to][i]) = four(sA[from][k][row1 + i * LANES_M]);
        #pragma unroll
        for (int j = 0; j < TN; j += 4)
            four(b[to][j]) = four(sB[from][k][col1 + j * LANES_N]);
    };

    put(0);
    __syncthreads();
    int now = 0;
    read(now, 0, 0);
    for (int tiles = (K + BK - 1) / BK; tiles > 0; --tiles) {
        #pragma unroll
        for (int k = 0; k < BK; ++k) {
            if (k == 0)
                fetch(tiles > 2);
            // The other tile has been read to its end before the last barrier: it may be written.
            if (k == BK - 2)
                put(now ^ 1);
            if (k == BK - 1) {
                now ^= 1;
                __syncthreads();
            }
            read(now, (k + 1) % BK, (k + 1) % 2);
            #pragma unroll
            for (int i = 0; i < TM; ++i)
                #pragma unroll
                for (int j = 0; j < TN; ++j)
                    acc[i][j] += a[k % 2][i] * b[k % 2][j];
        }
    }

    #pragma unroll
    for (int i = 0; i < TM; ++i) {
        const int row = row0 + row1 + i / 4 * 4 * LANES_M + i % 4;
        #pragma unroll
        for (int j = 0; j < TN; j += 4)
            store4(C, M, N, row, col0 + col1 + j * LANES_N, four(acc[i][j]));
    }
}

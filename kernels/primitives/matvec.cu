// A matrix times a vector, y = W·x, and times a few vectors at once, Y = X·Wᵀ.
#include "warp.cuh"
#include "fours.cuh"
#ifndef VECTORS
#define VECTORS 1
#define ROWS 1
#endif

constexpr int BLOCK = 256;
constexpr int WARPS = BLOCK / 32;
constexpr int SPAN = 512;  // columns of X that a block stages at a time

extern "C" __global__ void matvec_per_thread(const float *__restrict__ W,
                                             const float *__restrict__ x, float *__restrict__ y,
                                             int N, int K)
{
    const int row = blockIdx.x * BLOCK + threadIdx.x;
    if (row < N) {
        float acc = 0.0f;
        for (int k = 0; k < K; ++k)
            acc += W[size_t(row) * K + k] * x[k];
        y[row] = acc;
    }
}

extern "C" __global__ void matvec_per_warp(const float *__restrict__ W,
                                           const float *__restrict__ x, float *__restrict__ y,
                                           int N, int K)
{
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * WARPS + threadIdx.x / 32;
    // The whole warp has the same row: it stays together.
    if (row < N) {
        float acc = 0.0f;
        for (int k = lane; k < K; k += 32)
            acc += W[size_t(row) * K + k] * x[k];
        acc = sum_of_warp(acc);
        if (lane == 0)
            y[row] = acc;
    }
}

extern "C" __global__ void matvec_vectorized(const float *__restrict__ W,
                                             const float *__restrict__ x, float *__restrict__ y,
                                             int N, int K)
{
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * WARPS + threadIdx.x / 32;
    if (row < N) {
        float acc = 0.0f;
        for (int k = 4 * lane; k < K; k += 128) {
            const float4 w = load4(W + size_t(row) * K + k, K - k), v = load4(x + k, K - k);
            acc += (w.x * v.x + w.y * v.y) + (w.z * v.z + w.w * v.w);
        }
        acc = sum_of_warp(acc);
        if (lane == 0)
            y[row] = acc;
    }
}

extern "C" __global__ void matvec_thin(const float *__restrict__ W, const float *__restrict__ X,
                                       float *__restrict__ Y, int N, int K)
{
    const int lane = threadIdx.x % 32;
    const int row0 = (blockIdx.x * WARPS + threadIdx.x / 32) * ROWS;
    if (row0 >= N)
        return;
    float acc[ROWS][VECTORS] = {};
    for (int k = 4 * lane; k < K; k += 128) {
        // Four weights of each row, loaded once, and used by every vector.
        float4 w[ROWS];
#pragma unroll
        for (int i = 0; i < ROWS; ++i)
            w[i] = load4(W + size_t(row0 + i) * K + k, row0 + i < N ? K - k : 0);
#pragma unroll
        for (int m = 0; m < VECTORS; ++m) {
            const float4 v = load4(X + size_t(m) * K + k, K - k);
#pragma unroll
            for (int i = 0; i < ROWS; ++i)
                acc[i][m] += (w[i].x * v.x + w[i].y * v.y) + (w[i].z * v.z + w[i].w * v.w);
        }
    }
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
#pragma unroll
        for (int m = 0; m < VECTORS; ++m) {
            const float sum = sum_of_warp(acc[i][m]);
            if (lane == 0 && row0 + i < N)
                Y[size_t(m) * N + row0 + i] = sum;
        }
}

// The same with X staged in shared memory: loaded by a block, not by each of its warps.
extern "C" __global__ void matvec_staged(const float *__restrict__ W, const float *__restrict__ X,
                                         float *__restrict__ Y, int N, int K)
{
    __shared__ __align__(16) float sX[VECTORS][SPAN];
    const int lane = threadIdx.x % 32;
    const int row0 = (blockIdx.x * WARPS + threadIdx.x / 32) * ROWS;
    float acc[ROWS][VECTORS] = {};
    for (int k0 = 0; k0 < K; k0 += SPAN) {
        // All warps have read the columns before these.
        __syncthreads();
        for (int i = 4 * threadIdx.x; i < VECTORS * SPAN; i += 4 * BLOCK) {
            const int m = i / SPAN, k = i % SPAN;
            *reinterpret_cast<float4 *>(&sX[m][k]) = load4(X + size_t(m) * K + k0 + k, K - k0 - k);
        }
        __syncthreads();
        for (int k = 4 * lane; k < min(SPAN, K - k0); k += 128) {
            float4 w[ROWS];
#pragma unroll
            for (int i = 0; i < ROWS; ++i)
                w[i] = load4(W + size_t(row0 + i) * K + k0 + k, row0 + i < N ? K - k0 - k : 0);
#pragma unroll
            for (int m = 0; m < VECTORS; ++m) {
                const float4 v = *reinterpret_cast<const float4 *>(&sX[m][k]);
#pragma unroll
                for (int i = 0; i < ROWS; ++i)
                    acc[i][m] += (w[i].x * v.x + w[i].y * v.y) + (w[i].z * v.z + w[i].w * v.w);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
#pragma unroll
        for (int m = 0; m < VECTORS; ++m) {
            const float sum = sum_of_warp(acc[i][m]);
            if (lane == 0 && row0 + i < N)
                Y[size_t(m) * N + row0 + i] = sum;
        }
}

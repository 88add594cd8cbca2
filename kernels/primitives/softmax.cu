// Softmax of rows, a block of eight warps for each: three passes, then two with a running
// maximum and sum. A short row fits in the registers of a single warp.
#include "warp.cuh"
#ifndef EACH
#define EACH 1
#endif

constexpr int WARPS = 8, THREADS = 32 * WARPS;
constexpr float LOWEST = -3.0e38f;  // not minus infinity: the difference of two is no number

__device__ float largest_of_block(float x, float *parts)
{
    for (int offset = 16; offset > 0; offset /= 2)
        x = fmaxf(x, __shfl_xor_sync(ALL, x, offset));
    // The warps before may still be reading what the last call left there.
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = x;
    __syncthreads();
    for (int i = 0; i < WARPS; ++i)
        x = fmaxf(x, parts[i]);
    return x;
}

__device__ float sum_for_block(float x, float *parts)
{
    for (int offset = 16; offset > 0; offset /= 2)
        x += __shfl_xor_sync(ALL, x, offset);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = x;
    __syncthreads();
    x = 0.0f;
    for (int i = 0; i < WARPS; ++i)
        x += parts[i];
    return x;
}

extern "C" __global__ void softmax_safe(const float *__restrict__ A, float *__restrict__ P,
                                        int M, int N)
{
    __shared__ float parts[WARPS];
    A += size_t(blockIdx.x) * N;
    P += size_t(blockIdx.x) * N;
    float largest = LOWEST, total = 0.0f;
    for (int col = threadIdx.x; col < N; col += THREADS)
        largest = fmaxf(largest, A[col]);
    largest = largest_of_block(largest, parts);
    for (int col = threadIdx.x; col < N; col += THREADS)
        total += expf(A[col] - largest);
    total = sum_for_block(total, parts);
    for (int col = threadIdx.x; col < N; col += THREADS)
        P[col] = expf(A[col] - largest) / total;
}

extern "C" __global__ void softmax_online(const float *__restrict__ A, float *__restrict__ P,
                                          int M, int N)
{
    __shared__ float parts[WARPS];
    A += size_t(blockIdx.x) * N;
    P += size_t(blockIdx.x) * N;
    float largest = LOWEST, total = 0.0f;
    for (int col = threadIdx.x; col < N; col += THREADS) {
        const float x = A[col], above = fmaxf(largest, x);
        // The sum so far was taken relative to the old maximum: rescale it, then add.
        total = total * expf(largest - above) + expf(x - above);
        largest = above;
    }
    // Each thread's sum is relative to its own maximum until here.
    const float above = largest_of_block(largest, parts);
    total = sum_for_block(total * expf(largest - above), parts);
    for (int col = threadIdx.x; col < N; col += THREADS)
        P[col] = expf(A[col] - above) / total;
}

// Rows of up to 32 * EACH elements: each is loaded once.
extern "C" __global__ void softmax_registers(const float *__restrict__ A, float *__restrict__ P,
                                             int M, int N)
{
    const int lane = threadIdx.x % 32, row = blockIdx.x * WARPS + threadIdx.x / 32;
    // The whole warp has the same row: it stays together.
    if (row >= M)
        return;
    A += size_t(row) * N;
    P += size_t(row) * N;
    float x[EACH], largest = LOWEST, total = 0.0f;
#pragma unroll
    for (int j = 0; j < EACH; ++j)
        x[j] = lane + 32 * j < N ? A[lane + 32 * j] : __int_as_float(0xFF800000);
#pragma unroll
    for (int j = 0; j < EACH; ++j)
        largest = fmaxf(largest, x[j]);
    for (int offset = 16; offset > 0; offset /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(ALL, largest, offset));
#pragma unroll
    for (int j = 0; j < EACH; ++j)
        total += x[j] = expf(x[j] - largest);  // where there is no element, 0
    for (int offset = 16; offset > 0; offset /= 2)
        total += __shfl_xor_sync(ALL, total, offset);
#pragma unroll
    for (int j = 0; j < EACH; ++j)
        if (lane + 32 * j < N)
            P[lane + 32 * j] = x[j] / total;
}

// Softmax of rows, a block of eight warps for each: three passes, then two with a running
// maximum and sum.
#include "warp.cuh"

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

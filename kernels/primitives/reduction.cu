// The sum of a vector in five steps: two trees in shared memory, shuffles, more loads, wide loads.
#include "warp.cuh"

constexpr int BLOCK = 256;
constexpr int EACH = 8;  // numbers of a thread of sum_several

extern "C" __global__ void sum_interleaved(const float *__restrict__ a, float *__restrict__ sums,
                                           int n)
{
    __shared__ float s[BLOCK];
    const int t = threadIdx.x;
    const size_t i = size_t(blockIdx.x) * BLOCK + t;
    s[t] = i < n ? a[i] : 0.0f;
    // Nobody may read another thread's number before it has been stored.
    __syncthreads();
    for (int step = 1; step < BLOCK; step *= 2) {
        if (t % (2 * step) == 0)
            s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = s[0];
}

extern "C" __global__ void sum_tree(const float *__restrict__ a, float *__restrict__ sums, int n)
{
    __shared__ float s[BLOCK];
    const int t = threadIdx.x;
    const size_t i = size_t(blockIdx.x) * BLOCK + t;
    s[t] = i < n ? a[i] : 0.0f;
    // Nobody may read another thread's number before it has been stored.
    __syncthreads();
    for (int step = BLOCK / 2; step > 0; step /= 2) {
        if (t < step)
            s[t] += s[t + step];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = s[0];
}

extern "C" __global__ void sum_shuffled(const float *__restrict__ a, float *__restrict__ sums,
                                        int n)
{
    const size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x;
    const float acc = sum_of_block<BLOCK / 32>(i < n ? a[i] : 0.0f);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = acc;
}

extern "C" __global__ void sum_several(const float *__restrict__ a, float *__restrict__ sums, int n)
{
    const size_t start = size_t(blockIdx.x) * (BLOCK * EACH) + threadIdx.x;
    float acc = 0.0f;
    // No load needs another's number: all are under way before the first addition.
#pragma unroll
    for (int j = 0; j < EACH; ++j) {
        const size_t i = start + j * BLOCK;
        acc += i < n ? a[i] : 0.0f;
    }
    acc = sum_of_block<BLOCK / 32>(acc);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = acc;
}

extern "C" __global__ void sum_vectorized(const float *__restrict__ a, float *__restrict__ sums,
                                          int n)
{
    const size_t start = size_t(blockIdx.x) * BLOCK + threadIdx.x;
    const size_t step = size_t(gridDim.x) * BLOCK;
    const size_t whole = reinterpret_cast<size_t>(a) % 16 == 0 ? n / 4 : 0;
    float acc = 0.0f;
    for (size_t i = start; i < whole; i += step) {
        const float4 v = reinterpret_cast<const float4 *>(a)[i];
        acc += (v.x + v.y) + (v.z + v.w);
    }
    // What is left: at most three numbers, or all where the vector begins off a 16-byte boundary.
    for (size_t i = 4 * whole + start; i < n; i += step)
        acc += a[i];
    acc = sum_of_block<BLOCK / 32>(acc);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = acc;
}

// What the 32 threads of a warp tell each other without shared memory, and what a block adds up.

constexpr unsigned ALL = 0xFFFFFFFF;  // every lane takes part

// Return the sum over the warp in lane 0.
__device__ __forceinline__ float sum_of_warp(float value)
{
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        value += __shfl_down_sync(ALL, value, step);
    return value;
}

// Return the sum over a block of `WARPS` warps in thread 0.
template <int WARPS>
__device__ __forceinline__ float sum_of_block(float value)
{
    __shared__ float sums_of_warps[WARPS];
    const int t = threadIdx.x;
    value = sum_of_warp(value);
    if (t % 32 == 0)
        sums_of_warps[t / 32] = value;
    // The first warp may read a sum only after its warp has stored it.
    __syncthreads();
    return t < 32 ? sum_of_warp(t < WARPS ? sums_of_warps[t] : 0.0f) : 0.0f;
}

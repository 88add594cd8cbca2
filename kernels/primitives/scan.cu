// Prefix sums: out[i] = a[0] + … + a[i], block by block.
#include "warp.cuh"
#include "fours.cuh"

#ifndef VECTORS
#define VECTORS 8  // loads of a thread in scan_lookback
#endif

constexpr int BLOCK = 256;
constexpr int WARPS = BLOCK / 32;

// Return the sum over this lane and those before it.
__device__ __forceinline__ float scan_of_warp(float value)
{
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const float left = __shfl_up_sync(ALL, value, step);
        if (lane >= step)
            value += left;
    }
    return value;
}

// Return the sum of what the threads of the block before this one hold.
__device__ __forceinline__ float sum_before(float value)
{
    __shared__ float s[WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float scanned = scan_of_warp(value);
    if (lane == 31)
        s[warp] = scanned;
    // The first warp may read a sum only after its warp has stored it.
    __syncthreads();
    if (warp == 0) {
        const float sums = scan_of_warp(lane < WARPS ? s[lane] : 0.0f);
        if (lane < WARPS)
            s[lane] = sums;
    }
    // And the others may read what the first warp made of it only after that.
    __syncthreads();
    const float left = __shfl_up_sync(ALL, scanned, 1);
    return (warp > 0 ? s[warp - 1] : 0.0f) + (lane > 0 ? left : 0.0f);
}

extern "C" __global__ void scan_shared(const float *__restrict__ a,
                                       const float *__restrict__ before, float *__restrict__ out,
                                       int n)
{
    __shared__ float s[BLOCK];
    const int t = threadIdx.x;
    const size_t i = size_t(blockIdx.x) * BLOCK + t;
    s[t] = i < n ? a[i] : 0.0f;
    __syncthreads();
    for (int step = 1; step < BLOCK; step *= 2) {
        const float left = t >= step ? s[t - step] : 0.0f;
        // All have read before anybody writes, and all have written before anybody reads again.
        __syncthreads();
        s[t] += left;
        __syncthreads();
    }
    const float start = blockIdx.x > 0 ? before[blockIdx.x - 1] : 0.0f;
    if (i < n)
        out[i] = start + s[t];
}

extern "C" __global__ void scan_shuffled(const float *__restrict__ a,
                                         const float *__restrict__ before,
                                         float *__restrict__ out, int n)
{
    const size_t i = size_t(blockIdx.x) * BLOCK + threadIdx.x;
    const float value = i < n ? a[i] : 0.0f;
    const float left = sum_before(value);
    const float start = blockIdx.x > 0 ? before[blockIdx.x - 1] : 0.0f;
    if (i < n)
        out[i] = start + (left + value);
}

extern "C" __global__ void sum_tiles(const float *__restrict__ a, float *__restrict__ sums, int n)
{
    const size_t i = 4 * (size_t(blockIdx.x) * BLOCK + threadIdx.x);
    const float4 v = load4(a + i, i < n ? n - i : 0);
    const float acc = sum_of_block<WARPS>((v.x + v.y) + (v.z + v.w));
    if (threadIdx.x == 0)
        sums[blockIdx.x] = acc;
}

extern "C" __global__ void scan_vectorized(const float *__restrict__ a,
                                           const float *__restrict__ before,
                                           float *__restrict__ out, int n)
{
    const size_t i = 4 * (size_t(blockIdx.x) * BLOCK + threadIdx.x);
    const int count = i < n ? n - i : 0;
    float4 v = load4(a + i, count);
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    const float start = blockIdx.x > 0 ? before[blockIdx.x - 1] : 0.0f;
    const float left = sum_before(v.w) + start;
    store4(out + i, count, make_float4(left + v.x, left + v.y, left + v.z, left + v.w));
}

// What a tile has published: its own sum, or the sum of everything up to its end.
constexpr unsigned SUM = 1, PREFIX = 2;

__device__ __forceinline__ unsigned load_acquire(const unsigned *at)
{
    unsigned value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

// Return the sum of all tiles before this one, in lane 0: a warp calls it, each lane looks at one.
__device__ float look_back(int tile, const float *sums, const float *prefixes,
                           const unsigned *states)
{
    float before = 0.0f;
    for (int last = tile - 1; last >= 0; last -= 32) {
        const int other = last - int(threadIdx.x);
        unsigned state = PREFIX;
        float value = 0.0f;
        if (other >= 0) {
            do
                state = load_acquire(states + 1 + other);
            while (state == 0);
            value = state == PREFIX ? prefixes[other] : sums[other];
        }
        // The nearest prefix ends the search; what lies before it is part of it.
        const int nearest = __ffs(__ballot_sync(ALL, state == PREFIX)) - 1;
        if (nearest >= 0 && int(threadIdx.x) > nearest)
            value = 0.0f;
        before += sum_of_warp(value);
        if (nearest >= 0)
            break;
    }
    return before;
}

extern "C" __global__ void scan_lookback(const float *__restrict__ a, float *sums, float *prefixes,
                                         unsigned *states, float *__restrict__ out, int n)
{
    __shared__ int s_tile;
    __shared__ float s_before;        // the sum of all tiles before this one
    __shared__ float s_warps[WARPS];  // of the tile, up to the end of each warp
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    // Blocks take numbers in the order in which they start, so a tile's predecessors have started.
    if (threadIdx.x == 0)
        s_tile = atomicAdd(states, 1u);
    __syncthreads();
    const int tile = s_tile;
    // A warp's numbers are neighbours. All its loads are under way before the first addition.
    const size_t start = 4 * ((size_t(tile) * WARPS + warp) * 32 * VECTORS + lane);
    float4 v[VECTORS];
#pragma unroll
    for (int j = 0; j < VECTORS; ++j) {
        const size_t i = start + 128 * j;
        v[j] = load4(a + i, i < n ? n - i : 0);
    }
    float total = 0.0f;  // of the warp, so far
#pragma unroll
    for (int j = 0; j < VECTORS; ++j) {
        v[j].y += v[j].x;
        v[j].z += v[j].y;
        v[j].w += v[j].z;
        const float scanned = scan_of_warp(v[j].w);
        float left = __shfl_up_sync(ALL, scanned, 1);
        left = total + (lane > 0 ? left : 0.0f);
        v[j] = make_float4(left + v[j].x, left + v[j].y, left + v[j].z, left + v[j].w);
        total += __shfl_sync(ALL, scanned, 31);
    }
    if (lane == 0)
        s_warps[warp] = total;
    __syncthreads();
    if (warp == 0) {
        const float sums_of_warps = scan_of_warp(lane < WARPS ? s_warps[lane] : 0.0f);
        if (lane < WARPS)
            s_warps[lane] = sums_of_warps;
        const float whole = __shfl_sync(ALL, sums_of_warps, WARPS - 1);
        // The fence comes between: whoever sees the state sees the sum as well.
        if (lane == 0 && tile > 0) {
            sums[tile] = whole;
            __threadfence();
            atomicExch(states + 1 + tile, SUM);
        }
        const float before = look_back(tile, sums, prefixes, states);
        if (lane == 0) {
            prefixes[tile] = before + whole;
            __threadfence();
            atomicExch(states + 1 + tile, PREFIX);
            s_before = before;
        }
    }
    __syncthreads();
    const float left = s_before + (warp > 0 ? s_warps[warp - 1] : 0.0f);
#pragma unroll
    for (int j = 0; j < VECTORS; ++j) {
        const size_t i = start + 128 * j;
        const float4 w = make_float4(left + v[j].x, left + v[j].y, left + v[j].z, left + v[j].w);
        store4(out + i, i < n ? n - i : 0, w);
    }
}

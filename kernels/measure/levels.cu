// Probes of bandwidth: every SM reads from one level of memory as fast as that level answers.
//
// Each thread adds up what it reads, so that no load can be left out, and stores a sum that no
// caller looks at. A warp reads 512 bytes in a row: sixteen sectors, four wavefronts, no conflict.
// No two rounds read the same places, or the compiler would keep what it has.

// Shared memory: a block goes round and round its own 16 KiB.
extern "C" __global__ void read_shared(int rounds, float *sums)
{
    __shared__ float4 s[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        s[i] = make_float4(i, 1, 2, 3);
    __syncthreads();
    float4 acc = make_float4(0, 0, 0, 0);
    for (int round = 0; round < rounds; ++round) {
        #pragma unroll
        for (int part = 0; part < 8; ++part) {
            const float4 v = s[(threadIdx.x + 128 * part + 40 * round) % 1024];
            acc.x += v.x;
            acc.y += v.y;
            acc.z += v.z;
            acc.w += v.w;
        }
    }
    sums[blockIdx.x * blockDim.x + threadIdx.x] = acc.x + acc.y + acc.z + acc.w;
}

// L1: the same from global memory; all blocks of an SM share the 16 KiB, which stay in its L1.
extern "C" __global__ void read_l1(const float4 *memory, int rounds, float *sums)
{
    float4 acc = make_float4(0, 0, 0, 0);
    for (int round = 0; round < rounds; ++round) {
        #pragma unroll
        for (int part = 0; part < 8; ++part) {
            const float4 v = __ldca(memory + (threadIdx.x + 128 * part + 40 * round) % 1024);
            acc.x += v.x;
            acc.y += v.y;
            acc.z += v.z;
            acc.w += v.w;
        }
    }
    sums[blockIdx.x * blockDim.x + threadIdx.x] = acc.x + acc.y + acc.z + acc.w;
}

// L2: the grid as a whole goes round and round `count` elements, past L1 (cache global).
extern "C" __global__ void read_l2(const float4 *memory, int count, int rounds, float *sums)
{
    const int all = gridDim.x * blockDim.x;
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    float4 acc = make_float4(0, 0, 0, 0);
    for (int round = 0; round < rounds; ++round) {
        #pragma unroll 8
        for (int i = first; i < count; i += all) {
            const float4 v = __ldcg(memory + i);
            acc.x += v.x;
            acc.y += v.y;
            acc.z += v.z;
            acc.w += v.w;
        }
    }
    sums[first] = acc.x + acc.y + acc.z + acc.w;
}

// DRAM: each thread loads eight times, once, and its block's loads are neighbours. It stores nothing,
// for no sum of zeros is 1.
extern "C" __global__ void read_dram(const float4 *memory, int count, float *sums)
{
    const int first = 8 * blockIdx.x * blockDim.x + threadIdx.x;
    float4 acc = make_float4(0, 0, 0, 0);
    #pragma unroll
    for (int part = 0; part < 8; ++part) {
        const int i = first + part * blockDim.x;
        const float4 v = i < count ? __ldcs(memory + i) : make_float4(0, 0, 0, 0);
        acc.x += v.x;
        acc.y += v.y;
        acc.z += v.z;
        acc.w += v.w;
    }
    if (acc.x + acc.y + acc.z + acc.w == 1)
        sums[0] = 1;
}

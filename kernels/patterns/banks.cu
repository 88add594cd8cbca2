// Reads of shared memory whose 32 lanes lie a stride apart; the twin of
// kernels/patterns/banks.py.

const int WORDS = 2048;  // floats in shared memory
const int READS = 32;    // reads of a thread in one iteration

extern "C" __global__ void strided_reads(float *sums, int stride, int iterations)
{
    __shared__ float s[WORDS];
    for (int i = threadIdx.x; i < WORDS; i += blockDim.x)
        s[i] = i % 256;
    __syncthreads();
    const int lane = threadIdx.x % 32;
    float acc = 0.0f;
    for (int iteration = 0; iteration < iterations; ++iteration) {
        // Another start each time: otherwise one iteration would do for all.
        const int first = lane * stride + iteration % 32;
        #pragma unroll
        for (int k = 0; k < READS; ++k)
            acc += s[first + k];
    }
    sums[blockIdx.x * blockDim.x + threadIdx.x] = acc;
}

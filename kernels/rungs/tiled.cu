// Tiled matrix product: a block's threads share tiles of A and B in shared memory.
// C = A·B with A (M×K), B (K×N) and C (M×N), all row-major; TILE is set when this
// is compiled.

extern "C" __global__ void tiled(const float *__restrict__ A,
                                 const float *__restrict__ B,
                                 float *__restrict__ C, int M, int N, int K)
{
    __shared__ float sA[TILE][TILE];
    __shared__ float sB[TILE][TILE];
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int col = blockIdx.x * TILE + tx;
    const int row = blockIdx.y * TILE + ty;

    float acc = 0.0f;
    // The tiles walk right along A and down along B; the last may reach past K.
    // Unrolled by two, and told by __restrict__ that C overlaps neither A nor B, the
    // compiler may load a second pair of tiles while the first is still in use.
    #pragma unroll 2
    for (int k0 = 0; k0 < K; k0 += TILE) {
        // Zeros beyond the edges add nothing to any dot product.
        sA[ty][tx] = row < M && k0 + tx < K ? A[size_t(row) * K + k0 + tx] : 0.0f;
        sB[ty][tx] = k0 + ty < K && col < N ? B[size_t(k0 + ty) * N + col] : 0.0f;
        // No thread may read the tiles before every thread has written its part.
        __syncthreads();
        for (int k = 0; k < TILE; ++k)
            acc += sA[ty][k] * sB[k][tx];
        // No thread may overwrite the tiles before every thread has read them.
        __syncthreads();
    }

    // Threads beyond the edges have helped to load, but own no element of C.
    if (row < M && col < N)
        C[size_t(row) * N + col] = acc;
}

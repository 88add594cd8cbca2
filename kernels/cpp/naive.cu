// Naive matrix product: one thread, one element of C, straight from global memory.
// C = A·B with A (M×K), B (K×N) and C (M×N), all row-major: element (row, col) of
// a matrix with N columns lies at row * N + col.

extern "C" __global__ void naive(const float *A, const float *B, float *C,
                                 int M, int N, int K)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    // The last blocks reach past the edges of C.
    if (row < M && col < N) {
        float acc = 0.0f;
        for (int k = 0; k < K; ++k)
            acc += A[row * K + k] * B[k * N + col];
        C[row * N + col] = acc;
    }
}

extern "C" __global__ void swapped(const float *A, const float *B, float *C,
                                   int M, int N, int K)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int col = blockIdx.y * blockDim.y + threadIdx.y;
    // The last blocks reach past the edges of C.
    if (row < M && col < N) {
        float acc = 0.0f;
        for (int k = 0; k < K; ++k)
            acc += A[row * K + k] * B[k * N + col];
        C[row * N + col] = acc;
    }
}

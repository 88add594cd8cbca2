// Naive matrix product with its indices swapped: x counts rows, so a warp runs down a column.
// C = A·B with A (M×K), B (K×N) and C (M×N), all row-major: element (row, col) of
// a matrix with N columns lies at row * N + col, which can be more than an int holds.

extern "C" __global__ void swapped(const float *A, const float *B, float *C,
                                   int M, int N, int K)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    const int col = blockIdx.y * blockDim.y + threadIdx.y;
    // The last blocks reach past the edges of C.
    if (row < M && col < N) {
        float acc = 0.0f;
        // Eight steps at a time: sixteen loads are on their way at once.
        #pragma unroll 8
        for (int k = 0; k < K; ++k)
            acc += A[size_t(row) * K + k] * B[size_t(k) * N + col];
        C[size_t(row) * N + col] = acc;
    }
}

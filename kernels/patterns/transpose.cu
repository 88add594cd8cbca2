// Transpose: B = Aᵀ with A (M×N) and B (N×M), row-major; the twins of
// kernels/patterns/transpose.py. Each kernel differs from the one before it in one thing.

const int TILE = 32;   // side of a tile: a warp covers one row of it
const int LARGE = 64;  // side of the large tile
const int ROWS = 8;    // rows of threads in a block whose threads load several

extern "C" __global__ void transpose_row_read(const float *__restrict__ A,
                                              float *__restrict__ B, int M, int N)
{
    const int col = blockIdx.x * TILE + threadIdx.x;
    const int row = blockIdx.y * TILE + threadIdx.y;
    // x runs along a row of A, and so down a column of B.
    if (row < M && col < N)
        B[size_t(col) * M + row] = A[size_t(row) * N + col];
}

extern "C" __global__ void transpose_row_write(const float *__restrict__ A,
                                               float *__restrict__ B, int M, int N)
{
    const int col = blockIdx.x * TILE + threadIdx.x;
    const int row = blockIdx.y * TILE + threadIdx.y;
    // x runs along a row of B, and so down a column of A.
    if (row < N && col < M)
        B[size_t(row) * M + col] = A[size_t(col) * N + row];
}

extern "C" __global__ void transpose_tiled(const float *__restrict__ A,
                                           float *__restrict__ B, int M, int N)
{
    __shared__ float s[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    // The tile's corner: its column and its row in A, its row and its column in B.
    const int left = blockIdx.x * TILE, top = blockIdx.y * TILE;
    if (top + ty < M && left + tx < N)
        s[ty][tx] = A[size_t(top + ty) * N + left + tx];
    // No thread may read an element before another thread has stored it.
    __syncthreads();
    if (left + ty < N && top + tx < M)
        B[size_t(left + ty) * M + top + tx] = s[tx][ty];
}

extern "C" __global__ void transpose_padded(const float *__restrict__ A,
                                            float *__restrict__ B, int M, int N)
{
    // One column more than is used: the next row starts one bank further.
    __shared__ float s[TILE][TILE + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int left = blockIdx.x * TILE, top = blockIdx.y * TILE;
    if (top + ty < M && left + tx < N)
        s[ty][tx] = A[size_t(top + ty) * N + left + tx];
    __syncthreads();
    if (left + ty < N && top + tx < M)
        B[size_t(left + ty) * M + top + tx] = s[tx][ty];
}

extern "C" __global__ void transpose_swizzled(const float *__restrict__ A,
                                              float *__restrict__ B, int M, int N)
{
    __shared__ float s[TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int left = blockIdx.x * TILE, top = blockIdx.y * TILE;
    // Element (row, column) of the tile lies in column `column ^ row`: no word is
    // wasted.
    if (top + ty < M && left + tx < N)
        s[ty][tx ^ ty] = A[size_t(top + ty) * N + left + tx];
    __syncthreads();
    if (left + ty < N && top + tx < M)
        B[size_t(left + ty) * M + top + tx] = s[tx][ty ^ tx];
}

// What the last three share: a block of SIDE × ROWS threads transposes a tile of
// SIDE × SIDE whose corner in A lies at row `top`, column `left`.
template <int SIDE>
__device__ void transpose_tile(const float *__restrict__ A, float *__restrict__ B,
                               int M, int N, int left, int top)
{
    __shared__ float s[SIDE][SIDE + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    float held[SIDE / ROWS];
    // All loads of a thread are in flight before it waits for the first of them.
    #pragma unroll
    for (int i = 0; i < SIDE / ROWS; ++i) {
        const int row = top + ty + i * ROWS, col = left + tx;
        held[i] = row < M && col < N ? A[size_t(row) * N + col] : 0.0f;
    }
    #pragma unroll
    for (int i = 0; i < SIDE / ROWS; ++i)
        s[ty + i * ROWS][tx] = held[i];
    __syncthreads();
    #pragma unroll
    for (int i = 0; i < SIDE / ROWS; ++i) {
        const int row = left + ty + i * ROWS, col = top + tx;
        if (row < N && col < M)
            B[size_t(row) * M + col] = s[tx][ty + i * ROWS];
    }
}

extern "C" __global__ void transpose_four(const float *__restrict__ A,
                                          float *__restrict__ B, int M, int N)
{
    transpose_tile<TILE>(A, B, M, N, blockIdx.x * TILE, blockIdx.y * TILE);
}

extern "C" __global__ void transpose_large(const float *__restrict__ A,
                                           float *__restrict__ B, int M, int N)
{
    transpose_tile<LARGE>(A, B, M, N, blockIdx.x * LARGE, blockIdx.y * LARGE);
}

extern "C" __global__ void transpose_ordered(const float *__restrict__ A,
                                             float *__restrict__ B, int M, int N)
{
    // Blocks start along x first: those that run together now store side by side.
    transpose_tile<LARGE>(A, B, M, N, blockIdx.y * LARGE, blockIdx.x * LARGE);
}

// The threads of a block copy a tile of `height`×`width` elements into shared memory, starting at
// element (row0, col0) of the matrix: neighbours take neighbours, then all move on together.
template <int height, int width, int threads>
__device__ void copy_tile(float (&tile)[height][width], const float *__restrict__ matrix,
                          int rows, int cols, int row0, int col0)
{
    constexpr unsigned count = height * width;
    #pragma unroll
    for (unsigned done = 0; done < count; done += threads) {
        const unsigned i = done + threadIdx.x;
        const int row = row0 + i / width;
        const int col = col0 + i % width;
        // Zeros beyond the edges add nothing to any dot product.
        if (count % threads == 0 || i < count)
            tile[i / width][i % width] =
                row < rows && col < cols ? matrix[size_t(row) * cols + col] : 0.0f;
    }
}

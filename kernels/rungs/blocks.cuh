// Which part of the product a block computes: a tile of C, and a slice of the sums over k.
#ifndef GROUP
#define GROUP 8
#endif

// Blocks start in the order of their numbers, about as many at once as the GPU has room for. Those
// that run together should need the same rows of A and columns of B, which then stay in the L2
// cache. So the blocks do not fill whole rows of tiles, but strips GROUP tiles high, column by
// column.
struct Strip { unsigned top, height, within; };  // tiles above, tiles high, number of the tile
struct Corner { int row, col; };                 // the first element of a tile of C

__device__ __forceinline__ Strip strip_of_block()
{
    const unsigned across = gridDim.x, down = gridDim.y;
    const unsigned number = blockIdx.y * across + blockIdx.x;
    const unsigned top = number / (GROUP * across) * GROUP;
    // The last strip may have fewer tiles on top of each other.
    return {top, min(GROUP, down - top), number % (GROUP * across)};
}

__device__ __forceinline__ Corner corner_in(const Strip &strip)
{
    return {int(strip.top + strip.within % strip.height) * BM,
            int(strip.within / strip.height) * BN};
}

// Where C has too few tiles to keep the GPU busy, the grid has several layers, gridDim.z of them.
// Each takes its own slice of k and writes its sums to a matrix of its own, which follow each other
// in memory; a second kernel adds them.
struct Slice { int begin, end; };  // the steps of k: from begin up to, but not including, end

__device__ __forceinline__ Slice slice_of_block(int K)
{
    // Slices end where tiles end, and none is longer than another by more than a tile.
    const long long tiles = (K - 1) / BK + 1;
    const int begin = tiles * blockIdx.z / gridDim.z * BK;
    const long long end = tiles * (blockIdx.z + 1) / gridDim.z * BK;
    return {begin, int(end < K ? end : K)};
}

// Which part of the product a block computes: a tile of C, and a slice of the sums over k.
//
// Blocks start in the order of their numbers, about as many at once as the GPU has room for. Those
// that run together should need the same rows of A and columns of B, which then stay in the L2
// cache. So the blocks do not fill whole rows of tiles, but strips GROUP tiles high, column by column.
//
// Where C has too few tiles to keep the GPU busy, the grid has several layers, gridDim.z of them.
// Each takes its own slice of k and writes its sums to a matrix of its own, which follow each other
// in memory; a second kernel adds them.
#ifndef GROUP
#define GROUP 8
#endif

struct Work {
    int row0, col0;  // the first element of the tile
    int begin, end;  // the steps of k: from begin up to, but not including, end
};

__device__ __forceinline__ Work work_of_block(int K)
{
    const unsigned across = gridDim.x, down = gridDim.y;
    const unsigned number = blockIdx.y * across + blockIdx.x;
    // The last strip may have fewer tiles on top of each other.
    const unsigned top = number / (GROUP * across) * GROUP;
    const unsigned height = min(GROUP, down - top);
    const unsigned within = number % (GROUP * across);
    // Slices end where tiles end, and none is longer than another by more than a tile.
    const long long tiles = (K - 1) / BK + 1;
    const int begin = tiles * blockIdx.z / gridDim.z * BK;
    const long long end = tiles * (blockIdx.z + 1) / gridDim.z * BK;
    return {int(top + within % height) * BM, int(within / height) * BN, begin,
            int(end < K ? end : K)};
}

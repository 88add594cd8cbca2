// Which part of the product a block computes: a tile of C, and a slice of the sums over k.
//
// Blocks start in the order of their numbers, about as many at once as the GPU has room for. Those
// that run together should need the same rows of A and columns of B, which then stay in the L2
// cache. So the blocks do not fill whole rows of tiles, but strips GROUP tiles high, column by column.
//
// Where C has too few tiles to keep the GPU busy, SPLIT blocks share each, and the grid has SPLIT
// times as many rows of blocks. Each of them takes its own part of k and writes its sums to a matrix
// of its own; those matrices, in whole tiles, lie below each other, and a second kernel adds them.
#ifndef GROUP
#define GROUP 8
#endif
#ifndef SPLIT
#define SPLIT 1
#endif

struct Work {
    int row0, col0;     // the first element of the tile
    int begin, end;     // the steps of k: from begin up to, but not including, end
    size_t rows_above;  // the rows of the matrices that lie above its own
};

__device__ __forceinline__ Work work_of_block(int K)
{
    const unsigned across = gridDim.x, down = gridDim.y / SPLIT;
    const unsigned part = blockIdx.y / down;
    const unsigned number = blockIdx.y % down * across + blockIdx.x;
    // The last strip may have fewer tiles on top of each other.
    const unsigned top = number / (GROUP * across) * GROUP;
    const unsigned height = min(GROUP, down - top);
    const unsigned within = number % (GROUP * across);
    // Parts end where tiles end, and none is longer than another by more than a tile.
    const long long tiles = (K - 1) / BK + 1;
    const int begin = tiles * part / SPLIT * BK;
    const long long end = tiles * (part + 1) / SPLIT * BK;
    return {int(top + within % height) * BM, int(within / height) * BN, begin,
            int(end < K ? end : K), size_t(part) * down * BM};
}

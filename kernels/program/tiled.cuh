// The course's tiled kernel, compiled once per tile, and its launch.
#pragma once

#include "failures.cuh"

// A tile in shared memory has a size that the compiler must know, so each size is a kernel.
#define TILE 8
#define tiled tiled_8
#include "../rungs/tiled.cu"
#undef TILE
#undef tiled

#define TILE 16
#define tiled tiled_16
#include "../rungs/tiled.cu"
#undef TILE
#undef tiled

#define TILE 32
#define tiled tiled_32
#include "../rungs/tiled.cu"
#undef TILE
#undef tiled

// Rows of blocks that a grid may have; its columns are practically unlimited.
constexpr int MOST_ROWS_OF_BLOCKS = 65535;

inline int blocks_for(int elements, int tile)
{
    return elements / tile + (elements % tile != 0);
}

// Start C = A·B: one thread per element of C, one block per tile of C.
inline void launch_tiled(int tile, const float *A, const float *B, float *C, int M, int N, int K)
{
    const dim3 block(tile, tile);
    const dim3 grid(blocks_for(N, tile), blocks_for(M, tile));
    if (tile == 8)
        tiled_8<<<grid, block>>>(A, B, C, M, N, K);
    else if (tile == 16)
        tiled_16<<<grid, block>>>(A, B, C, M, N, K);
    else
        tiled_32<<<grid, block>>>(A, B, C, M, N, K);
    CHECK(cudaGetLastError());  // a launch returns nothing: this tells whether it was accepted
}

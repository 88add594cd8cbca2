// Four floats at a time: the 16-byte access that the rungs share.
//
// One instruction that moves 16 bytes does the work of four that move 4. The GPU demands an address
// that 16 divides: the matrix must start at one, and its rows must be multiples of four floats long.
// Then four neighbours are inside the matrix or outside it together. Where that does not hold, the
// host compiles with -DWIDE=0, and each float goes its own way.
#ifndef WIDE
#define WIDE 1
#endif

// Return elements (row, col) to (row, col + 3) of a row-major matrix, with zeros beyond its edges.
__device__ __forceinline__ float4 load4(const float *__restrict__ matrix, int rows, int cols,
                                        int row, int col)
{
    // A matrix may have more elements than an int can count.
    const float *from = matrix + (size_t(row) * cols + col);
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#if WIDE
    if (row < rows && col < cols) v = *reinterpret_cast<const float4 *>(from);
#else
    if (row < rows && col + 0 < cols) v.x = from[0];
    if (row < rows && col + 1 < cols) v.y = from[1];
    if (row < rows && col + 2 < cols) v.z = from[2];
    if (row < rows && col + 3 < cols) v.w = from[3];
#endif
    return v;
}

// Return `count` of four elements, at `from` and so far apart from it, and zeros for the rest.
__device__ __forceinline__ float4 load_some(const float *__restrict__ from, int3 apart, int count)
{
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#if WIDE
    if (count > 0) v = *reinterpret_cast<const float4 *>(from);
#else
    if (count > 0) v.x = from[0];
    if (count > 1) v.y = from[apart.x];
    if (count > 2) v.z = from[apart.y];
    if (count > 3) v.w = from[apart.z];
#endif
    return v;
}

// Write four neighbours from (row, col) on; what lies beyond the edges is dropped.
__device__ __forceinline__ void store4(float *matrix, int rows, int cols, int row, int col,
                                       float4 v)
{
    float *to = matrix + (size_t(row) * cols + col);
#if WIDE
    if (row < rows && col < cols) *reinterpret_cast<float4 *>(to) = v;
#else
    if (row < rows && col + 0 < cols) to[0] = v.x;
    if (row < rows && col + 1 < cols) to[1] = v.y;
    if (row < rows && col + 2 < cols) to[2] = v.z;
    if (row < rows && col + 3 < cols) to[3] = v.w;
#endif
}

// Four neighbours in shared memory or in registers, where every address is known to fit.
__device__ __forceinline__ float4 &four(float &first)
{
    return reinterpret_cast<float4 &>(first);
}
__device__ __forceinline__ const float4 &four(const float &first)
{
    return reinterpret_cast<const float4 &>(first);
}

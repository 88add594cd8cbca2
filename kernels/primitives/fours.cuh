// Four neighbours of a row at once, where the row allows it.
//
// The GPU demands an address that 16 divides: the array must start at one, and its rows must be
// multiples of four floats long. Where that does not hold, the host compiles with -DWIDE=0.
#ifndef WIDE
#define WIDE 1
#endif

// Return the four floats at `from`, of which `count` are within the row, and zeros for the others.
__device__ __forceinline__ float4 load4(const float *__restrict__ from, int count)
{
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#if WIDE
    if (count > 0) v = *reinterpret_cast<const float4 *>(from);
#else
    if (count > 0) v.x = from[0];
    if (count > 1) v.y = from[1];
    if (count > 2) v.z = from[2];
    if (count > 3) v.w = from[3];
#endif
    return v;
}

// Write four floats to `to`, of which `count` are within the row; the others are dropped.
__device__ __forceinline__ void store4(float *to, int count, float4 v)
{
#if WIDE
    if (count > 0) *reinterpret_cast<float4 *>(to) = v;
#else
    if (count > 0) to[0] = v.x;
    if (count > 1) to[1] = v.y;
    if (count > 2) to[2] = v.z;
    if (count > 3) to[3] = v.w;
#endif
}

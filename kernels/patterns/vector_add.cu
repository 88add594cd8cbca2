// Vector addition: one element per thread, or many.

extern "C" __global__ void vector_add(const float *a, const float *b, float *c,
                                      int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // The last block may reach past the end of the vectors.
    if (i < n)
        c[i] = a[i] + b[i];
}

extern "C" __global__ void vector_add_grid_stride(const float *a, const float *b,
                                                  float *c, int n)
{
    // All threads of the grid together step over the vectors until they are done.
    const size_t first = blockIdx.x * blockDim.x + threadIdx.x;
    for (size_t i = first; i < n; i += gridDim.x * blockDim.x)
        c[i] = a[i] + b[i];
}

// Kernels that move the same bytes and differ in what the 32 threads of a warp ask
// for together; the twins of kernels/patterns/copies.py.

extern "C" __global__ void plain_copy(const float *__restrict__ a, float *__restrict__ b,
                                int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = a[i];
}

extern "C" __global__ void shifted(const float *__restrict__ a, float *__restrict__ b,
                                   int n, int offset)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = a[i + offset];
}

extern "C" __global__ void strided_load(const float *__restrict__ a,
                                        float *__restrict__ b, int n, int stride)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // The place of an element can be more than an int holds.
    if (i < n)
        b[i] = a[size_t(i) * stride];
}

extern "C" __global__ void strided_store(const float *__restrict__ a,
                                         float *__restrict__ b, int n, int stride)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[size_t(i) * stride] = a[i];
}

// An array of structs: a particle's eight floats lie side by side.
struct Particle {
    float position[3];
    float velocity[3];
    float mass, charge;
};

extern "C" __global__ void push_records(Particle *particles, int n, float dt, int axes)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int axis = 0; axis < axes; ++axis)
            particles[i].position[axis] += dt * particles[i].velocity[axis];
}

// A struct of arrays: the same float of all particles lies side by side.
extern "C" __global__ void push_fields(float *particles, int n, float dt, int axes)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int axis = 0; axis < axes; ++axis)
            particles[size_t(axis) * n + i] += dt * particles[size_t(3 + axis) * n + i];
}

extern "C" __global__ void sum_rows(const float *__restrict__ A,
                                    float *__restrict__ sums, int M, int N)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < M) {
        float acc = 0.0f;
        for (int col = 0; col < N; ++col)
            acc += A[size_t(row) * N + col];
        sums[row] = acc;
    }
}

extern "C" __global__ void sum_columns(const float *__restrict__ A,
                                       float *__restrict__ sums, int M, int N)
{
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col < N) {
        float acc = 0.0f;
        for (int row = 0; row < M; ++row)
            acc += A[size_t(row) * N + col];
        sums[col] = acc;
    }
}

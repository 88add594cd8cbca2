// Probes of the memory hierarchy: one thread, each step waiting for the one before.
//
// A chain of dependent steps cannot overlap, so its time divided by its length is the latency of
// one step. Each kernel returns the cycles and the nanoseconds that `steps` steps took. The steps are
// volatile assembly, because the compiler may not move those across the clocks.

__device__ unsigned long long nanoseconds()
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

// Global memory: each element holds the address of the next one, all in one random ring.
extern "C" __global__ void chase_global(void **start, long long warm_up, long long steps,
                                        long long *cycles, long long *time, void **last)
{
    void **p = start;
    // Bring into the caches what fits there.
    for (long long i = 0; i < warm_up; i++)
        asm volatile("ld.global.u64 %0, [%0];" : "+l"(p)::"memory");
    const unsigned long long began = nanoseconds();
    const long long first = clock64();
#pragma unroll 16
    for (long long i = 0; i < steps; i++)
        asm volatile("ld.global.u64 %0, [%0];" : "+l"(p)::"memory");
    *last = p;
    *cycles = clock64() - first;
    *time = nanoseconds() - began;
}

// Shared memory: the same ring in 32-bit addresses, `COUNT` words long.
#ifndef COUNT
#define COUNT 1024
#endif
extern "C" __global__ void chase_shared(long long steps, long long *cycles, long long *time,
                                        unsigned *last)
{
    __shared__ unsigned ring[COUNT];
    const unsigned base = (unsigned)__cvta_generic_to_shared(ring);
    // A stride that shares no factor with COUNT visits every word.
    for (unsigned i = 0; i < COUNT; i++)
        ring[i] = base + 4 * ((i + 33) % COUNT);
    __syncthreads();
    unsigned p = base;
    const unsigned long long began = nanoseconds();
    const long long first = clock64();
#pragma unroll 16
    for (long long i = 0; i < steps; i++)
        asm volatile("ld.shared.u32 %0, [%0];" : "+r"(p)::"memory");
    *last = p;
    *cycles = clock64() - first;
    *time = nanoseconds() - began;
}

// Registers: fused multiply-adds, each of which needs the result of the one before.
extern "C" __global__ void chase_registers(long long steps, long long *cycles, long long *time,
                                           float a, float b, float *last)
{
    float x = a;
    const unsigned long long began = nanoseconds();
    const long long first = clock64();
#pragma unroll 64
    for (long long i = 0; i < steps; i++)
        asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(a), "f"(b));
    *last = x;
    *cycles = clock64() - first;
    *time = nanoseconds() - began;
}

// A kernel that does nothing: what remains is the launch.
extern "C" __global__ void nothing() {}
extern "C" __global__ void nothing_1(const float *) {}
extern "C" __global__ void nothing_3(const float *, const float *, float *) {}

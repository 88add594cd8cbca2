// Numbers of 16 bits, as the kernels for tensor cores take them: the bits travel in an
// unsigned short. BF16 chooses the format, HALF_C whether C is rounded to it or stays
// float. Both are set when a kernel is compiled.

typedef unsigned short Half;

#if BF16
#define HALF_TYPE "bf16"
#else
#define HALF_TYPE "f16"
#endif

#if HALF_C
typedef Half Result;
#else
typedef float Result;
#endif

// Two floats rounded to 16 bits each, the first in the lower half of the word.
__device__ inline unsigned pack(float first, float second)
{
    unsigned word;
#if __CUDA_ARCH__ >= 800
    asm("cvt.rn." HALF_TYPE "x2.f32 %0, %1, %2;" : "=r"(word) : "f"(second), "f"(first));
#else
    asm("{ .reg .f16 x, y;\n"
        "  cvt.rn.f16.f32 x, %1;\n"
        "  cvt.rn.f16.f32 y, %2;\n"
        "  mov.b32 %0, {x, y}; }" : "=r"(word) : "f"(first), "f"(second));
#endif
    return word;
}

// Two neighbours in a row of C with one store. The first has an even column.
__device__ inline void store_pair(Result *place, float first, float second)
{
#if HALF_C
    *reinterpret_cast<unsigned *>(place) = pack(first, second);
#else
    *reinterpret_cast<float2 *>(place) = make_float2(first, second);
#endif
}

// Instructions that name shared memory take an address of 32 bits.
__device__ inline unsigned shared_address(const void *pointer)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

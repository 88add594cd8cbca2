// wgmma on numbers of 8 bits (e4m3: sign, 4 bits of exponent, 3 of mantissa). Needs hopper.cuh.

// acc = A · B (+ acc, if `add`), by the 128 threads of a warpgroup: 64 rows, 192 columns, 32 values
// of k. Rows of A and columns of B each lie in 128 bytes, swizzled. The trailing 1, 1 are signs.
__device__ inline void multiply_add_bytes(float (&acc)[96], unsigned long long a,
                                          unsigned long long b, int add)
{
    asm volatile(
        "{ .reg .pred add;\n"
        "  setp.ne.b32 add, %98, 0;\n"
        "  wgmma.mma_async.sync.aligned.m64n192k32.f32.e4m3.e4m3 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, "
        "%17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, "
        "%47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "
        "%62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, "
        "%77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, "
        "%92, %93, %94, %95}, "
        "%96, %97, add, 1, 1; }"
        : SIXTY_FOUR(acc, 0), EIGHT(acc, 64), EIGHT(acc, 72), EIGHT(acc, 80), EIGHT(acc, 88)
        : "l"(a), "l"(b), "r"(add));
}

// The same with 256 columns.
__device__ inline void multiply_add_bytes(float (&acc)[128], unsigned long long a,
                                          unsigned long long b, int add)
{
    asm volatile(
        "{ .reg .pred add;\n"
        "  setp.ne.b32 add, %130, 0;\n"
        "  wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, "
        "%17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, "
        "%47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, "
        "%62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, "
        "%77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, "
        "%92, %93, %94, %95, %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, "
        "%106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, "
        "%119, %120, %121, %122, %123, %124, %125, %126, %127}, "
        "%128, %129, add, 1, 1; }"
        : SIXTY_FOUR(acc, 0), SIXTY_FOUR(acc, 64)
        : "l"(a), "l"(b), "r"(add));
}

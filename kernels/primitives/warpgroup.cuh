// What attention asks of a warpgroup on Hopper (sm_90a), beside hopper.cuh: tiles of one head, a
// ring of them, and the two products.

// The box at (x, y) of matrix z into shared memory; rows beyond that matrix are zeros.
__device__ inline void tile_load(unsigned to, const TensorMap &map, int x, int y, int z,
                                 unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3, %4}], [%5];"
                 :: "r"(to), "l"(&map), "r"(x), "r"(y), "r"(z), "r"(barrier) : "memory");
}

// Slots for tiles in shared memory, each with a barrier that says it is full and one that says it
// is empty. Who fills them and who empties them go round on their own.
template <int slots, int bytes> struct Ring {
    unsigned first, barriers;         // where the first slot and the barriers lie
    int slot = 0, phase = 0;          // phase: how often we have gone round, modulo 2

    __device__ unsigned tile() const { return first + slot * bytes; }
    __device__ unsigned full() const { return barriers + 8 * slot; }
    __device__ unsigned empty() const { return barriers + 8 * (slots + slot); }

    __device__ void init(int consumers) const
    {
        for (int i = 0; i < slots; ++i) {
            barrier_init(barriers + 8 * i, 1);
            barrier_init(barriers + 8 * (slots + i), 4 * consumers);
        }
    }

    __device__ void advance()
    {
        if (++slot == slots) {
            slot = 0;
            phase ^= 1;
        }
    }

    // One thread of each warp of a consumer says that it has done with this slot.
    __device__ void release()
    {
        if (threadIdx.x % 32 == 0)
            barrier_arrive(empty());
        advance();
    }
};

#define THIRTY_TWO(d, i) EIGHT(d, i), EIGHT(d, i + 8), EIGHT(d, i + 16), EIGHT(d, i + 24)
#define FIRST_32 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define FIRST_64 FIRST_32 ", " \
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

// s = q · kᵀ (+ s, if `add`): 64 queries, 128 keys, 16 columns of both. Rows of K are columns of
// Kᵀ, and lie in shared memory as those of Q do, so nothing is transposed.
__device__ inline void multiply_keys(float (&s)[64], unsigned long long q, unsigned long long k,
                                     int add)
{
    asm volatile("{ .reg .pred add;\n"
                 "  setp.ne.b32 add, %66, 0;\n"
                 "  wgmma.mma_async.sync.aligned.m64n128k16.f32." HALF_TYPE "." HALF_TYPE " {"
                 FIRST_64 "}, %64, %65, add, 1, 1, 0, 0; }"
                 : SIXTY_FOUR(s, 0) : "l"(q), "l"(k), "r"(add));
}

// o += p · v: 64 queries, 16 keys, 128 columns of V. The weights p come from registers; V lies row
// by row, and wgmma reads it transposed.
__device__ inline void multiply_values(float (&o)[64], const unsigned *p, unsigned long long v)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32." HALF_TYPE "." HALF_TYPE " {"
                 FIRST_64 "}, {%64, %65, %66, %67}, %68, 1, 1, 1, 1;"
                 : SIXTY_FOUR(o, 0) : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "l"(v));
}

// The same with 64 columns of V.
__device__ inline void multiply_values(float (&o)[32], const unsigned *p, unsigned long long v)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32." HALF_TYPE "." HALF_TYPE " {"
                 FIRST_32 "}, {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
                 : THIRTY_TWO(o, 0) : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "l"(v));
}

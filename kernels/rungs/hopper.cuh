// Hopper's own instructions (sm_90a), one small function each: barriers in shared memory,
// copies of whole tiles by the TMA unit, and wgmma, the matrix product of a warpgroup.

// What the host encodes of a matrix for the TMA: address, shape, pitch, box and swizzle.
struct alignas(64) TensorMap { unsigned char opaque[128]; };

// Barriers ----------------------------------------------------------------------------
// An mbarrier is 8 bytes of shared memory. It counts arrivals, and bytes that copies still
// owe. When both are settled its phase is over and the next begins; a waiting thread names
// the parity (0, 1, 0, 1, …) of the phase it waits for.

__device__ inline void barrier_init(unsigned barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(barrier), "r"(arrivals) : "memory");
}

// Make the initialised barriers visible to the TMA and to the other blocks of the cluster.
__device__ inline void barrier_init_done()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// Arrive, and announce how many bytes copies will deliver in this phase.
__device__ inline void barrier_expect(unsigned barrier, int bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                 :: "r"(barrier), "r"(bytes) : "memory");
}

// Arrive at the barrier at the same place in a block of the cluster (0 is the first). Nothing was
// written that the other block should see, only read: to release at the scope of the cluster would
// make the thread wait for all its memory accesses first, in every step.
__device__ inline void barrier_arrive(unsigned barrier, int block)
{
    asm volatile("{ .reg .b32 remote;\n"
                 "  mapa.shared::cluster.u32 remote, %0, %1;\n"
                 "  mbarrier.arrive.shared::cluster.b64 _, [remote]; }"
                 :: "r"(barrier), "r"(block) : "memory");
}

__device__ inline void barrier_arrive(unsigned barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory");
}

// Wait until the phase of this parity is over. The hardware lets the thread sleep a while
// in each try.
__device__ inline void barrier_wait(unsigned barrier, int parity)
{
    asm volatile("{ .reg .pred done;\n"
                 "again:\n"
                 "  mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "  @done bra over;\n"
                 "  bra again;\n"
                 "over: }" :: "r"(barrier), "r"(parity) : "memory");
}

// Wait for all threads of all blocks of the cluster.
__device__ inline void cluster_sync()
{
    asm volatile("barrier.cluster.arrive.release.aligned;\n"
                 "barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The address of the same place in the shared memory of another block of the cluster.
__device__ inline unsigned address_in_block(unsigned address, int block)
{
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
    return there;
}

// Four floats into the shared memory of another block; a barrier there counts their 16 bytes.
__device__ inline void send_four(unsigned to, const float *d, unsigned barrier)
{
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32"
                 " [%0], {%1, %2, %3, %4}, [%5];"
                 :: "r"(to), "f"(d[0]), "f"(d[1]), "f"(d[2]), "f"(d[3]), "r"(barrier) : "memory");
}

// Add four floats that lie in this block's shared memory.
__device__ inline void add_four(float *d, unsigned from)
{
    float a, b, c, e;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(a), "=f"(b), "=f"(c), "=f"(e) : "r"(from) : "memory");
    d[0] += a;
    d[1] += b;
    d[2] += c;
    d[3] += e;
}

// Wait for the 128 threads of one warpgroup: each uses a barrier of its own.
__device__ inline void warpgroup_sync(int group)
{
    asm volatile("bar.sync %0, 128;" :: "r"(group + 1) : "memory");
}

// Launches ------------------------------------------------------------------------------
// Where the host allows it, blocks of the next launch move in as soon as blocks of this one leave.
// Such a block may set up what it needs, but has to wait before it touches global memory.

__device__ inline void let_next_launch_begin()
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

// Wait until the launches before are over, and what they wrote is there.
__device__ inline void wait_for_launches_before()
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

// Copies of tiles -----------------------------------------------------------------------
// One thread asks; the TMA unit computes all addresses, fills with zeros what lies outside
// the matrix, and swizzles: the 16-byte chunk c of row r (128 bytes) goes to c ^ (r % 8).

// Fetch a map itself, before the first copy needs it.
__device__ inline void prefetch_map(const TensorMap &map)
{
    asm volatile("prefetch.tensormap [%0];" :: "l"(&map) : "memory");
}

// The box at (x, y) of the matrix into shared memory; `barrier` counts its bytes.
__device__ inline void tile_load(unsigned to, const TensorMap &map, int x, int y, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1, {%2, %3}], [%4];"
                 :: "r"(to), "l"(&map), "r"(x), "r"(y), "r"(barrier) : "memory");
}

// The same into every block of the cluster whose bit in `blocks` is set, at the same place
// in its shared memory, counted by its own barrier: L2 is read once for all.
__device__ inline void tile_load_multicast(unsigned to, const TensorMap &map, int x, int y,
                                           unsigned barrier, unsigned short blocks)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
                 :: "r"(to), "l"(&map), "r"(x), "r"(y), "r"(barrier), "h"(blocks) : "memory");
}

// A box from shared memory to (x, y) of the matrix; what lies outside is dropped.
__device__ inline void tile_store(const TensorMap &map, int x, int y, unsigned from)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                 :: "l"(&map), "r"(x), "r"(y), "r"(from) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Wait until at most `pending` of this thread's stores still read shared memory.
template <int pending> __device__ inline void wait_for_reads_of_stores()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" :: "n"(pending) : "memory");
}

// What ordinary stores wrote to shared memory, the TMA unit may now read.
__device__ inline void hand_over_to_tma()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Products ------------------------------------------------------------------------------

// Change how many registers each thread of the calling warpgroup has.
template <int registers> __device__ inline void take_registers()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(registers));
}

template <int registers> __device__ inline void give_registers()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(registers));
}

// How wgmma finds its operands in shared memory: a start, two strides in bytes and the
// swizzle (1: of 128 bytes), packed into 64 bits; addresses count 16 bytes.
__device__ inline unsigned long long matrix_in_shared(unsigned start, int leading, int stride)
{
    return (unsigned long long)(start >> 4 & 0x3fff) | (unsigned long long)(leading >> 4) << 16
        | (unsigned long long)(stride >> 4) << 32 | 1ull << 62;
}

// 64 or more rows of A, 64 values of k (128 bytes) each: 8 rows lie 1024 bytes before the next 8.
__device__ inline unsigned long long rows_of_A(unsigned start)
{
    return matrix_in_shared(start, 16, 1024);
}

// Panels of B, each 64 columns (128 bytes) wide and BK values of k high. B stays as it is in
// memory, row by row; wgmma reads it transposed.
__device__ inline unsigned long long panels_of_B(unsigned start, int panel_bytes)
{
    return matrix_in_shared(start, panel_bytes, 1024);
}

// wgmma reads and writes registers behind the compiler's back: this orders it after
// everything before.
__device__ inline void products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

__device__ inline void products_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// From here on, and not before, the compiler may use these numbers; and it has computed them.
template <int count> __device__ inline void settle(float (&numbers)[count])
{
    #pragma unroll
    for (int i = 0; i < count; ++i)
        asm volatile("" : "+f"(numbers[i]) :: "memory");
}

// Wait until at most `pending` groups of products are unfinished. The compiler has to be told that
// these sums change here: otherwise it may read them before the wait.
template <int pending, int count> __device__ inline void products_wait(float (&sums)[count])
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(pending) : "memory");
    settle(sums);
}

#define EIGHT(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), \
                    "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define SIXTY_FOUR(d, i) EIGHT(d, i), EIGHT(d, i + 8), EIGHT(d, i + 16), EIGHT(d, i + 24), \
                         EIGHT(d, i + 32), EIGHT(d, i + 40), EIGHT(d, i + 48), EIGHT(d, i + 56)

// acc = A · B (+ acc, if `add`), by the 128 threads of a warpgroup: 64 rows, 128 columns,
// 16 values of k. The trailing 1, 1 are signs of A and B; then: A as it lies, B transposed.
__device__ inline void multiply_add(float (&acc)[64], unsigned long long a, unsigned long long b,
                                    int add)
{
    asm volatile(
        "{ .reg .pred add;\n"
        "  setp.ne.b32 add, %66, 0;\n"
        "  wgmma.mma_async.sync.aligned.m64n128k16.f32." HALF_TYPE "." HALF_TYPE " {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
        "%64, %65, add, 1, 1, 0, 1; }"
        : SIXTY_FOUR(acc, 0) : "l"(a), "l"(b), "r"(add));
}

// The same with 192 columns.
__device__ inline void multiply_add(float (&acc)[96], unsigned long long a, unsigned long long b,
                                    int add)
{
    asm volatile(
        "{ .reg .pred add;\n"
        "  setp.ne.b32 add, %98, 0;\n"
        "  wgmma.mma_async.sync.aligned.m64n192k16.f32." HALF_TYPE "." HALF_TYPE " {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}, "
        "%96, %97, add, 1, 1, 0, 1; }"
        : SIXTY_FOUR(acc, 0), EIGHT(acc, 64), EIGHT(acc, 72), EIGHT(acc, 80), EIGHT(acc, 88)
        : "l"(a), "l"(b), "r"(add));
}

// The same with 256 columns.
__device__ inline void multiply_add(float (&acc)[128], unsigned long long a, unsigned long long b,
                                    int add)
{
    asm volatile(
        "{ .reg .pred add;\n"
        "  setp.ne.b32 add, %130, 0;\n"
        "  wgmma.mma_async.sync.aligned.m64n256k16.f32." HALF_TYPE "." HALF_TYPE " {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, "
        "%110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, "
        "%123, %124, %125, %126, %127}, "
        "%128, %129, add, 1, 1, 0, 1; }"
        : SIXTY_FOUR(acc, 0), SIXTY_FOUR(acc, 64) : "l"(a), "l"(b), "r"(add));
}

// Thread `lane` of warp w of the warpgroup holds, of columns 8j to 8j + 7, those numbered
// 2 * (lane % 4) and the next, in row 16w + lane / 4 (acc[4j], acc[4j + 1]) and 8 rows
// below (acc[4j + 2], acc[4j + 3]). This stores them one pair at a time.
template <int COUNT>
__device__ inline void store_pairs(const float (&acc)[COUNT], Result *C, int row0, int col0,
                                   int M, int N)
{
    const int tid = threadIdx.x % 128, lane = tid % 32;
    const int row = row0 + tid / 32 * 16 + lane / 4;
    #pragma unroll
    for (int j = 0; j < COUNT / 4; ++j) {
        const int col = col0 + 8 * j + lane % 4 * 2;
        if (row < M && col < N)
            store_pair(C + size_t(row) * N + col, acc[4 * j], acc[4 * j + 1]);
        if (row + 8 < M && col < N)
            store_pair(C + size_t(row + 8) * N + col, acc[4 * j + 2], acc[4 * j + 3]);
    }
}

// A block of CUDA threads on the CPU, one after the other: enough to run attention.cu as it is
// written. Threads are contexts that give way to the next wherever they wait for others, and each
// warp runs as far as it can before the next; what a warp does together (shuffles, ldmatrix, mma)
// follows the tables of the PTX ISA.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <vector>

#define __device__
#define __global__
#define __restrict__
#define __launch_bounds__(...)
#define __shared__
#define __align__(n) alignas(n)
#define __CUDA_ARCH__ 800
using std::min;

struct Index { unsigned x, y; };
Index threadIdx, blockIdx, gridDim;
alignas(128) unsigned char stages[1 << 18];   // dynamic shared memory

struct float2 { float x, y; };
float2 make_float2(float x, float y) { return {x, y}; }
float __int_as_float(unsigned bits) { float x; std::memcpy(&x, &bits, 4); return x; }

// ------------------------------------------------------------------------------- waiting

ucontext_t scheduler, contexts[THREADS];
struct Group { int arrived = 0; long round = 0; };
Group whole, warps[THREADS / 32];
bool finished[THREADS];
long stops[THREADS];                          // the round of the barrier that it waits at, or -1

void wait_for(Group &group, int count)
{
    const unsigned self = threadIdx.x;
    const long round = group.round;
    if (++group.arrived == count) {
        group.arrived = 0;
        ++group.round;
    }
    while (group.round == round) {
        stops[self] = &group == &whole ? round : -1;
        swapcontext(&contexts[self], &scheduler);
        threadIdx.x = self;
    }
    stops[self] = -1;
}

void __syncthreads() { wait_for(whole, THREADS); }

// What the lanes of a warp bring, seen by all of them.
template <class T> struct Table { T lanes[32]; };
template <class T> Table<T> gather(const T &mine)
{
    static std::vector<Table<T>> tables(THREADS / 32);
    const unsigned self = threadIdx.x, warp = self / 32;
    wait_for(warps[warp], 32);               // the table before has been read
    tables[warp].lanes[self % 32] = mine;
    wait_for(warps[warp], 32);
    return tables[warp];
}

float __shfl_xor_sync(unsigned, float mine, int mask)
{
    return gather(mine).lanes[threadIdx.x % 32 ^ mask];
}

// ------------------------------------------------------------------------------- numbers

typedef unsigned short Half;
typedef Half Result;

float as_float(Half bits)
{
#if BF16
    return __int_as_float(unsigned(bits) << 16);
#else
    _Float16 x;
    std::memcpy(&x, &bits, 2);
    return float(x);
#endif
}

Half rounded(float x)
{
#if BF16
    unsigned bits;
    std::memcpy(&bits, &x, 4);
    return Half((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
#else
    const _Float16 y = _Float16(x);
    Half bits;
    std::memcpy(&bits, &y, 2);
    return bits;
#endif
}

unsigned pack(float first, float second) { return rounded(first) | unsigned(rounded(second)) << 16; }
void store_pair(Result *place, float first, float second)
{
    place[0] = rounded(first);
    place[1] = rounded(second);
}
float half_of(unsigned word, int which) { return as_float(Half(word >> 16 * which)); }
float power_of_2(float x) { return std::exp2(x); }

// ------------------------------------------------------------------------------- copies

unsigned shared_address(const void *pointer)
{
    return unsigned(static_cast<const unsigned char *>(pointer) - stages);
}

// Copies land when they are waited for and not before: until then there are numbers that no
// result survives.
struct Copy { unsigned to; const Half *from; bool inside; };
std::vector<Copy> pending[THREADS];
std::vector<std::vector<Copy>> groups[THREADS];

void copy_async(unsigned to, const Half *from, bool inside)
{
    if (to % 16 || reinterpret_cast<uintptr_t>(from) % 16 || to + 16 > SHARED) {
        std::fprintf(stderr, "a copy to %u is not aligned, or outside\n", to);
        std::exit(1);
    }
    std::memset(stages + to, 0xFF, 16);
    pending[threadIdx.x].push_back({to, from, inside});
}

void commit_copies()
{
    groups[threadIdx.x].push_back(pending[threadIdx.x]);
    pending[threadIdx.x].clear();
}

template <int left> void wait_for_copies()
{
    auto &mine = groups[threadIdx.x];
    for (; mine.size() > left; mine.erase(mine.begin()))
        for (const Copy &copy : mine.front())
            copy.inside ? std::memcpy(stages + copy.to, copy.from, 16)
                        : std::memset(stages + copy.to, 0, 16);
}

// ------------------------------------------------------------------------- tensor cores

// Lanes 8i to 8i + 7 give the rows of block i; each lane gets two neighbours of row lane / 4.
void load_blocks_either(unsigned (&blocks)[4], unsigned address, bool transposed)
{
    const Table<unsigned> rows = gather(address);
    const unsigned lane = threadIdx.x % 32;
    for (int i = 0; i < 4; ++i) {
        Half pair[2];
        for (unsigned j = 0; j < 2; ++j) {
            const unsigned row = transposed ? lane % 4 * 2 + j : lane / 4;
            const unsigned col = transposed ? lane / 4 : lane % 4 * 2 + j;
            if (rows.lanes[8 * i + row] + 16 > SHARED)
                std::exit(2);
            std::memcpy(&pair[j], stages + rows.lanes[8 * i + row] + 2 * col, 2);
        }
        blocks[i] = pair[0] | unsigned(pair[1]) << 16;
    }
    gather(0);                               // nobody stores before all have read
}
void load_blocks(unsigned (&blocks)[4], unsigned address)
{
    load_blocks_either(blocks, address, false);
}
void load_blocks_transposed(unsigned (&blocks)[4], unsigned address)
{
    load_blocks_either(blocks, address, true);
}

struct Factors { unsigned a[4], b[2]; };
void multiply_add(float (&acc)[4], const unsigned (&a)[4], const unsigned *b)
{
    const Table<Factors> all = gather(Factors{{a[0], a[1], a[2], a[3]}, {b[0], b[1]}});
    const int lane = threadIdx.x % 32;
    for (int i = 0; i < 4; ++i) {
        const int row = lane / 4 + i / 2 * 8, col = lane % 4 * 2 + i % 2;
        for (int k = 0; k < 16; ++k) {
            // a: row g or g + 8 in registers 0 and 1, the upper half of k in 2 and 3.
            const Factors &of_a = all.lanes[row % 8 * 4 + k % 8 / 2];
            const Factors &of_b = all.lanes[col * 4 + k % 8 / 2];
            acc[i] += half_of(of_a.a[row / 8 + k / 8 * 2], k % 2) * half_of(of_b.b[k / 8], k % 2);
        }
    }
}

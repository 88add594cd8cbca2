// What attention_wgmma.cu asks of Hopper, on the CPU, beside warps.hpp: barriers, copies by the TMA
// unit and wgmma, whose results are there when they are waited for and not before. Layouts follow
// the tables of the PTX ISA.
#include <functional>

#define __grid_constant__
constexpr unsigned BARRIERS = (1 << 18) - 1024;       // where they lie in `stages`
using std::max;

// ------------------------------------------------------------------------------- barriers

void give_way()
{
    const unsigned self = threadIdx.x;
    swapcontext(&contexts[self], &scheduler);
    threadIdx.x = self;
}

struct Barrier { int count, left, bytes, phase; };
Barrier barrier_table[128];
Barrier &barrier_at(unsigned address) { return barrier_table[(address - BARRIERS) / 8]; }

void settle_phase(Barrier &b)
{
    if (b.left == 0 && b.bytes == 0) {
        b.left = b.count;
        b.phase ^= 1;
    }
}

void barrier_init(unsigned at, int arrivals) { barrier_at(at) = {arrivals, arrivals, 0, 0}; }
void barrier_init_done() {}
void barrier_arrive(unsigned at)
{
    --barrier_at(at).left;
    settle_phase(barrier_at(at));
}
void barrier_expect(unsigned at, int bytes)
{
    barrier_at(at).bytes += bytes;
    barrier_arrive(at);
}
void barrier_wait(unsigned at, int parity)
{
    while (barrier_at(at).phase == parity)
        give_way();
}

// bar.sync and bar.arrive of 256 threads: 128 that wait, 128 that do not.
int arrived[16], rounds[16];
void arrive_at(int barrier)
{
    if (++arrived[barrier] == 256) {
        arrived[barrier] = 0;
        ++rounds[barrier];
    }
}
void wait_for_turn(int consumer)
{
    const int round = rounds[1 + consumer];
    arrive_at(1 + consumer);
    while (rounds[1 + consumer] == round)
        give_way();
}
void pass_turn(int consumer) { arrive_at(2 - consumer); }

template <int count> void give_registers() {}
template <int count> void take_registers() {}

// ------------------------------------------------------------------------------- copies

struct Map { const Half *matrices; int rows, box; };  // of D columns
struct alignas(64) TensorMap { Map is; };

// Where the byte at an address lies: 16-byte chunks of 128 bytes are permuted.
unsigned swizzled(unsigned address) { return address ^ (address >> 7 & 7) << 4; }

void tile_load(unsigned to, const TensorMap &map, int x, int y, int z, unsigned barrier)
{
    for (int row = 0; row < map.is.box; ++row)
        for (int col = 0; col < 64; ++col) {
            const bool inside = y + row < map.is.rows;
            const size_t from = (size_t(z) * map.is.rows + y + row) * D + x + col;
            const Half value = inside ? map.is.matrices[from] : 0;
            std::memcpy(stages + swizzled(to + row * 128 + col * 2), &value, 2);
        }
    barrier_at(barrier).bytes -= map.is.box * 128;
    settle_phase(barrier_at(barrier));
}

// ------------------------------------------------------------------------------- products

std::vector<std::function<void()>> open_group[BLOCK];
std::vector<std::vector<std::function<void()>>> closed_groups[BLOCK];

void products_begin() {}
void products_commit()
{
    closed_groups[threadIdx.x].push_back(open_group[threadIdx.x]);
    open_group[threadIdx.x].clear();
}
template <int pending, int count> void products_wait(float (&)[count])
{
    auto &mine = closed_groups[threadIdx.x];
    for (; mine.size() > pending; mine.erase(mine.begin()))
        for (auto &product : mine.front())
            product();
}
template <int count> void settle(float (&)[count]) {}

float in_shared(unsigned long long matrix, unsigned row, unsigned byte)
{
    const unsigned start = (matrix & 0x3fff) << 4, stride = (matrix >> 32 & 0x3fff) << 4;
    Half value;
    std::memcpy(&value, stages + swizzled(start + row / 8 * stride + row % 8 * 128 + byte), 2);
    return as_float(value);
}

// Rows of K side by side along k, as those of Q.
void multiply_keys(float (&s)[64], unsigned long long q, unsigned long long k, int add)
{
    const unsigned tid = threadIdx.x % 128, lane = tid % 32;
    open_group[threadIdx.x].push_back([=, &s] {
        for (int i = 0; i < 64; ++i) {
            const unsigned row = tid / 32 * 16 + lane / 4 + i % 4 / 2 * 8;
            float sum = add ? s[i] : 0;
            for (int d = 0; d < 16; ++d)
                sum += in_shared(q, row, 2 * d) * in_shared(k, i / 4 * 8 + lane % 4 * 2 + i % 2, 2 * d);
            s[i] = sum;
        }
    });
}

// Panels of 64 columns of V; a row of 16 keys of A comes from the four lanes that hold it.
template <int count> void multiply_values(float (&o)[count], const unsigned *p, unsigned long long v)
{
    const unsigned lane = threadIdx.x % 32;
    const Table<Factors> all = gather(Factors{{p[0], p[1], p[2], p[3]}, {}});
    open_group[threadIdx.x].push_back([=, &o] {
        const unsigned leading = v >> 16 & 0x3fff;     // as the start, in units of 16 bytes
        for (int i = 0; i < count; ++i) {
            const unsigned col = i / 4 * 8 + lane % 4 * 2 + i % 2;
            for (unsigned key = 0; key < 16; ++key) {
                const Factors &of_a = all.lanes[lane / 4 * 4 + key % 8 / 2];
                o[i] += half_of(of_a.a[i % 4 / 2 + key / 8 * 2], key % 2)
                      * in_shared(v + col / 64 * leading, key, col % 64 * 2);
            }
        }
    });
}

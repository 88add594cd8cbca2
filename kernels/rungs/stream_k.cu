// Hopper, fourth step: no SM ends early (Stream-K). `persistent` hands out whole tiles, and in its
// last round some clusters have none. Here the tiles of a round that would not be full are divided
// along K: laid end to end, their steps are dealt out in equal shares. Where a share ends within a
// tile, the block leaves its sums in global memory, and the block that takes the last step of the
// tile adds them to its own. Where there are so few tiles that two blocks can share each of them
// evenly, these are a cluster instead, and swap half of their sums through shared memory.

#include "half.cuh"
#include "hopper.cuh"
#include "boxes.cuh"

constexpr int BM = 128, BK = 64, CONSUMERS = 2, THREADS = 128 * (1 + CONSUMERS);
constexpr int TILE_A = BM * BK * 2, TILE_B = BK * BN * 2, STAGE = TILE_A + TILE_B;  // bytes
constexpr int PANEL = BK * 128;                       // 64 columns of B
constexpr int SHARE = BN / 64 / CLUSTER;              // panels that each block loads
constexpr unsigned short EVERYONE = (1 << CLUSTER) - 1;
// CLUSTER blocks share the columns of B, or PARTS blocks one tile: never both.
constexpr int BLOCKS = CLUSTER * PARTS;               // of a cluster

// How the host deals out the work: tiles 0 to whole - 1 go to the clusters in turn, and of the
// others each of the first `sharers` clusters gets an equal share of the steps.
struct Deal { int steps, clusters, whole, divided, sharers; };

// Steps first to last - 1 of one tile's walk along K.
struct Piece { int tile, first, last; };

// The first step of a share; the steps of the divided tiles are numbered from 0. Where the shares
// cannot be equal, the first ones have a step more.
__device__ inline int share_begin(int sharer, const Deal &deal)
{
    const int all = deal.divided * deal.steps;
    return all / deal.sharers * sharer + min(sharer, all % deal.sharers);
}

// What a cluster does as number i, or false: there is no more. A share is shorter than a tile's
// walk, so it touches two tiles at most. The later one comes first: of that one the sums are left
// for another cluster, so nobody waits for who is waiting.
__device__ inline bool piece_number(int i, int cluster, const Deal &deal, Piece &piece)
{
    const int turns = (deal.whole - cluster + deal.clusters - 1) / deal.clusters;
    if (i < turns) {
        piece = {cluster + i * deal.clusters, 0, deal.steps};
        return true;
    }
    if (cluster >= deal.sharers || i > turns + 1)
        return false;
    const int begin = share_begin(cluster, deal);
    const int end = share_begin(cluster + 1, deal);
    const int early = begin / deal.steps, late = (end - 1) / deal.steps;
    if (i == turns)
        piece = {deal.whole + late, max(begin - late * deal.steps, 0),
                 end - late * deal.steps};
    else
        piece = {deal.whole + early, begin - early * deal.steps, deal.steps};
    return i == turns || early < late;
}

// Sums of a warpgroup wait at its place in global memory, four of a thread side by side and those
// of its neighbour next to them; ready[place] says whether they are there.
template <int count>
__device__ inline void leave_sums(const float (&acc)[count], float4 *sums, int *ready, int place,
                                  int role)
{
    const int tid = threadIdx.x % 128;
    sums += size_t(place) * (128 * count / 4) + tid;
    #pragma unroll
    for (int i = 0; i < count; i += 4)
        __stcg(sums + i / 4 * 128, make_float4(acc[i], acc[i + 1], acc[i + 2], acc[i + 3]));
    __threadfence();
    warpgroup_sync(role);
    if (tid == 0)
        asm volatile("st.release.gpu.global.b32 [%0], 1;" :: "l"(ready + place) : "memory");
}

template <int count>
__device__ inline void add_sums(float (&acc)[count], const float4 *sums, int *ready, int place,
                                int role)
{
    const int tid = threadIdx.x % 128;
    sums += size_t(place) * (128 * count / 4) + tid;
    if (tid == 0) {
        int there;
        do
            asm volatile("ld.acquire.gpu.global.b32 %0, [%1];"
                         : "=r"(there) : "l"(ready + place) : "memory");
        while (!there);
        ready[place] = 0;                             // for the next launch
    }
    warpgroup_sync(role);
    #pragma unroll
    for (int i = 0; i < count; i += 4) {
        const float4 other = __ldcg(sums + i / 4 * 128);
        acc[i] += other.x;
        acc[i + 1] += other.y;
        acc[i + 2] += other.z;
        acc[i + 3] += other.w;
    }
}

// The two blocks of a tile have each added up every second step. Each completes one half of the
// columns, `mine`, and sends its sums of the other half to where `inbox` is in the other block.
template <int count>
__device__ inline void swap_sums(float (&mine)[count], const float (&theirs)[count], unsigned inbox,
                                 unsigned arrived, int other)
{
    const int tid = threadIdx.x % 128;
    const unsigned place = inbox + tid * 16, there = address_in_block(place, other);
    const unsigned barrier = address_in_block(arrived, other);
    if (tid == 0)
        barrier_expect(arrived, 128 * count * 4);
    #pragma unroll
    for (int i = 0; i < count; i += 4)
        send_four(there + i * 512, theirs + i, barrier);
    barrier_wait(arrived, 0);
    #pragma unroll
    for (int i = 0; i < count; i += 4)
        add_four(mine + i, place + i * 512);
}

extern "C" __global__ void __cluster_dims__(BLOCKS) __launch_bounds__(THREADS, 1)
stream_k(const __grid_constant__ TensorMap map_A, const __grid_constant__ TensorMap map_B,
         const __grid_constant__ TensorMap map_C, int down, int across, int steps,
         int whole, int sharers, float4 *sums, int *ready)
{
    extern __shared__ __align__(1024) unsigned char stages[];
    __shared__ __align__(8) unsigned long long barriers[2 * STAGES + CONSUMERS];
    const unsigned ring = shared_address(stages), boxes = ring + STAGES * STAGE;
    const unsigned full = shared_address(barriers), empty = full + 8 * STAGES;
    const unsigned arrived = empty + 8 * STAGES;      // for each consumer: the other block's sums
    const int role = threadIdx.x / 128, tid = threadIdx.x % 128;
    const int cluster = blockIdx.x / BLOCKS, rank = blockIdx.x % CLUSTER;
    const int part = blockIdx.x % PARTS;              // of the steps

    let_next_launch_begin();
    if (threadIdx.x == 0) {
        prefetch_map(map_A);
        prefetch_map(map_B);
        prefetch_map(map_C);
        for (int slot = 0; slot < STAGES; ++slot) {
            barrier_init(full + 8 * slot, 1);
            barrier_init(empty + 8 * slot, CONSUMERS * CLUSTER);
        }
        for (int consumer = 0; consumer < CONSUMERS; ++consumer)
            barrier_init(arrived + 8 * consumer, 1);
        barrier_init_done();
    }
    // No block may deliver to another whose barriers are not ready.
    cluster_sync();

    const Deal deal = {steps, int(gridDim.x) / BLOCKS, whole, down * across - whole, sharers};
    Piece piece;
    int slot = 0, parity = 0;         // parity: how often the ring has gone round, modulo 2
    if (role == 0) {
        give_registers<56>();
        if (tid == 0) {
            for (int i = 0; piece_number(i, cluster, deal, piece); ++i) {
                const Tile tile = tile_number(piece.tile, down, across);
                const int row0 = (tile.row * CLUSTER + rank) * BM, col0 = tile.col * BN;
                wait_for_launches_before();
                for (int step = piece.first + part; step < piece.last; step += PARTS) {
                    // All consumers of the cluster have to empty a slot: our part of B goes
                    // to all of them.
                    barrier_wait(empty + 8 * slot, parity ^ 1);
                    const unsigned sA = ring + slot * STAGE, sB = sA + TILE_A;
                    barrier_expect(full + 8 * slot, STAGE);
                    tile_load(sA, map_A, step * BK, row0, full + 8 * slot);
                    #pragma unroll
                    for (int j = 0; j < SHARE; ++j) {
                        const int panel = rank * SHARE + j;
                        if (CLUSTER == 1)
                            tile_load(sB + panel * PANEL, map_B, col0 + 64 * panel, step * BK,
                                      full + 8 * slot);
                        else
                            tile_load_multicast(sB + panel * PANEL, map_B, col0 + 64 * panel,
                                                step * BK, full + 8 * slot, EVERYONE);
                    }
                    if (++slot == STAGES) {
                        slot = 0;
                        parity ^= 1;
                    }
                }
            }
        }
    } else {
        take_registers<224>();
        const int upper = (role - 1) * 64;            // this warpgroup's first row of the tile
        const unsigned my_boxes = boxes + (role - 1) * BOXES * BOX;
        // Where this warpgroup of a cluster leaves its sums.
        const auto place = [=](int of) { return (of * CLUSTER + rank) * CONSUMERS + role - 1; };
        float acc[BN / 2];
        wait_for_launches_before();
        for (int i = 0; piece_number(i, cluster, deal, piece); ++i) {
            const Tile tile = tile_number(piece.tile, down, across);
            const int row0 = (tile.row * CLUSTER + rank) * BM, col0 = tile.col * BN;
            const int begin = piece.first + part;
            int previous = 0;
            for (int step = begin; step < piece.last; step += PARTS) {
                barrier_wait(full + 8 * slot, parity);
                const unsigned sA = ring + slot * STAGE, sB = sA + TILE_A;
                products_begin();
                #pragma unroll
                for (int k = 0; k < BK; k += 16)
                    multiply_add(acc, rows_of_A(sA + upper * 128 + k * 2),
                                 panels_of_B(sB + k * 128, PANEL), k > 0 || step > begin);
                products_commit();
                // Leave this group in flight; the previous one is complete.
                products_wait<1>(acc);
                if (step > begin && tid < CLUSTER)
                    barrier_arrive(empty + 8 * previous, tid + part);
                previous = slot;
                if (++slot == STAGES) {
                    slot = 0;
                    parity ^= 1;
                }
            }
            products_wait<0>(acc);
            if (tid < CLUSTER)
                barrier_arrive(empty + 8 * previous, tid + part);

#if PARTS == 2
            const unsigned sent = arrived + 8 * (role - 1);
            float (&halves)[2][BN / 4] = reinterpret_cast<float (&)[2][BN / 4]>(acc);
            if (part == 0) {
                swap_sums(halves[0], halves[1], my_boxes, sent, 1);
                store_sums(halves[0], my_boxes, map_C, col0, row0 + upper, role);
            } else {
                swap_sums(halves[1], halves[0], my_boxes, sent, 0);
                store_sums(halves[1], my_boxes, map_C, col0 + BN / 2, row0 + upper, role);
            }
            break;                                    // there is one tile for each pair
#endif

            if (piece.last < steps) {
                leave_sums(acc, sums, ready, place(cluster), role);
                continue;
            }
            // The steps before ours were those of the clusters before us, back to the one whose
            // share holds the first step of the tile.
            if (piece.first > 0) {
                const int tile_begin = (piece.tile - whole) * steps;
                int other = cluster;
                while (share_begin(other, deal) > tile_begin)
                    add_sums(acc, sums, ready, place(--other), role);
            }
            store_sums(acc, my_boxes, map_C, col0, row0 + upper, role);
        }
        if (tid == 0)
            wait_for_reads_of_stores<0>();
    }
    __syncwarp();
    // No block may end while another may still deliver to it.
    cluster_sync();
}

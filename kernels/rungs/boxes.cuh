// Blocks that stay: which tile of C comes next, and how sums get to C through boxes of shared
// memory that the TMA stores.

struct Tile { int row, col; };

// The tiles in the order in which the clusters take them: down GROUP tiles, then one to the
// right. Clusters at work at the same time so share rows of A and columns of B in L2.
__device__ inline Tile tile_number(int number, int down, int across)
{
    const int first = number / (GROUP * across) * GROUP;
    const int height = min(GROUP, down - first), within = number - first * across;
    return {first + within % height, within / height};
}

// C is stored in boxes of 64 rows by 128 bytes, of which each consumer has BOXES at hand.
constexpr int BOX = 64 * 128, BOX_COLS = 128 / sizeof(Result);

// The part of a thread's sums that belongs to one box of 64 rows by 32 floats, swizzled as the
// TMA wants it.
template <int count>
__device__ inline void write_floats(const float (&sums)[count], int number, unsigned box)
{
    const int tid = threadIdx.x % 128, warp = tid / 32, lane = tid % 32;
    const int row = warp * 16 + lane / 4;             // row % 8 is the same 8 rows below
    #pragma unroll
    for (int j = 0; j < 4; ++j) {
        const float *d = sums + 16 * number + 4 * j;
        const int chunk = 2 * j + lane % 4 / 2;
        const unsigned place = box + row * 128 + ((chunk ^ (row % 8)) * 16) + lane % 2 * 8;
        asm volatile("st.shared.v2.f32 [%0], {%1, %2};" :: "r"(place), "f"(d[0]), "f"(d[1]) : "memory");
        asm volatile("st.shared.v2.f32 [%0], {%1, %2};"
                     :: "r"(place + 8 * 128), "f"(d[2]), "f"(d[3]) : "memory");
    }
}

// The same for a box of 128 bytes in the format of C: 32 floats, or 64 rounded to 16 bits.
template <int count>
__device__ inline void write_box(const float (&sums)[count], int number, unsigned box)
{
#if HALF_C
    const int tid = threadIdx.x % 128, warp = tid / 32, lane = tid % 32;
    // stmatrix: the opposite of ldmatrix, four 8×8 blocks at once.
    const int row = warp * 16 + lane % 16;
    #pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
        const float *d = sums + 32 * number + 8 * pair;
        const int chunk = 2 * pair + lane / 16;
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
                     :: "r"(box + row * 128 + ((chunk ^ (row % 8)) * 16)),
                        "r"(pack(d[0], d[1])), "r"(pack(d[2], d[3])),
                        "r"(pack(d[4], d[5])), "r"(pack(d[6], d[7])) : "memory");
    }
#else
    write_floats(sums, number, box);
#endif
}

// Store the sums of a warpgroup at (x, y) of C, box by box: while the TMA stores one, the threads
// write the next.
template <int count>
__device__ inline void store_sums(const float (&sums)[count], unsigned boxes, const TensorMap &map,
                                  int x, int y, int group)
{
    const int tid = threadIdx.x % 128;
    #pragma unroll
    for (int number = 0; number < 2 * count / BOX_COLS; ++number) {
        const unsigned box = boxes + number % BOXES * BOX;
        if (tid == 0)
            wait_for_reads_of_stores<BOXES - 1>();    // of what was in this box
        warpgroup_sync(group);
        write_box(sums, number, box);
        hand_over_to_tma();
        warpgroup_sync(group);
        if (tid == 0)
            tile_store(map, x + number * BOX_COLS, y, box);
    }
}

// Fragments: how the 32 threads of a warp hold small matrices for mma.sync.
//
// A fragment of A is 16×16 numbers, one of B 16×8, one of C 16×8. Thread `lane` holds, of
// each 8×8 block, the two neighbours in row lane / 4 at columns 2 * (lane % 4) and the
// next; of B the same with rows and columns exchanged.

// Four 8×8 blocks from shared memory, one register each. Lanes 0 to 7 give the addresses
// of the rows of the first block, lanes 8 to 15 those of the second, and so on.
__device__ inline void load_blocks(unsigned (&blocks)[4], unsigned address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(blocks[0]), "=r"(blocks[1]), "=r"(blocks[2]), "=r"(blocks[3])
                 : "r"(address));
}

// The same, each block transposed on its way: B is stored by rows, and mma wants columns.
__device__ inline void load_blocks_transposed(unsigned (&blocks)[4], unsigned address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(blocks[0]), "=r"(blocks[1]), "=r"(blocks[2]), "=r"(blocks[3])
                 : "r"(address));
}

// acc (16×8) += a (16×16) · b (16×8), by the whole warp: 4096 operations.
__device__ inline void multiply_add(float (&acc)[4], const unsigned (&a)[4], const unsigned *b)
{
#if __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." HALF_TYPE "." HALF_TYPE ".f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

// The same as two steps of k = 8, the most that sm_75 does in one instruction.
__device__ inline void multiply_add_sm75(float (&acc)[4], const unsigned (&a)[4], const unsigned *b)
{
#pragma unroll
    for (int k = 0; k < 2; ++k)
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                     "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                     : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
                     : "r"(a[2 * k]), "r"(a[2 * k + 1]), "r"(b[k]));
}

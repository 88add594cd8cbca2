// The same product by cuBLAS, where the program is built with it (-DWITH_CUBLAS -lcublas).
#pragma once

#include "failures.cuh"

#ifdef WITH_CUBLAS
#include <cublas_v2.h>

class Library {
public:
    static constexpr bool present = true;

    Library() { check(cublasCreate(&handle)); }
    ~Library() { cublasDestroy(handle); }
    Library(const Library &) = delete;

    // cuBLAS stores matrices by columns, so it sees our row-major A, B and C transposed:
    // it computes Cᵀ = Bᵀ·Aᵀ, which needs the operands swapped and nothing moved.
    void multiply(const float *A, const float *B, float *C, int M, int N, int K)
    {
        const float one = 1.0f, zero = 0.0f;
        check(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, M, K, &one, B, N, A, K, &zero, C, N));
    }

private:
    cublasHandle_t handle = nullptr;

    static void check(cublasStatus_t status)
    {
        if (status != CUBLAS_STATUS_SUCCESS)
            fail(FAILED, cublasGetStatusName(status), cublasGetStatusString(status), __FILE__,
                 __LINE__);
    }
};
#else
class Library {
public:
    static constexpr bool present = false;
    void multiply(const float *, const float *, float *, int, int, int) {}
};
#endif

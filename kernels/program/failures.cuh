// Every call of CUDA can fail, and a kernel's failure shows in a later call: ask after each.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

// What the shell sees when the program ends.
enum ExitCode { RIGHT = 0, WRONG = 1, UNUSABLE = 2, FAILED = 3 };

// Say in one line what failed and where, and end the program.
[[noreturn]] inline void fail(ExitCode code, const char *what, const char *why, const char *file,
                              int line)
{
    const char *slash = std::strrchr(file, '/');
    std::fprintf(stderr, "matmul: %s: %s (%s:%d)\n", what, why, slash ? slash + 1 : file, line);
    std::exit(code);
}

// Wrap each call of the CUDA runtime: CHECK(cudaMalloc(...)).
#define CHECK(call) \
    do { \
        const cudaError_t error = (call); \
        if (error != cudaSuccess) \
            fail(FAILED, cudaGetErrorName(error), cudaGetErrorString(error), __FILE__, __LINE__); \
    } while (false)

// Multiply two matrices with the course's tiled kernel: a complete program of CUDA C++.
//
//     nvcc -std=c++17 -O3 -DWITH_CUBLAS matmul.cu -lcublas -o matmul
//     ./matmul --tile 16 2048 1024 512
//
// It checks C against a product in double precision and against cuBLAS, and times both.

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "arguments.hpp"
#include "failures.cuh"
#include "library.cuh"
#include "tiled.cuh"

// An array of floats in the GPU's memory, freed when it goes out of scope.
class DeviceArray {
public:
    explicit DeviceArray(size_t count) { CHECK(cudaMalloc(&data, count * sizeof(float))); }
    explicit DeviceArray(const std::vector<float> &host) : DeviceArray(host.size())
    {
        CHECK(cudaMemcpy(data, host.data(), host.size() * sizeof(float), cudaMemcpyHostToDevice));
    }
    ~DeviceArray() { cudaFree(data); }
    DeviceArray(const DeviceArray &) = delete;

    operator float *() const { return data; }

    std::vector<float> on_host(size_t count) const
    {
        std::vector<float> host(count);
        CHECK(cudaMemcpy(host.data(), data, count * sizeof(float), cudaMemcpyDeviceToHost));
        return host;
    }

private:
    float *data = nullptr;
};

// A point on the GPU's own clock.
class Event {
public:
    Event() { CHECK(cudaEventCreate(&event)); }
    ~Event() { cudaEventDestroy(event); }
    Event(const Event &) = delete;

    void record() { CHECK(cudaEventRecord(event)); }

    // Milliseconds since an earlier event, once the GPU has passed this one.
    float since(const Event &earlier)
    {
        float milliseconds = 0;
        CHECK(cudaEventSynchronize(event));
        CHECK(cudaEventElapsedTime(&milliseconds, earlier.event, event));
        return milliseconds;
    }

private:
    cudaEvent_t event = nullptr;
};

std::vector<float> random_elements(size_t count, std::mt19937 &generator)
{
    std::uniform_real_distribution<float> between(-1.0f, 1.0f);
    std::vector<float> elements(count);
    for (float &element : elements)
        element = between(generator);
    return elements;
}

// Median milliseconds of a launch; the first one, which also loads the code, doesn't count.
template <typename Launch> float median_time(int repeats, Launch launch)
{
    launch();
    std::vector<float> times(repeats);
    Event begin, end;
    for (float &time : times) {
        begin.record();
        launch();
        end.record();
        time = end.since(begin);
    }
    std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
    return times[repeats / 2];
}

// The largest difference that was found, and whether every difference was within its bound.
struct Comparison {
    double largest = 0;
    bool right = true;

    // A NaN is within no bound: written this way, it counts as wrong.
    void add(double difference, double bound)
    {
        right = right && difference <= bound;
        largest = std::fmax(largest, difference);
    }
};

// K products and K sums, each rounded, move an element by at most γ·Σ|a·b|, where
// γ = K·u / (1 - K·u), and u = 2⁻²⁴ is the rounding of one.
double gamma_of(int K)
{
    const double ku = K * double(FLT_EPSILON) / 2;
    return ku / (1 - ku);
}

// Compare a sample of C with the same elements in double precision.
Comparison with_double(const std::vector<float> &A, const std::vector<float> &B,
                       const std::vector<float> &C, const Arguments &given, int samples,
                       std::mt19937 &generator)
{
    std::uniform_int_distribution<int> rows(0, given.M - 1), cols(0, given.N - 1);
    Comparison found;
    for (int sample = 0; sample < samples; ++sample) {
        // The corners come first: they are where a wrong guard shows.
        const int row = sample < 4 ? (sample & 1) * (given.M - 1) : rows(generator);
        const int col = sample < 4 ? (sample >> 1) * (given.N - 1) : cols(generator);
        double exact = 0, magnitude = 0;
        for (int k = 0; k < given.K; ++k) {
            const double term =
                double(A[size_t(row) * given.K + k]) * B[size_t(k) * given.N + col];
            exact += term;
            magnitude += std::abs(term);
        }
        found.add(std::abs(C[size_t(row) * given.N + col] - exact),
                  gamma_of(given.K) * magnitude);
    }
    return found;
}

// Compare every element with the library's: each may be off by γ·K, since |a·b| is at most 1.
Comparison with_library(const std::vector<float> &C, const std::vector<float> &expected, int K)
{
    Comparison found;
    for (size_t i = 0; i < C.size(); ++i)
        found.add(std::abs(double(C[i]) - expected[i]), 2 * gamma_of(K) * K);
    return found;
}

void print_row(const char *name, float milliseconds, double flop, float library)
{
    std::printf("%-8s %10.3f %10.2f", name, milliseconds, flop / milliseconds / 1e9);
    if (library > 0)
        std::printf(" %9.0f %%", 100 * library / milliseconds);
    std::printf("\n");
}

int main(int count, char **words)
{
    const Arguments given = parse(count, words);
    const int M = given.M, N = given.N, K = given.K, tile = given.tile;
    if (blocks_for(M, tile) > MOST_ROWS_OF_BLOCKS)
        refuse("M is " + std::to_string(M) + ", and a grid of " + std::to_string(tile) + "x" +
               std::to_string(tile) + " blocks has at most " +
               std::to_string(MOST_ROWS_OF_BLOCKS) + " rows of them: M up to " +
               std::to_string(MOST_ROWS_OF_BLOCKS * tile));

    cudaDeviceProp gpu;
    CHECK(cudaGetDeviceProperties(&gpu, 0));
    size_t free_bytes = 0, all_bytes = 0;
    CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
    const size_t in_A = size_t(M) * K, in_B = size_t(K) * N, in_C = size_t(M) * N;
    const double asked = double(sizeof(float)) * (double(in_A) + double(in_B) + 2.0 * double(in_C));
    if (asked > double(free_bytes))
        refuse("these sizes take " + std::to_string(size_t(asked / 1e6)) + " MB, and " +
               std::to_string(free_bytes / 1000000) + " MB are free on the " + gpu.name);

    std::mt19937 generator(given.seed);
    const std::vector<float> A = random_elements(in_A, generator);
    const std::vector<float> B = random_elements(in_B, generator);
    const DeviceArray dA(A), dB(B), dC(in_C), dLibrary(in_C);
    Library library;

    const float ours = median_time(
        given.repeats, [&] { launch_tiled(tile, dA, dB, dC, M, N, K); });
    const float theirs = Library::present
        ? median_time(given.repeats, [&] { library.multiply(dA, dB, dLibrary, M, N, K); })
        : 0;

    const double flop = 2.0 * M * N * K;
    std::printf("%s, %d SMs: C (%dx%d) = A (%dx%d) B (%dx%d), float32, tile %d\n\n", gpu.name,
                gpu.multiProcessorCount, M, N, M, K, K, N, tile);
    std::printf("%-8s %10s %10s%s\n", "", "ms", "TFLOP/s", theirs > 0 ? "  of cuBLAS" : "");
    print_row("tiled", ours, flop, theirs);
    if (Library::present)
        print_row("cuBLAS", theirs, flop, theirs);
    else
        std::printf("(built without cuBLAS: -DWITH_CUBLAS -lcublas adds its row)\n");

    const std::vector<float> C = dC.on_host(in_C);
    const int samples = 256;
    const Comparison exact = with_double(A, B, C, given, samples, generator);
    bool right = exact.right;
    std::printf("\n%d elements differ from double precision by at most %.2e\n", samples,
                exact.largest);
    if (Library::present) {
        const Comparison same = with_library(C, dLibrary.on_host(in_C), K);
        right = right && same.right;
        std::printf("all %zu differ from cuBLAS by at most %.2e\n", in_C, same.largest);
    }
    std::printf("%s\n", right ? "C is right" : "C is WRONG");
    return right ? RIGHT : WRONG;
}

// The command line: matmul [--tile T] [--repeats R] [--seed S] [M [N [K]]]
#pragma once

#include <charconv>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

struct Arguments {
    int M = 2048, N = 2048, K = 2048;  // C (M×N) = A (M×K) · B (K×N)
    int tile = 16;                     // side of a tile, and of a block of threads
    int repeats = 20;                  // timed launches, after one that isn't
    int seed = 1;                      // of the random elements of A and B
};

const char *const USAGE =
    "usage: matmul [--tile 8|16|32] [--repeats R] [--seed S] [M [N [K]]]\n"
    "\n"
    "Multiply A (M x K) by B (K x N) on the GPU, check C, and time it beside cuBLAS.\n"
    "M defaults to 2048, N and K to M.\n"
    "\n"
    "Exit codes: 0 C is right, 1 C is wrong, 2 unusable arguments, 3 CUDA failed.\n";

[[noreturn]] inline void refuse(const std::string &why)
{
    std::fprintf(stderr, "matmul: %s; matmul --help lists what it takes\n", why.c_str());
    std::exit(2);
}

// Read a whole number from `least` to `most`, or refuse it by name.
inline int whole_number(const char *name, const char *text, int least, int most = INT_MAX)
{
    int value = 0;
    const char *end = text + std::strlen(text);
    const auto [stopped, error] = std::from_chars(text, end, value);
    if (error != std::errc() || stopped != end || value < least || value > most)
        refuse(std::string(name) + " is '" + text + "', not a whole number from " +
               std::to_string(least) + " to " + std::to_string(most));
    return value;
}

inline Arguments parse(int count, char **words)
{
    Arguments given;
    std::vector<int> sizes;
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        if (word == "--help" || word == "-h") {
            std::fputs(USAGE, stdout);
            std::exit(0);
        }
        if (word.rfind("--", 0) != 0) {
            if (sizes.size() == 3)
                refuse("'" + word + "' is a fourth size, and a product has M, N and K");
            sizes.push_back(whole_number(sizes.empty() ? "M" : sizes.size() == 1 ? "N" : "K",
                                         words[i], 1));
            continue;
        }
        int *const option = word == "--tile"      ? &given.tile
                            : word == "--repeats" ? &given.repeats
                            : word == "--seed"    ? &given.seed
                                                  : nullptr;
        if (option == nullptr)
            refuse("there is no option " + word);
        if (++i == count)
            refuse(word + " needs a value");
        *option = whole_number(word.c_str(), words[i], option == &given.seed ? 0 : 1);
    }
    if (given.tile != 8 && given.tile != 16 && given.tile != 32)
        refuse("--tile is " + std::to_string(given.tile) + ", and must be 8, 16 or 32");
    if (!sizes.empty()) {
        given.M = sizes[0];
        given.N = sizes.size() > 1 ? sizes[1] : given.M;
        given.K = sizes.size() > 2 ? sizes[2] : given.M;
    }
    return given;
}

"""The text of ``attention.cu``, run on the CPU: fragments, swizzles, masks and copies are right.

`warps.hpp` stands in for a block of threads; the kernel itself is compiled as it is written, and
its result is held against float64.
"""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from kernels.host import cpp, half
from kernels.primitives.attention import Tiles, error_bound, exact

COMPILER = shutil.which("g++")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs the compiler g++")
UNITS = {"bfloat16": 2.0**-8, "float16": 2.0**-11}

MAIN = """
int grid_x, N;
float scale;
std::vector<Half> arrays[4];

void body()
{
    const unsigned self = threadIdx.x;
    attention(arrays[0].data(), arrays[1].data(), arrays[2].data(), arrays[3].data(), N, scale);
    threadIdx.x = self;
    finished[self] = true;
    setcontext(&scheduler);
}

// Run the threads of a warp until all have ended or stand at a barrier; say whether any moved.
bool run_warp(int warp)
{
    bool moved = false;
    for (bool going = true; going; moved |= going) {
        going = false;
        for (int t = 32 * warp; t < 32 * warp + 32; ++t)
            if (!finished[t] && stops[t] != whole.round) {
                going = true;
                threadIdx.x = t;
                swapcontext(&scheduler, &contexts[t]);
            }
    }
    return moved;
}

int main(int, char **names)
{
    N = std::atoi(names[1]);
    const int heads = std::atoi(names[2]);
    scale = std::atof(names[3]);
    for (auto &array : arrays) {
        array.resize(size_t(heads) * N * D);
        if (&array != arrays + 3 &&
            std::fread(array.data(), 2, array.size(), stdin) != array.size())
            return 3;
    }
    gridDim = {unsigned((N + QUERIES - 1) / QUERIES), unsigned(heads)};
    static std::vector<char> stacks(size_t(THREADS) << 17);
    for (unsigned y = 0; y < gridDim.y; ++y)
        for (unsigned x = 0; x < gridDim.x; ++x) {
            blockIdx = {x, y};
            for (int t = 0; t < THREADS; ++t) {
                getcontext(&contexts[t]);
                contexts[t].uc_stack.ss_sp = stacks.data() + (size_t(t) << 17);
                contexts[t].uc_stack.ss_size = 1 << 17;
                contexts[t].uc_link = nullptr;
                makecontext(&contexts[t], body, 0);
                finished[t] = false;
                stops[t] = -1;
            }
            for (bool going = true; going;) {
                going = false;
                for (int warp = 0; warp < WARPS; ++warp)
                    going |= run_warp(warp);
            }
        }
    std::fwrite(arrays[3].data(), 2, arrays[3].size(), stdout);
}
"""


def program(folder: Path, D: int, causal: bool, dtype: str, tiles: Tiles, change=lambda t: t):
    """Compile the kernel with g++ and return the program's path."""
    text = cpp.source("attention", headers=False)
    # What speaks PTX is in warps.hpp instead.
    text = re.sub(r"#include .*\n", "", text)
    for name in ("copy_async", "commit_copies", "wait_for_copies"):
        text = re.sub(
            rf"(template <int pending> )?__device__ inline \w+ {name}\(.*?\n?.*?\{{.*?\}}\n",
            "", text, count=1, flags=re.S,
        )  # fmt: skip
    text = text.replace("extern __shared__ __align__(128) unsigned char stages[];", "")
    defined = tiles.macros | {
        "D": D, "CAUSAL": int(causal), "BF16": int(dtype == "bfloat16"),
        "SHARED": tiles.shared_bytes_of(D),
    }  # fmt: skip
    shim = Path(__file__).with_name("warps.hpp").read_text(encoding="utf-8")
    shim = shim.replace("THREADS", "BLOCK")
    text = f"constexpr int BLOCK = 32 * WARPS;\n{shim}\n{change(text)}\n{MAIN}"
    return compiled(folder, text, defined, "-O1")


def compiled(folder: Path, text: str, defined: dict[str, int], level: str) -> Path:
    """Compile a program that needs some macros with g++, and return its path."""
    defines = "".join(f"#define {name} {value}\n" for name, value in defined.items())
    source, made = folder / "attention.cpp", folder / "attention"
    source.write_text(defines + text, encoding="utf-8")
    subprocess.run(
        [COMPILER, "-std=c++17", level, "-w", source, "-o", made], check=True, timeout=120
    )
    return made


def run(made: Path, Q, K, V, tiles):
    heads, N, D = Q.shape
    scale = np.log2(np.e) / np.sqrt(D)
    done = subprocess.run(
        [made, str(N), str(heads), repr(float(scale))],
        input=b"".join(x.tobytes() for x in (Q, K, V)), capture_output=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return np.frombuffer(done.stdout, Q.dtype).reshape(Q.shape)


def inputs(heads, N, D, dtype, seed=0):
    random = np.random.default_rng(seed)
    return [half.cast(random.standard_normal((heads, N, D), np.float32), dtype) for _ in "QKV"]


CASES = [
    (128, True, "bfloat16", Tiles(), (1, 129)),
    (64, False, "float16", Tiles(tall=1, warps=8, keys=128), (3, 65, 130)),
]


@pytest.mark.parametrize("D, causal, dtype, tiles, lengths", CASES, ids=str)
def test_it_is_right(D, causal, dtype, tiles, lengths, tmp_path):
    made = program(tmp_path, D, causal, dtype, tiles)
    for N in lengths:
        given = inputs(2, N, D, dtype)
        found = half.floats(run(made, *given, tiles))
        known = [half.floats(x) for x in given]
        bound = error_bound(*known, causal, unit=UNITS[dtype])
        assert np.all(abs(found - exact(*known, causal)) <= bound), N


@pytest.mark.parametrize(
    "before, after",
    [
        ("2 * step + lane / 8 % 2", "2 * step + lane / 16"),  # the blocks of K, mixed up
        ("i % 4 / 2 * 8", "0"),  # the mask of the lower eight rows
        ("wait_for_copies<0>();\n        __syncthreads();", "wait_for_copies<0>();"),
        ("wait_for_copies<0>();\n        __syncthreads();", "__syncthreads();"),
    ],
)
def test_a_slip_of_the_pen_is_seen(before, after, tmp_path):
    D, dtype, tiles = 64, "bfloat16", Tiles(tall=1)

    def change(text):
        assert text.count(before) == 1
        return text.replace(before, after)

    made = program(tmp_path, D, True, dtype, tiles, change)
    given = inputs(1, 70, D, dtype)
    found = half.floats(run(made, *given, tiles))
    known = [half.floats(x) for x in given]
    bound = error_bound(*known, True, unit=UNITS[dtype])
    assert not np.all(abs(found - exact(*known, True)) <= bound)

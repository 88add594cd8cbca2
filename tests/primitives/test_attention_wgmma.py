"""Hopper's attention in both languages, run on the CPU: masks, fragments, rings, turns are right.

`warps.hpp` and `warpgroups.hpp` stand in for a block of Hopper's threads; what of the kernel speaks
no PTX is compiled as it is written, and its result is held against float64.
"""

import math
import re
from pathlib import Path

import numpy as np
import pytest

from kernels.host import cpp, half
from kernels.primitives import attention_wgmma as hopper
from kernels.primitives.attention import error_bound, exact
from microscope import TensorMap, trace
from tests.microscope.cases import from_source
from tests.primitives.test_attention_cpp import COMPILER, UNITS, compiled, inputs, run

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs the compiler g++")

MAIN = """
TensorMap maps[3];
std::vector<Half> arrays[4];
int N;
float scale;

void body()
{
    const unsigned self = threadIdx.x;
    attention_wgmma(maps[0], maps[1], maps[2], arrays[3].data(), N, scale);
    threadIdx.x = self;
    finished[self] = true;
    setcontext(&scheduler);
}

int main(int, char **names)
{
    N = std::atoi(names[1]);
    const int heads = std::atoi(names[2]);
    scale = std::atof(names[3]);
    for (int i = 0; i < 4; ++i) {
        arrays[i].resize(size_t(heads) * N * D);
        if (i < 3 && std::fread(arrays[i].data(), 2, arrays[i].size(), stdin) != arrays[i].size())
            return 3;
        if (i < 3)
            maps[i].is = {arrays[i].data(), N, i == 0 ? QUERIES : KEYS};
    }
    gridDim = {unsigned((N + QUERIES - 1) / QUERIES), unsigned(heads)};
    static std::vector<char> stacks(size_t(BLOCK) << 16);
    for (unsigned y = 0; y < gridDim.y; ++y)
        for (unsigned x = 0; x < gridDim.x; ++x) {
            blockIdx = {x, y};
            std::memset(arrived, 0, sizeof(arrived));
            for (int t = 0; t < BLOCK; ++t) {
                getcontext(&contexts[t]);
                contexts[t].uc_stack.ss_sp = stacks.data() + (size_t(t) << 16);
                contexts[t].uc_stack.ss_size = 1 << 16;
                contexts[t].uc_link = nullptr;
                makecontext(&contexts[t], body, 0);
                finished[t] = false;
            }
            int turns = 0;
            for (bool going = true; going;) {
                going = false;
                for (int t = 0; t < BLOCK; ++t)
                    if (!finished[t]) {
                        going = true;
                        threadIdx.x = t;
                        swapcontext(&scheduler, &contexts[t]);
                    }
                if (++turns > 5'000) {
                    std::fprintf(stderr, "threads wait for each other");
                    return 4;
                }
            }
        }
    std::fwrite(arrays[3].data(), 2, arrays[3].size(), stdout);
}
"""
FUNCTION = r"^(?:template <[^\n]*> )?__device__ inline [^;{]*\{(?:[^\n]*\}\n|.*?^\}\n)"


def program(folder: Path, D: int, causal: bool, dtype: str, change=lambda t: t) -> Path:
    """Compile the kernel with g++ and return the program's path."""
    text = cpp.source("attention_wgmma")
    text = text[text.index("// Hopper's own instructions") :]
    # What speaks PTX is in warpgroups.hpp instead, and so are maps and the place of barriers.
    text = re.sub(FUNCTION, lambda f: "" if "asm" in f[0] else f[0], text, flags=re.M | re.S)
    text = re.sub(r"struct alignas\(64\) TensorMap .*\n", "", text)
    text = re.sub(r"extern __shared__ .* shared\[\];\n", "auto *shared = stages;\n", text)
    text = re.sub(r"__shared__ .* barriers\[.*\];\n", "auto *barriers = stages + BARRIERS;\n", text)
    defined = {
        "D": D, "CAUSAL": int(causal), "BF16": int(dtype == "bfloat16"),
        "SHARED": hopper.shared_bytes_of(D), "BLOCK": hopper.THREADS,
    }  # fmt: skip
    warps, groups = (
        Path(__file__).with_name(f"{name}.hpp").read_text(encoding="utf-8")
        for name in ("warps", "warpgroups")
    )
    text = f"{warps.replace('THREADS', 'BLOCK')}\n{groups}\n{change(text)}\n{MAIN}"
    return compiled(folder, text, defined, "-O2")


def is_right(made: Path, heads: int, N: int, D: int, causal: bool, dtype: str) -> bool:
    given = inputs(heads, N, D, dtype)
    found = half.floats(run(made, *given, None))
    known = [half.floats(x) for x in given]
    bound = error_bound(*known, causal, unit=UNITS[dtype])
    return bool(np.all(abs(found - exact(*known, causal)) <= bound))


#: With heads and lengths: heads are computed in groups of four.
CASES = [
    (128, True, "bfloat16", ((2, 1), (5, 300))),
    (64, True, "bfloat16", ((1, 390),)),
    (64, False, "float16", ((5, 65), (1, 515))),
]


@needs_compiler
@pytest.mark.parametrize("D, causal, dtype, shapes", CASES, ids=str)
def test_it_is_right(D, causal, dtype, shapes, tmp_path):
    made = program(tmp_path, D, causal, dtype)
    for heads, N in shapes:
        assert is_right(made, heads, N, D, causal, dtype), (heads, N)


@needs_compiler
@pytest.mark.parametrize(
    "before, after",
    [
        ("p + key / 4", "p"),  # the weights of the first 16 keys, for all
        ("row = query + i % 4 / 2 * 8", "row = query"),  # the mask of the lower eight rows
        ("products_wait<0>(o);\n        V.release();", "V.release();"),  # results not there yet
        ("for (int tile = last; tile > 0", "for (int tile = last; tile > 1"),  # a tile left out
        ("within / width", "within / GROUP"),  # the queries of a smaller group of heads
        ("phase ^= 1;", ""),  # tiles of the round before
    ],
)
def test_a_slip_of_the_pen_is_seen(before, after, tmp_path):
    def change(text):
        assert text.count(before) == 1
        return text.replace(before, after)

    made = program(tmp_path, 64, True, "bfloat16", change)
    try:
        seen = not is_right(made, 1, 390, 64, True, "bfloat16")
    except AssertionError as error:
        seen = "threads wait for each other" in str(error)
    assert seen


# ------------------------------------------------------------------------------ in Python


def traced(kernel, heads: int, N: int, D: int, causal: bool, dtype: str, M=0, shared=1):
    """What the interpreter reports, and whether the result is as near as rounding allows."""
    Q, K, V = inputs(heads, N, D, dtype)
    given = Q[:, -(M or N) :].copy(), *(x[: heads // shared] for x in (K, V))
    M = given[0].shape[1]
    maps = [TensorMap(x, (1, hopper.KEYS, 64), dtype) for x in given]
    out, lse = np.zeros((heads * M, D), Q.dtype), np.zeros(heads * M, np.float32)
    scale = np.float32(math.log2(math.e) / math.sqrt(D))
    seen = trace(
        kernel, (-(-M // hopper.QUERIES), heads), hopper.THREADS, *maps, out, lse,
        *map(np.int32, (M, N, shared)), scale, shared_bytes=hopper.shared_bytes_of(D),
    )  # fmt: skip
    known = [half.floats(x) for x in given]
    found = half.floats(seen.outputs["O"]).reshape(heads, M, D)
    bound = error_bound(*known, causal, unit=UNITS[dtype])
    right = np.all(abs(found - exact(*known, causal)) <= bound)
    sums = log_sums(*known[:2], causal)
    right &= np.allclose(seen.outputs["lse"].reshape(heads, M), sums, rtol=0, atol=1e-4)
    return seen.problems, bool(right)


def log_sums(Q, K, causal: bool) -> np.ndarray:
    """The logarithm of the sum of exponentials of each query's scores."""
    K = K.astype(np.float64).repeat(len(Q) // len(K), axis=0)
    scores = Q.astype(np.float64) @ K.transpose(0, 2, 1) / math.sqrt(Q.shape[2])
    M, N = scores.shape[1:]
    scores = np.where(np.tri(M, N, N - M) if causal else True, scores, -np.inf)
    largest = scores.max(axis=2, keepdims=True)
    return (largest + np.log(np.exp(scores - largest).sum(axis=2, keepdims=True)))[..., 0]


@pytest.mark.parametrize(
    "heads, N, D, causal, dtype",
    [(1, 129, 128, True, "bfloat16"), (2, 65, 64, False, "float16"), (1, 300, 64, True, "float16")],
)
def test_in_python_it_is_right_and_sound(heads, N, D, causal, dtype):
    kernel = hopper.make_attention_wgmma(D, causal, dtype)
    assert traced(kernel, heads, N, D, causal, dtype) == ([], True)


@pytest.mark.parametrize("M, N, causal", [(1, 200, True), (130, 259, True), (70, 130, False)])
def test_keys_may_be_shared_and_more_than_queries(M, N, causal):
    kernel = hopper.make_attention_wgmma(64, causal, oblique=causal)
    assert traced(kernel, 2, N, 64, causal, "bfloat16", M, shared=2) == ([], True)


def test_without_overlap_it_is_right_and_sound():
    apart = hopper.make_attention_wgmma(64, True, "bfloat16", overlap=False)
    assert traced(apart, 1, 140, 64, True, "bfloat16") == ([], True)


@pytest.mark.parametrize(
    "before, after",
    [
        ("multiply_values(o, p[key // 16], v, 1)", "multiply_values(o, p[0], v, 1)"),
        ("query + i % 4 // 2 * 8", "query"),  # the mask of the lower eight rows
        ("ptx.mbarrier_wait_parity(full_K + 8 * slot, parity)", "pass"),
        ("ptx.wgmma_wait_group(PENDING, s, SCORES)", "pass"),
    ],
)
def test_a_slip_of_the_pen_in_python_is_seen(before, after):
    source = Path(hopper.__file__).read_text(encoding="utf-8")
    assert source.count(before) == 1
    module = from_source(source.replace(before, after), "attention_wgmma_slip")
    problems, right = traced(module.make_attention_wgmma(64, True), 1, 140, 64, True, "bfloat16")
    assert problems or not right

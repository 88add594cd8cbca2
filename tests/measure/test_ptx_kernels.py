"""Indices of 32 and of 64 bits: what a compiler makes of them, how the benchmark swaps them."""

from importlib.util import find_spec

import pytest

from kernels import LADDER, cuda
from kernels.measure import ptx
from kernels.measure.bench.indices import reindexed
from kernels.rungs import thread_tiled

needs_compiler = pytest.mark.skipif(
    not (find_spec("cuda") and find_spec("numba_cuda")),
    reason="this platform has no packages of the CUDA compilers",
)
SMALL = {"BM": 32, "BN": 32, "BK": 8, "TM": 4, "TN": 4}


@needs_compiler
def test_indices_of_64_bits_cost_instructions_and_no_arithmetic():
    kernel = LADDER["thread_tiled"].kernel(**SMALL)
    narrow, wide = (ptx.compile_kernel(kernel, index) for index in ("uint32", "int64"))
    assert narrow.count("fma.rn.f32") == wide.count("fma.rn.f32") == 8 * 16
    assert narrow.count("shr.s64") == 0 < wide.count("shr.s64")
    assert len(narrow.splitlines()) < len(wide.splitlines())
    assert ".local" not in narrow + wide


@needs_compiler
def test_a_kernel_with_arguments_of_its_own_names_their_types():
    @cuda.jit
    def signs(out):
        i = cuda.threadIdx.x
        if i % 2 == 0:
            out[i] = 1
        else:
            out[i] = -1

    text = ptx.compile_kernel(signs, signature="void(int32[::1])")
    assert text.count("st.global.u32") == 2


def test_the_benchmark_swaps_the_type_and_nothing_else():
    maker = reindexed(thread_tiled.make_thread_tiled, "int64")
    kernel = maker(*SMALL.values()).py_func
    plain = thread_tiled.make_thread_tiled(*SMALL.values()).py_func
    assert str(kernel.__globals__["uint32"]) == "int64" != str(plain.__globals__["uint32"])
    assert kernel.__code__.co_code == plain.__code__.co_code

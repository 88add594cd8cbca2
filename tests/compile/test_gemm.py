"""The general product compiles for the GPUs it is for: nothing spills, nothing is called."""

import re
from importlib.util import find_spec

import pytest

from kernels.measure.ptx import compile_kernel, with_numba
from kernels.rungs.order import GENERAL

if not (find_spec("cuda") and find_spec("numba_cuda")):
    pytest.skip("this platform has no packages of the CUDA compilers", allow_module_level=True)

from cuda import core
from numba import cuda
from numba.cuda import types

F16, F32, THIN = GENERAL["gemm_f16"], GENERAL["gemm_f32"], GENERAL["gemm_thin"]
#: Rung, capability, options, how it lies and what follows, and the instructions it is written for.
CASES = [
    (F16, (9, 0, "a"), {}, {"down_A": True, "down_B": False}, ("multicast", "3d.global")),
    (F16, (9, 0, "a"), {"BM": 64, "cluster": 1},
     {"grouped": True, "by_tma": False, "activation": "silu", "bias": "bfloat16"}, ("wgmma",)),
    (F16, (9, 0, "a"), {"BN": 128, "cluster": 1}, {"odd_A": True, "odd_B": True, "parted": True},
     ("wgmma", "ld.shared.u32", "atom.global.inc")),
    (F16, (9, 0, "a"), {"BM": 64, "BN": 64, "cluster": 1},
     {"odd_B": True, "dtype": "float16", "out_dtype": "float16", "by_tma": False}, ("wgmma",)),
    (F16, (9, 0, "a"), {}, {"adds": True, "pairs": True, "out_dtype": "bfloat16"},
     ("ld.global.u32",)),
    (F32, (8, 0), {"BN": 128, "WN": 32, "TN": 8}, {"parted": True}, ("atom.global.inc",)),
    (F32, (8, 0), {}, {"way_A": "fours", "way_B": "along k"}, ("cp.async.cg", "st.global.cg.v4")),
    (F32, (8, 0), dict(BM=16, BN=128, BK=16, WM=16, WN=32, TM=4, TN=4),
     {"grouped": True, "activation": "gelu", "bias": "float32", "adds": True}, ("cp.async.ca",)),
    # The last block of a tile counts.
    (THIN, (7, 5), {"T": 8, "split": 2}, {"near": "k", "wide": True, "wide_Y": True},
     ("ld.global.v4.u32", "atom.global.inc", "shfl.sync.bfly")),
    (THIN, (7, 5), {"T": 4}, {"near": "r", "wide": True, "dtype": "bfloat16", "bias": "bfloat16"},
     ("ld.global.v4.u32",)),
    (THIN, (7, 5), {"T": 2, "PER": 8}, {"near": "r", "dtype": "float16"}, ("cvt.f32.f16",)),
]  # fmt: skip


FORMATS = {"float32": types.float32, "float16": types.float16, "bfloat16": types.uint16}


def signature_of(rung, how):
    """The types of a kernel's arguments."""
    A = types.Array(FORMATS[how.get("dtype", "float32")], 3, "A")
    B, C = A, types.Array(FORMATS[how.get("out_dtype", "float32")], 3, "A")
    if rung is F16:  # tensor maps
        A, B, maps = (
            types.Array(types.uint8, 1 + how.get(odd, False), "C") for odd in ("odd_A", "odd_B", "")
        )
    biases = types.Array(FORMATS[how.get("bias") or "float32"], 1, "C")
    table, scales = types.Array(types.int32, 2, "C"), [types.float32] * 2
    left = types.Array(types.float32, 4 if rung is THIN else 1, "C")
    ended = types.Array(types.uint32, 1, "C")
    if rung is F16:
        numbers = [*scales, *[types.int32] * 9]
        return types.void(A, B, maps, C, biases, table, *numbers, left, ended)
    if rung is THIN:
        return types.void(A, B, C, biases, left, ended, *scales, *[types.int32] * 6)
    numbers = [*scales, *[types.int32] * 5, *[types.int64] * 8]
    return types.void(A, B, C, biases, table, *numbers, left, ended)


@pytest.mark.parametrize("rung, capability, options, how, expected", CASES)
def test_it_compiles_and_nothing_spills(rung, capability, options, how, expected):
    kernel = rung.make(**rung.Options(**options).values, **how)
    signature = signature_of(rung, how)
    ptx = compile_kernel(kernel, capability=capability, signature=signature)
    for instruction in expected:
        assert instruction in ptx, instruction
    assert ".local" not in ptx and "call" not in ptx and ".f64" not in ptx
    code, _ = cuda.compile(
        with_numba(kernel), signature, device=False, abi="numba", cc=capability, output="ltoir",
        launch_bounds=kernel.targetoptions["launch_bounds"],
    )  # fmt: skip
    arch = "sm_" + "".join(map(str, capability))
    settings = core.LinkerOptions(
        arch=arch, link_time_optimization=True, verbose=True, ptxas_options=["-v"]
    )
    linker = core.Linker(core.ObjectCode.from_ltoir(code), options=settings)
    linker.link("cubin")
    said = linker.get_info_log()
    assert re.search(r"(\d+) bytes stack frame", said)[1] == "0", said
    assert "serialized" not in said and "setmaxnreg" not in said, said

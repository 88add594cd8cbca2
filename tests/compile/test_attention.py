"""Softmax and attention compile without a GPU: in both languages, and with nothing spilled.

The C++ of the softmax is compiled by `test_compile`.
"""

import re
from importlib.util import find_spec
from io import StringIO

import pytest

from kernels.host import cpp
from kernels.measure.ptx import with_numba
from kernels.primitives import attention_backward_wgmma as gradients
from kernels.primitives import attention_wgmma as hopper
from kernels.primitives.attention import KEYS, QUERIES, Tiles, make_attention, make_two_pass
from kernels.primitives.attention_backward import make_backward_keys, make_backward_queries
from kernels.primitives.attention_decode import make_decode
from kernels.primitives.attention_mma import THREADS as AMPERE_THREADS
from kernels.primitives.attention_mma import make_attention_mma
from kernels.primitives.softmax import VERSIONS, WARPS, Registers
from tests.compile.test_compile import functions_of

pytestmark = pytest.mark.skipif(
    not (find_spec("cuda") and find_spec("numba_cuda")),
    reason="this platform has no packages of the CUDA compilers",
)
#: Those that take most registers, for the oldest GPU that runs them and for Hopper.
TWINS = (
    (128, Tiles(), "sm_80"), (128, Tiles(), "sm_90"), (64, Tiles(), "sm_80"),
    (128, Tiles(tall=1, warps=8, keys=128), "sm_80"),
)  # fmt: skip


def name_of(kernel) -> str:
    return kernel.py_func.__name__


def ptx_of(kernel, *arguments, capability):
    from numba import cuda, types

    arguments = [types.Array(types.float32, x, "C") if isinstance(x, int) else x for x in arguments]
    ptx, _ = cuda.compile_ptx(with_numba(kernel), tuple(arguments), cc=capability)
    assert ".f64" not in ptx, "a double hides in float32 arithmetic"
    assert ".local" not in ptx, "what a thread carries is not in registers"
    assert "shfl.sync" in ptx
    return sorted(int(size) for size in re.findall(r"\.shared .*\[(\d+)\]", ptx))


def test_every_softmax_has_a_twin():
    assert functions_of("softmax") == [
        *(name_of(v.kernel) for v in VERSIONS.values()), name_of(Registers(1).kernel),
    ]  # fmt: skip


@pytest.mark.parametrize("version", VERSIONS)
def test_softmax_in_numba(version):
    assert ptx_of(VERSIONS[version].kernel, 2, 2, capability=(7, 5)) == [4 * WARPS]


@pytest.mark.parametrize("D, causal", [(40, True), (128, False)])
def test_attention_in_numba(D, causal):
    from numba import types

    found = ptx_of(make_attention(D, causal), 3, 3, 3, 3, 2, types.float32, capability=(7, 5))
    wide = 32 * -(-D // 32)
    assert found == sorted(4 * size for size in (QUERIES * D, KEYS * (D + 1), KEYS * wide))
    assert sum(found) <= 48 * 1024


@pytest.mark.parametrize("N", (40, 1024))
def test_a_short_softmax_in_numba_holds_its_row_in_registers(N):
    assert ptx_of(Registers(N).kernel, 2, 2, capability=(7, 5)) == []


def test_two_passes_and_decoding_in_numba():
    from numba import types

    ptx_of(make_two_pass(128), 3, 3, 3, 3, types.float32, capability=(7, 5))
    span, scale = types.int32, types.float32
    ptx_of(make_decode(128, 8), 2, 2, 2, 3, 3, types.int32, span, scale, capability=(7, 5))


@pytest.mark.parametrize("causal", (False, True))
def test_the_gradients_in_numba(causal):
    from numba import types

    for make, results in ((make_backward_queries, 1), (make_backward_keys, 2)):
        arrays = (3, 3, 3, 3, 2, 2, *[3] * results)
        found = ptx_of(make(128, causal), *arrays, types.float32, capability=(7, 5))
        assert sum(found) <= 48 * 1024


@pytest.mark.parametrize("D, causal, dtype", [(64, False, "bfloat16"), (128, True, "float16")])
def test_attention_for_ampere_in_numba_spills_nothing(D, causal, dtype):
    core = pytest.importorskip("cuda.core")
    from numba import cuda
    from numba.cuda import types

    array = types.Array(types.uint16 if dtype == "bfloat16" else types.float16, 2, "C")
    code, _ = cuda.compile(
        with_numba(make_attention_mma(D, causal, dtype)),
        types.void(array, array, array, array, types.int32, types.float32),
        device=False, abi="numba", cc=(8, 0), output="ltoir", launch_bounds=(AMPERE_THREADS, 1),
    )  # fmt: skip
    options = core.LinkerOptions(
        arch="sm_80", link_time_optimization=True, verbose=True, ptxas_options=["-v"]
    )
    linker = core.Linker(core.ObjectCode.from_ltoir(code), options=options)
    linker.link("cubin")
    assert "0 bytes spill stores, 0 bytes spill loads" in linker.get_info_log()


@pytest.mark.parametrize("D, tiles, arch", TWINS, ids=str)
def test_attention_in_cpp_spills_nothing(D, tiles, arch):
    # Causal masks need more registers, and the formats differ in two instructions.
    macros = tiles.macros | {"D": D, "CAUSAL": 1, "BF16": int(D == 128), "HALF_C": 1}
    log = StringIO()
    machine_code = cpp.compiled("attention", arch, log=log, **macros)
    assert b".text.attention\0" in machine_code
    assert "0 bytes spill stores, 0 bytes spill loads" in log.getvalue()
    (registers,) = re.findall(r"Used (\d+) registers", log.getvalue())
    assert int(registers) * 32 * tiles.warps <= 65536
    assert tiles.shared_bytes_of(D) <= 163 * 1024, "a block of sm_80 has that much"


@pytest.mark.parametrize("causal", (0, 1))
@pytest.mark.parametrize("D", (64, 128))
def test_attention_for_hopper_spills_nothing_and_serializes_nothing(D, causal):
    log = StringIO()
    macros = {"D": D, "CAUSAL": causal, "BF16": int(D == 128), "HALF_C": 1}
    machine_code = cpp.compiled("attention_wgmma", "sm_90a", log=log, **macros)
    assert b".text.attention_wgmma\0" in machine_code
    said = log.getvalue()
    assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in said
    assert "serialized" not in said and "warning" not in said.lower(), said
    (registers,) = re.findall(r"Used (\d+) registers", said)
    assert int(registers) * 384 <= 65536
    assert hopper.shared_bytes_of(D) <= 226 * 1024, "a block has 227 KB, and barriers take some"


@pytest.mark.parametrize(
    "D, causal, dtype, oblique, consumers",
    [
        (128, True, "bfloat16", False, 2),
        (128, True, "bfloat16", True, 1),
        (64, False, "float16", False, 1),
    ],
)
def test_attention_for_hopper_in_numba_spills_nothing(D, causal, dtype, oblique, consumers):
    from numba.cuda import types

    map_of = types.Array(types.uint8, 1, "C")
    kernel = hopper.make_attention_wgmma(D, causal, dtype, oblique=oblique, consumers=consumers)
    arguments = *[map_of] * 4, types.float32[::1], *[types.int32] * 6, types.float32
    said = linked(kernel, arguments, (128 * (1 + consumers), 3 - consumers))
    assert "setmaxnreg" not in said, said


@pytest.mark.parametrize(
    "D, causal, dtype, of_keys",
    [(64, True, "bfloat16", False), (64, False, "float16", True), (128, True, "bfloat16", True)],
)
def test_its_gradients_spill_nothing(D, causal, dtype, of_keys):
    from numba.cuda import types

    of_16_bits = types.uint16 if dtype == "bfloat16" else types.float16
    arguments = (
        *[types.Array(types.uint8, 1, "C")] * 4, *[of_16_bits[:, :, ::1]] * 2,
        *[types.float32[::1]] * 2, *[of_16_bits[:, ::1]] * 2, *[types.int32] * 3, types.float32,
    )  # fmt: skip
    kernel = gradients.make_gradients_wgmma(D, causal, dtype, of_keys)
    linked(kernel, arguments, (gradients.THREADS, gradients.blocks_of(D, of_keys)))


def linked(kernel, arguments, launch_bounds) -> str:
    """What the linker says of a kernel for Hopper, which spills nothing.

    Linked as numba-cuda does it on a GPU: the linker sees the whole program.
    """
    core = pytest.importorskip("cuda.core")
    from numba import cuda
    from numba.cuda import types

    code, _ = cuda.compile(
        with_numba(kernel), types.void(*arguments), device=False, abi="numba", cc=(9, 0, "a"),
        output="ltoir", launch_bounds=launch_bounds,
    )  # fmt: skip
    options = core.LinkerOptions(
        arch="sm_90a", link_time_optimization=True, verbose=True, ptxas_options=["-v"]
    )
    linker = core.Linker(core.ObjectCode.from_ltoir(code), options=options)
    linker.link("cubin")
    said = linker.get_info_log()
    assert "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads" in said
    assert "serialized" not in said, said
    return said

"""Every CUDA C++ file and every Numba kernel compiles for three generations of GPU, without one.

The compilers come as packages: NVRTC through cuda-core, NVVM through numba-cuda.
"""

import re
from importlib.util import find_spec

import pytest

from kernels import LADDER
from kernels.host import cpp
from kernels.measure.ptx import compile_kernel
from kernels.patterns.vector_add import vector_add, vector_add_grid_stride

pytestmark = pytest.mark.skipif(
    not (find_spec("cuda") and find_spec("numba_cuda")),
    reason="this platform has no packages of the CUDA compilers",
)

CAPABILITIES = ((7, 5), (8, 0), (9, 0))

#: The rungs in float32 that have a counterpart; test_tensor_core.py compiles the others.
RUNGS = {
    name: rung
    for name, rung in LADDER.items()
    if "cpp" in rung.engines and rung.dtypes == ("float32",)
}
#: What is no rung is compiled as it is; test_attention.py compiles what is for tensor cores.
ATTENTION = {"attention", "attention_wgmma"}
OTHERS = sorted({path.stem for path in cpp.SOURCES.values()} - LADDER.keys() - ATTENTION)
TWINS = [
    *((name, {}) for name in OTHERS),
    *(
        (name, macros)
        for name, rung in RUNGS.items()
        for macros in {
            str(macros): macros
            for options in rung.chosen("cpp")
            for wide in ((1, 0) if rung.wide else (None,))
            for macros in [rung.Options(**options).macros | ({"WIDE": wide} if rung.wide else {})]
        }.values()
    ),
]

KERNELS = {
    "vector_add": (vector_add, 1),
    "vector_add_grid_stride": (vector_add_grid_stride, 1),
    "swapped": (LADDER["swapped"].kernel(), 2),
    "naive": (LADDER["naive"].kernel(), 2),
    **{
        f"tiled{tile}": (LADDER["tiled"].kernel(tile=tile), 2)
        for tile in LADDER["tiled"].options["tile"]
    },
}


def functions_of(stem: str) -> list[str]:
    bounds = r"(?:__launch_bounds__\(.*\)\s)?"
    return re.findall(rf'extern "C" __global__ void {bounds}(\w+)\(', cpp.source(stem))


@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: "sm_{}{}".format(*c))
@pytest.mark.parametrize("stem, macros", TWINS, ids=str)
def test_cpp(stem, macros, capability):
    machine_code = cpp.compiled(stem, "sm_{}{}".format(*capability), **macros)
    assert machine_code.startswith(b"\x7fELF")
    for function in functions_of(stem):
        assert f".text.{function}\0".encode() in machine_code


@pytest.mark.parametrize("layout", ("::1", ":"))
@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: "sm_{}{}".format(*c))
@pytest.mark.parametrize("name", KERNELS)
def test_numba(name, capability, layout):
    kernel, ndim = KERNELS[name]
    array = "float32[{}]".format(", ".join([":"] * (ndim - 1) + [layout]))
    ptx = compile_kernel(
        kernel, capability=capability, signature=f"void({array}, {array}, {array})"
    )
    assert ".target sm_{}{}".format(*capability) in ptx
    assert ".f64" not in ptx, "a double hides in float32 arithmetic"
    assert ".local" not in ptx, "an array spills from registers"
    if name.startswith("tiled"):
        tile = int(name.removeprefix("tiled"))
        shared = re.findall(r"\.shared .*\[(\d+)\]", ptx)
        assert [int(size) for size in shared] == [4 * tile * tile] * 2
        assert ptx.count("bar.sync") % 2 == 0 and "bar.sync" in ptx

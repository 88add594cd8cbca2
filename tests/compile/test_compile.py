"""Every CUDA C++ file and every Numba kernel compiles for three generations of GPU, without one.

The compilers come as packages: NVRTC through cuda-core, NVVM through numba-cuda.
"""

import re
from importlib.util import find_spec

import pytest

from kernels import LADDER
from kernels.host import cpp
from kernels.measure.ptx import with_numba
from kernels.patterns.vector_add import vector_add, vector_add_grid_stride

pytestmark = pytest.mark.skipif(
    not (find_spec("cuda") and find_spec("numba_cuda")),
    reason="this platform has no packages of the CUDA compilers",
)

CAPABILITIES = ((7, 5), (8, 0), (9, 0))

#: Macros that each C++ file is compiled with; one that needs none is compiled as it is.
MACROS = {"tiled": [{"TILE": tile} for tile in LADDER["tiled"].options["tile"]]}
#: Files with GPUs and macros of their own: test_tensor_core.py compiles them.
TENSOR_CORES = {"emulated", "mma", "mma_sm75", "persistent", "specialized", "stream_k", "wgmma"}
TWINS = [
    (path.stem, macros)
    for path in cpp.SOURCES.values()
    if path.stem not in TENSOR_CORES
    for macros in MACROS.get(path.stem, [{}])
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


def test_there_is_a_twin_for_every_kernel():
    functions = {kernel.py_func.__name__ for kernel, _ in KERNELS.values()}
    in_cpp = {name for stem, _ in TWINS for name in functions_of(stem)}
    assert functions <= in_cpp


def functions_of(stem: str) -> list[str]:
    bounds = r"(?:__launch_bounds__\(.*\)\s)?"
    return re.findall(rf'extern "C" __global__ void {bounds}(\w+)\(', cpp.source(stem))


@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: "sm_{}{}".format(*c))
@pytest.mark.parametrize("stem, macros", TWINS, ids=str)
def test_cpp(stem, macros, capability):
    from cuda.core import Program, ProgramOptions

    options = ProgramOptions(
        arch="sm_{}{}".format(*capability),
        std="c++17",
        define_macro=[f"{name}={value}" for name, value in macros.items()] or None,
    )
    machine_code = Program(cpp.source(stem), "c++", options).compile("cubin").code
    assert machine_code.startswith(b"\x7fELF")
    for function in functions_of(stem):
        assert f".text.{function}\0".encode() in machine_code


@pytest.mark.parametrize("layout", ("C", "A"))
@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: "sm_{}{}".format(*c))
@pytest.mark.parametrize("name", KERNELS)
def test_numba(name, capability, layout):
    from numba import cuda, float32, types

    kernel, ndim = KERNELS[name]
    array = types.Array(float32, ndim, layout)
    ptx, result = cuda.compile_ptx(with_numba(kernel), (array,) * 3, cc=capability)
    assert result == types.void
    assert ".target sm_{}{}".format(*capability) in ptx
    assert ".f64" not in ptx, "a double hides in float32 arithmetic"
    assert ".local" not in ptx, "an array spills from registers"
    if name.startswith("tiled"):
        tile = int(name.removeprefix("tiled"))
        shared = re.findall(r"\.shared .*\[(\d+)\]", ptx)
        assert [int(size) for size in shared] == [4 * tile * tile] * 2
        assert ptx.count("bar.sync") % 2 == 0 and "bar.sync" in ptx

"""The register-tiled kernels in Numba, compiled for three generations of GPU without one.

Their PTX holds what it should: 16-byte accesses, loops written out, no array left in local memory.
"""

from importlib.util import find_spec
from types import FunctionType

import pytest

from kernels import LADDER
from tests.rungs import SETTINGS, SMALL, label

pytestmark = pytest.mark.skipif(
    not (find_spec("cuda") and find_spec("numba_cuda")),
    reason="this platform has no packages of the CUDA compilers",
)

LARGE = [setting for setting in SETTINGS if setting[0] not in SMALL]
WIDE = ("vectorized", "pipelined", "warp_tiled", "swizzled")


def with_numba(kernel) -> FunctionType:
    """Return a kernel's function with the names of numba-cuda, whichever engine runs here."""
    from numba import cuda, float32, uint32

    from kernels.lab import vector_numba

    function = kernel.py_func
    names = function.__globals__ | {"cuda": cuda, "float32": float32, "uint32": uint32}
    names |= {name: getattr(vector_numba, name) for name in vector_numba.__all__}
    return FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )


@pytest.mark.parametrize(
    "capability, layout", [((7, 5), "C"), ((8, 0), "A"), ((9, 0), "C")], ids=str
)
@pytest.mark.parametrize("setting", LARGE, ids=label)
def test_numba(setting, capability, layout):
    from numba import cuda, float32, types

    name, options = setting
    options = LADDER[name].defaults | options
    kernel = LADDER[name].kernel(**options)
    array = types.Array(float32, 2, layout)
    ptx, result = cuda.compile_ptx(with_numba(kernel), (array,) * 3, cc=capability)
    assert result == types.void
    assert ".target sm_{}{}".format(*capability) in ptx
    assert ".f64" not in ptx, "a double hides in float32 arithmetic"
    assert ".local" not in ptx, "an array spills from registers"
    results = options["TM"] * options.get("TN", 1)
    assert ptx.count("fma.rn.f32") == options["BK"] * results, "the loop over k is not written out"
    for access in ("ld.global.v4", "st.global.v4", "ld.shared.v4", "st.shared.v4"):
        if name in WIDE:
            assert access in ptx
    assert ptx.count("call") == 0, "a helper is called, not inlined"

"""The register-tiled kernels in Numba, compiled for three generations of GPU without one.

Their PTX holds what it should: 16-byte accesses, loops written out, no array left in local memory.
"""

import re
from importlib.util import find_spec

import pytest

from kernels import LADDER
from kernels.measure.ptx import with_numba
from tests.rungs.cases import SETTINGS, SMALL, label

pytestmark = pytest.mark.skipif(
    not (find_spec("cuda") and find_spec("numba_cuda")),
    reason="this platform has no packages of the CUDA compilers",
)

LARGE = [setting for setting in SETTINGS if setting[0] not in SMALL]
WIDE = ("vectorized", "pipelined", "warp_tiled", "swizzled")


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
    # Older compilers do not work out that an array of any layout lies in global memory.
    for access in (
        r"ld(\.global)?\.v4",
        r"st(\.global)?\.v4",
        r"ld\.shared\.v4",
        r"st\.shared\.v4",
    ):
        if name in WIDE:
            assert re.search(rf"\b{access}\.", ptx), access
    assert ptx.count("call") == 0, "a helper is called, not inlined"

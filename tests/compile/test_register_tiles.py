"""The register-tiled kernels in Numba, compiled for three generations of GPU without one.

Their PTX holds what it should: 16-byte accesses, loops written out, no array left in local memory.
"""

import re
from importlib.util import find_spec

import pytest

from kernels import LADDER
from kernels.measure.ptx import compile_kernel
from tests.rungs.cases import SETTINGS, label

pytestmark = pytest.mark.skipif(
    not (find_spec("cuda") and find_spec("numba_cuda")),
    reason="this platform has no packages of the CUDA compilers",
)

LARGE = [setting for setting in SETTINGS if "TM" in LADDER[setting[0]].defaults]
WIDE = [name for name, rung in LADDER.items() if rung.wide]


#: Every setting with any layout, and in turn for the oldest and the newest GPU.
TARGETS = [((8, 0), ":"), ((7, 5), "::1"), ((9, 0), "::1")]
CASES = [
    (setting, target)
    for number, setting in enumerate(LARGE)
    for target in (TARGETS[0], TARGETS[1 + number % 2])
]


@pytest.mark.parametrize(
    "setting, target", CASES, ids=lambda part: label(part) if part[0] in LADDER else str(part)
)
def test_numba(setting, target):
    capability, layout = target
    name, options = setting
    options = LADDER[name].defaults | options
    kernel = LADDER[name].kernel(**options)
    array = f"float32[:, {layout}]"
    signature = f"void({array}, {array}, {array})"
    if capability < LADDER[name].needs:
        with pytest.raises(ValueError, match="needs sm_80 and this GPU is sm_75: use a rung"):
            compile_kernel(kernel, capability=capability, signature=signature)
        return
    ptx = compile_kernel(kernel, capability=capability, signature=signature)
    assert ".target sm_{}{}".format(*capability) in ptx
    assert ".f64" not in ptx, "a double hides in float32 arithmetic"
    assert ".local" not in ptx, "an array spills from registers"
    results = options["TM"] * options.get("TN", 1)
    assert ptx.count("fma.rn.f32") == options["BK"] * results, "the loop over k is not written out"
    # Older compilers do not work out that an array of any layout lies in global memory.
    to_shared = (
        [r"cp\.async\.cg\.shared\.global"]
        if name == "async_tiled"
        else [r"ld(\.global)?\.v4", r"st\.shared\.v4"]
    )
    for access in (*to_shared, r"ld\.shared\.v4", r"st(\.global)?\.v4"):
        if name in WIDE:
            assert re.search(rf"\b{access}\b", ptx), access
    assert ptx.count("call") == 0, "a helper is called, not inlined"

"""Other languages' products are right: every version of cuTile's that is compiled for this GPU."""

import pytest

from kernels.host import half
from kernels.measure import peer_cute, peer_cutile
from kernels.measure.bench.case import Case

pytestmark = pytest.mark.gpu

#: Shapes that tiles divide, and shapes that no tile and no 16-byte chunk divides.
SHAPES = [(512, 512, 512), (136, 264, 72), (129, 257, 65), (1, 300, 1), (1000, 8, 4096)]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_cutile_is_right_with_every_tile(dtype):
    files = sorted(peer_cutile.folder().glob(f"{dtype}-*.cubin"))
    if not files:
        pytest.skip(f"no product of {dtype} in cuTile is compiled for {peer_cutile.folder().name}")
    for shape in SHAPES:
        case = Case(*shape, dtype)
        matrices = case.A, case.B, case.C
        assert half.dtype_of(case.A) == dtype
        aligned = all(map(peer_cutile.is_aligned, matrices))
        for file in files:
            if aligned or file.stem.endswith("any"):
                launch = peer_cutile.prepared(file, *matrices)
                assert case.check(launch)["correct"], f"{file.stem}: {shape}"


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("shape", [(128, 256, 64), (384, 512, 64), (2304, 768, 1088)])
def test_cute_is_right_in_whole_tiles(dtype, shape):
    case = Case(*shape, dtype)
    if peer_cutile.folder().name != "sm_90" or not peer_cute.fits(case.A, case.B):
        pytest.skip("no product in CuTe DSL is compiled for this GPU")
    assert case.check(peer_cute.launch(case.A, case.B, case.C))["correct"]

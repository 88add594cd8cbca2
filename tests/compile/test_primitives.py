"""The kernels of other computations compile for three generations of GPU, without one.

Their C++ files are compiled by `test_compile`, as all are.
"""

import re
from importlib.util import find_spec
from io import StringIO

import pytest

from kernels.host import cpp
from kernels.measure.ptx import with_numba
from kernels.primitives import matvec, matvec_int4, reduction, scan
from tests.compile.test_compile import CAPABILITIES, functions_of

pytestmark = pytest.mark.skipif(
    not (find_spec("cuda") and find_spec("numba_cuda")),
    reason="this platform has no packages of the CUDA compilers",
)

#: By kernel, the dimensions of each of its arrays.
KERNELS = {
    reduction.sum_interleaved: (1, 1),
    reduction.sum_tree: (1, 1),
    reduction.sum_several: (1, 1),
    reduction.sum_shuffled: (1, 1),
    reduction.sum_vectorized: (1, 2, 1),
    scan.scan_shared: (1, 1, 1),
    scan.scan_shuffled: (1, 1, 1),
    scan.sum_tiles: (2, 1),
    scan.scan_vectorized: (2, 1, 2),
    matvec.matvec_per_thread: (2, 1, 1),
    matvec.matvec_per_warp: (2, 1, 1),
    matvec.matvec_vectorized: (2, 2, 1),
    matvec.Thin(1).kernel: (2, 2, 2),
    matvec.Thin(1, staged=True).kernel: (2, 2, 2),
}
#: Kernels that ask for 16 bytes in one instruction.
WIDE = (
    "sum_vectorized",
    "sum_tiles",
    "scan_vectorized",
    "matvec_vectorized",
    "matvec_thin",
    "matvec_staged",
)
#: Kernels whose threads tell each other nothing, or by shared memory.
UNSHUFFLED = ("sum_interleaved", "sum_tree", "scan_shared", "matvec_per_thread")
#: How the thin product is compiled: for M vectors, with and without loads of 16 bytes.
THIN = [matvec.Thin(M) for M in (3, 16)]
STAGED = [matvec.Thin(M, staged=True) for M in (3, 16)]


def name_of(kernel) -> str:
    return kernel.py_func.__name__


def test_there_is_a_twin_for_every_kernel():
    twins = [name for stem in ("reduction", "scan", "matvec") for name in functions_of(stem)]
    assert sorted(twins) == sorted([*map(name_of, KERNELS), "scan_lookback"])


def compiled(kernel, dimensions, capability) -> str:
    """The PTX of a Numba kernel, which must be float32's throughout, and in registers."""
    from numba import cuda, types

    arrays = tuple(types.Array(types.float32, ndim, "C") for ndim in dimensions)
    ptx, result = cuda.compile_ptx(with_numba(kernel), arrays, cc=capability)
    assert result == types.void
    assert ".f64" not in ptx, "a double hides in float32 arithmetic"
    assert ".local" not in ptx, "what a thread holds is not in registers"
    return ptx


@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: "sm_{}{}".format(*c))
@pytest.mark.parametrize("kernel", KERNELS, ids=name_of)
def test_numba(kernel, capability):
    ptx = compiled(kernel, KERNELS[kernel], capability)
    assert ("shfl.sync" in ptx) == (name_of(kernel) not in UNSHUFFLED)
    assert ("ld.global.v4.f32" in ptx) == (name_of(kernel) in WIDE)


@pytest.mark.parametrize("one", THIN, ids=lambda one: f"{one.M} vectors")
def test_the_thin_product_in_numba(one):
    ptx = compiled(one.kernel, (2, 2, 2), CAPABILITIES[-1])
    # Each lane loads four weights of each row, and four numbers of each vector.
    assert ptx.count("ld.global.v4.f32") >= one.M + one.rows_of_warp


@pytest.mark.parametrize("one", STAGED, ids=lambda one: f"{one.M} vectors")
def test_the_staged_product_in_numba(one):
    ptx = compiled(one.kernel, (2, 2, 2), CAPABILITIES[-1])
    assert ptx.count("ld.global.v4.f32") >= one.rows_of_warp


def test_the_scan_with_look_back_in_numba():
    from numba import cuda, types

    floats, matrix = (types.Array(types.float32, ndim, "C") for ndim in (1, 2))
    states = types.Array(types.int32, 1, "C")
    ptx, _ = cuda.compile_ptx(
        with_numba(scan.scan_lookback), (matrix, floats, floats, states, matrix),
        cc=CAPABILITIES[0],
    )  # fmt: skip
    assert "ld.acquire.gpu" in ptx and ("membar" in ptx or "fence." in ptx)
    assert ".f64" not in ptx and ".local" not in ptx


@pytest.mark.parametrize("rows", (1, 4))
def test_products_of_4_bit_weights_in_numba(rows):
    from numba import cuda, types

    floats, matrix = (types.Array(types.float32, ndim, "C") for ndim in (1, 2))
    packed = types.Array(types.uint32, 2, "C")
    ptx, _ = cuda.compile_ptx(
        with_numba(matvec_int4.make_int4(rows)), (packed, matrix, matrix, floats),
        cc=CAPABILITIES[0],
    )  # fmt: skip
    assert ".f64" not in ptx and ".local" not in ptx


@pytest.mark.parametrize("wide", (0, 1))
@pytest.mark.parametrize("one", THIN, ids=lambda one: f"{one.M} vectors")
@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: "sm_{}{}".format(*c))
def test_the_thin_product_in_cpp(one, wide, capability):
    log = StringIO()
    cpp.compiled(
        "matvec", "sm_{}{}".format(*capability), log, VECTORS=one.M, ROWS=one.rows_of_warp,
        WIDE=wide,
    )  # fmt: skip
    spills = re.findall(r"(\d+) bytes spill stores", log.getvalue())
    assert spills and set(spills) == {"0"}


@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: "sm_{}{}".format(*c))
@pytest.mark.parametrize("stem", ("scan", "matvec"))
def test_twins_without_loads_of_16_bytes(stem, capability):
    assert cpp.compiled(stem, "sm_{}{}".format(*capability), WIDE=0).startswith(b"\x7fELF")

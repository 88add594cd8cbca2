"""The kernels of the chapter on memory access compile too, in both languages, without a GPU.

Their C++ files are compiled by `test_compile`, as all are.
"""

import re
from importlib.util import find_spec

import pytest

from kernels.measure.ptx import with_numba
from kernels.patterns import banks, copies
from kernels.patterns.transpose import LARGE, LARGE_PADDED, PADDED, TILE, VERSIONS
from tests.compile.test_compile import CAPABILITIES, functions_of

pytestmark = pytest.mark.skipif(
    not (find_spec("cuda") and find_spec("numba_cuda")),
    reason="this platform has no packages of the CUDA compilers",
)

#: The arguments of each kernel: arrays by their dimensions, scalars by their type.
KERNELS = {
    copies.plain_copy: (1, 1),
    copies.shifted: (1, 1, "int32"),
    copies.strided_load: (1, 1, "int32"),
    copies.strided_store: (1, 1, "int32"),
    copies.push_records: (2, "float32", "int32"),
    copies.push_fields: (2, "float32", "int32"),
    copies.sum_rows: (2, 1),
    copies.sum_columns: (2, 1),
    banks.strided_reads: (1, "int32", "int32"),
    **{version.kernel: (2, 2) for version in VERSIONS.values()},
}
SHARED = {
    "strided_reads": banks.WORDS,
    **{f"transpose_{name}": TILE * PADDED for name in ("padded", "four")},
    **{f"transpose_{name}": TILE * TILE for name in ("tiled", "swizzled")},
    **{f"transpose_{name}": LARGE * LARGE_PADDED for name in ("large", "ordered")},
}


def name_of(kernel) -> str:
    return kernel.py_func.__name__


def test_there_is_a_twin_for_every_kernel():
    twins = [name for stem in ("copies", "banks", "transpose") for name in functions_of(stem)]
    assert sorted(twins) == sorted(map(name_of, KERNELS))


@pytest.mark.parametrize("capability", CAPABILITIES, ids=lambda c: "sm_{}{}".format(*c))
@pytest.mark.parametrize("kernel", KERNELS, ids=name_of)
def test_numba(kernel, capability):
    from numba import cuda, types

    arguments = tuple(
        types.Array(types.float32, one, "C") if isinstance(one, int) else getattr(types, one)
        for one in KERNELS[kernel]
    )
    ptx, result = cuda.compile_ptx(with_numba(kernel), arguments, cc=capability)
    assert result == types.void
    assert ".f64" not in ptx, "a double hides in float32 arithmetic"
    assert ".local" not in ptx, "what a thread carries is not in registers"
    shared = re.findall(r"\.shared .*\[(\d+)\]", ptx)
    assert [int(size) for size in shared] == [
        4 * SHARED[n] for n in [name_of(kernel)] if n in SHARED
    ]
    if name_of(kernel) == "strided_reads":
        assert len(re.findall(r"ld\.shared\.f32", ptx)) == banks.READS, "a read was left out"

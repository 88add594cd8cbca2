"""wgmma in every number format, A from shared memory and from registers, B as it lies or not."""

import numpy as np
import pytest

from kernels.host import e4m3
from microscope import trace
from microscope.ptx import TensorMap
from microscope.ptx.formats import E4M3, floats
from tests.microscope.ptx.hopper_kernels import one_product
from tests.microscope.ptx.products import bfloat16, matrices

BITS = {
    "bfloat16": bfloat16,
    "float16": lambda a: a.astype(np.float16),
    "tf32": lambda a: a,
    "e4m3": e4m3.rounded,
}
MAPPED = {"tf32": "float32", "e4m3": "uint8"}
CASES = [
    (64, "bfloat16", "shared", True),
    (192, "float16", "shared", True),
    (128, "bfloat16", "registers", True),
    (24, "float16", "shared", False),
    (64, "bfloat16", "registers", False),
    (40, "tf32", "shared", False),
    (96, "e4m3", "shared", False),
    (32, "e4m3", "registers", False),
]


def case(columns, dtype, a_in, transposed_B):
    """The kernel of one product, its launch, and what C should be."""
    kernel = one_product(columns, dtype, a_in, transposed_B)
    K = 128 // kernel.size
    A, B, C = matrices(64, columns, K)
    bits, name = BITS[dtype], MAPPED.get(dtype, dtype)
    map_A = TensorMap(bits(A), (64, K), name)
    if transposed_B:
        map_B = TensorMap(bits(B), (64, 64), name)
    else:
        map_B = TensorMap(bits(np.ascontiguousarray(B.T)), (columns, K), name)
    return kernel, (1, 128, map_A, map_B, C), A @ B


@pytest.mark.parametrize(("columns", "dtype", "a_in", "transposed_B"), CASES)
def test_one_product(columns, dtype, a_in, transposed_B):
    kernel, launch, expected = case(columns, dtype, a_in, transposed_B)
    seen = trace(kernel, *launch, shared_bytes=kernel.shared_bytes)
    assert not seen.problems
    np.testing.assert_array_equal(seen.outputs["C"], expected)
    products = expected.size * 128 // kernel.size
    assert seen.asynchronous[f"wgmma {dtype}"] == products


def test_every_code_of_e4m3_is_the_number_that_the_host_says():
    np.testing.assert_array_equal(E4M3, e4m3.floats(np.arange(256, dtype=np.uint8)))


def test_tf32_leaves_the_last_bits_of_a_float32_out():
    given = np.array([1 + 2**-11, -(1 + 2**-10), 3], np.float32)
    np.testing.assert_array_equal(
        floats(given.view(np.uint8), "tf32"), np.array([1, -(1 + 2**-10), 3], np.float32)
    )

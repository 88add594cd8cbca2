"""Kernels of asynchronous instructions run to the right numbers, whenever things happen."""

import numpy as np
import pytest

from microscope import trace
from tests.microscope.ptx.hopper_kernels import copied, specialized
from tests.microscope.ptx.products import bfloat16, matrices, specialized_case

MOMENTS = [
    ("lockstep", "latest"),
    ("warps", "earliest"),
    ("warps-reversed", "mixed"),
]


@pytest.mark.parametrize(("schedule", "landing"), MOMENTS)
def test_a_specialised_product_of_one_block(schedule, landing):
    kernel = specialized()
    (*launch,), expected = specialized_case(128, 256, 512)
    seen = trace(
        kernel, *launch, shared_bytes=kernel.shared_bytes, schedule=schedule, landing=landing
    )
    assert not seen.problems
    np.testing.assert_array_equal(seen.outputs["C"], expected)


def test_sizes_that_the_tiles_do_not_divide():
    kernel = specialized(64, 64, 2)
    (grid, block, *arguments), expected = specialized_case(100, 136, 200, 64, 64)
    kernel[grid, block, 0, kernel.shared_bytes](*arguments)
    np.testing.assert_array_equal(arguments[2], expected)


def test_what_a_trace_counts():
    kernel = specialized(64, 64, 2)
    launch, _ = specialized_case(64, 64, 192, 64, 64)
    seen = trace(kernel, *launch, shared_bytes=kernel.shared_bytes)
    assert seen.asynchronous == {
        "tma_load_bytes": 3 * 2 * 64 * 128,
        "tma_delivered_bytes": 3 * 2 * 64 * 128,
        "wgmma bfloat16": 64 * 64 * 192,
    }
    assert seen.work.flops["tensor bfloat16"] == 2 * 64 * 64 * 192


@pytest.mark.parametrize(("schedule", "landing"), MOMENTS)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_copies_of_16_bytes_and_products_of_a_warp(dtype, schedule, landing):
    A, B, C = matrices(40, 24, 80)
    bits = bfloat16 if dtype == "bfloat16" else lambda a: a.astype(np.float16)
    kernel = copied(dtype=dtype)
    launch = (3, 3), 32, bits(A), bits(np.ascontiguousarray(B.T)), C, 80
    seen = trace(
        kernel, *launch, shared_bytes=kernel.shared_bytes, schedule=schedule, landing=landing
    )
    assert not seen.problems
    np.testing.assert_array_equal(seen.outputs["C"], A @ B)

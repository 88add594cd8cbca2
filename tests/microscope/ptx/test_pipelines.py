"""Random pipelines are right and silent, whoever runs first and whenever copies land."""

import numpy as np
import pytest

from microscope import trace
from tests.microscope.ptx.pipelines import pipelines

MOMENTS = [("lockstep", "latest"), ("warps", "mixed"), ("warps-reversed", "earliest")]
SOME = pipelines(15, small=True)


@pytest.mark.parametrize("number", range(len(SOME)))
def test_a_random_pipeline(number):
    one = SOME[number]
    schedule, landing = MOMENTS[number // 3 % 3]
    kernel = one.made
    launch, expected = one.case()
    seen = trace(
        kernel, *launch, shared_bytes=kernel.shared_bytes, schedule=schedule, landing=landing
    )
    assert not seen.problems
    C = "map_C" if one.kernel == "persistent" else "C"
    np.testing.assert_array_equal(seen.outputs[C], expected)

"""On a GPU machine: the interpreter beside the GPU itself, kernel by kernel."""

import numpy as np
import pytest

from kernels.backend import on_gpu
from kernels.lab import trace
from tests.microscope import counters

pytestmark = pytest.mark.gpu


@pytest.mark.skipif(not on_gpu, reason="needs an NVIDIA GPU")
def test_outputs_of_all_cases():
    """Every case gives the same bytes on the GPU and in the microscope."""
    different = []
    for case in counters.all_cases():
        arrays = [a for a in counters.launch(case) if isinstance(a, np.ndarray)]
        seen = trace(
            case.kernel, case.grid, case.block, *case.make(), shared_bytes=case.shared_bytes
        )
        same = all(
            mine.tobytes() == theirs.tobytes()
            for mine, theirs in zip(seen.outputs.values(), arrays, strict=True)
        )
        if not same or seen.problems:
            different.append(case.name)
    assert not different

"""Who measures, with what."""

import pytest

from kernels.backend import on_gpu
from kernels.measure.bench import provenance


@pytest.mark.skipif(on_gpu, reason="there is a GPU")
def test_without_a_gpu_there_is_nothing_to_record():
    with pytest.raises(RuntimeError, match="recording needs an NVIDIA GPU, but"):
        provenance.provenance()

"""The product in Triton compiles without a GPU, where Triton is installed."""

import json
from importlib.metadata import version

import pytest

pytest.importorskip("triton", reason="triton is not installed here")

from kernels.measure import triton_product  # noqa: E402 (it imports triton)
from kernels.measure.described import FILE, described  # noqa: E402


@pytest.mark.parametrize("gpu", triton_product.GPUS)
def test_what_is_told_of_a_gpu_is_what_the_compiler_makes(gpu):
    stored = json.loads(FILE.read_text(encoding="utf-8"))["Triton"]
    if stored["made_by"]["triton"] != version("triton"):
        pytest.skip("another version may make something else")
    tiles = triton_product.SIXTEEN[0]
    made = described(*triton_product.compiled(tiles, triton_product.GPUS[gpu]))
    assert made == stored["gpus"][gpu]

"""The small GPT learns and writes the same with either library's products."""

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed")

from kernels import on_gpu  # noqa: E402
from kernels.frameworks import gpt  # noqa: E402

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


@pytest.mark.parametrize("device", DEVICES)
def test_both_ways_learn_and_write_the_same(device):
    if device == "cpu" and on_gpu:
        pytest.skip("on a GPU the Numba kernels are compiled: nothing runs on the CPU")
    sizes = gpt.Sizes(layers=1, heads=2, width=128, words=128, context=16, batch=2)
    tokens = 5 * (device == "cuda")  # on a CPU, as many queries as keys
    theirs, ours = gpt.measured(sizes, steps=4, tokens=tokens, device=device).values()
    assert theirs.losses == pytest.approx(ours.losses, rel=1e-3)
    assert len(set(theirs.losses)) == 4 and len(ours.words) == tokens
    # Two tables of words, one of places; 12 squares and 4 rows of a width in the layer; a norm.
    assert ours.parameters == 128 * (2 * 128 + 16 + 12 * 128 + 4 + 2)
    assert len(ours.recorded) == (4 if device == "cuda" else 0)


def test_a_kernel_is_known_by_its_name():
    kinds = {name: kind for kind, words in gpt.KINDS.items() for name in words}
    assert kinds["sdpa"] == "attention" and kinds["gemm"] == kinds["nvjet"] == "products"

"""What PyTorch is asked for a product of e4m3, with a stand-in for it."""

import importlib
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from kernels.host import half
from kernels.measure import oracle, peers


class Tensor:
    """Stands for a tensor on the memory of a NumPy array."""

    device = "cuda"

    def __init__(self, array, dtype):
        self.array, self.dtype = array, dtype

    def view(self, dtype):
        return Tensor(self.array, dtype)

    def t(self):
        return Tensor(self.array.T, self.dtype)


class Torch(ModuleType):
    """Stands for PyTorch: it multiplies in NumPy, and notes how its sums are to be kept."""

    float8_e4m3fn, bfloat16 = "float8_e4m3fn", "bfloat16"

    def __init__(self):
        super().__init__("torch")
        self.fast = []

    def as_tensor(self, array, device):
        return Tensor(array, str(array.dtype))

    def ones(self, shape, device):
        return 1.0

    def _scaled_mm(self, A, B, scale_a, scale_b, out_dtype, use_fast_accum, out):
        assert A.dtype == B.dtype == "float8_e4m3fn" and out_dtype == out.dtype
        assert A.array.flags.c_contiguous and B.array.flags.f_contiguous
        self.fast.append(use_fast_accum)
        product = scale_a * scale_b * (half.floats(A.array) @ half.floats(B.array))
        if out.dtype == "bfloat16":
            product = half.bfloat16(product).view(np.int16)
        out.array[...] = product


@pytest.fixture
def torch(monkeypatch):
    stand_in = Torch()
    monkeypatch.setitem(sys.modules, "torch", stand_in)
    monkeypatch.delitem(sys.modules, "kernels.measure.peer_torch", raising=False)
    module = importlib.import_module("kernels.measure.peer_torch")
    monkeypatch.setitem(sys.modules, "kernels.measure.peer_torch", module)
    monkeypatch.setattr(peers, "find_spec", lambda name: name == "torch" or None)
    return stand_in


@pytest.mark.parametrize("dtype", ("float32", "float16", "bfloat16"))
def test_the_product_is_left_in_c(torch, dtype):
    A, B = oracle.operands(33, 48, 64, dtype="e4m3")
    C = oracle.poisoned(33, 48, dtype)
    peers.cublas(A, B, C)()
    exact = half.floats(A) @ half.floats(B)
    assert np.array_equal(half.floats(C), half.floats(half.cast(exact, dtype)))
    assert set(torch.fast) == {True}


def test_the_library_is_asked_for_promoted_sums_too(torch):
    A, B = oracle.operands(16, 16, 16, dtype="e4m3")
    ((name, prepare),) = peers.others(A, B, oracle.poisoned(16, 16), half.E4M3)
    prepare()()
    assert name == "cublaslt_promoted" and name in peers.TITLES and set(torch.fast) == {False}


def test_without_pytorch_there_is_a_way_out(monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    array = SimpleNamespace(dtype=np.dtype(np.uint8))
    with pytest.raises(RuntimeError, match="pip install torch$"):
        peers.cublas(array, array, array)

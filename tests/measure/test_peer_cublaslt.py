"""What cuBLASLt is asked, with a stand-in for its bindings: the GPU's answer is no part of this."""

import ctypes
import importlib
import sys
from enum import IntEnum
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from kernels.host import half
from kernels.measure import peers

ALGORITHMS = 5


class Library(ModuleType):
    """Stands for ``nvmath.bindings.cublasLt``: it names some algorithms and notes what is asked."""

    class MatmulPreferenceAttribute(IntEnum):
        MAX_WORKSPACE_BYTES = 1

    class MatmulDescAttribute(IntEnum):
        TRANSA = 3
        FAST_ACCUM = 8

    class cuBLASLtError(Exception):  # noqa: N801 (its name there)
        pass

    matmul_heuristic_result_dtype = np.dtype("V80")

    def __init__(self, named):
        super().__init__("cublasLt")
        self.named, self.layouts, self.launched, self.described = named, [], [], {}

    def create(self):
        return 7

    def get_version(self):
        return 130500

    def matmul_desc_create(self, sums, scale):
        self.sums = sums
        return 1

    def matmul_desc_set_attribute(self, product, attribute, buffer, size):
        self.described[attribute.name] = ctypes.string_at(buffer, size)

    def matrix_layout_create(self, kind, rows, cols, pitch):
        self.layouts.append((kind, rows, cols, pitch))
        return len(self.layouts) - 1

    def matmul_preference_create(self):
        return 2

    def matmul_preference_set_attribute(self, preference, attribute, buffer, size):
        self.workspace_given_in = size

    def matmul_preference_destroy(self, preference):
        self.destroyed = preference

    def MatmulHeuristicResult(self, count):  # noqa: N802 (its name there)
        return SimpleNamespace(ptr=1000)

    def matmul_algo_get_heuristic(self, *asked):
        if not self.named:
            raise self.cuBLASLtError("NOT_SUPPORTED")
        ctypes.c_int32.from_address(asked[-1]).value = self.named

    def matmul(self, *asked):
        self.launched.append(asked)


@pytest.fixture
def peer(monkeypatch):
    def made(named=ALGORITHMS):
        library = Library(named)
        bindings = ModuleType("nvmath.bindings")
        bindings.cublasLt = library
        for name, module in (("nvmath", ModuleType("nvmath")), ("nvmath.bindings", bindings)):
            monkeypatch.setitem(sys.modules, name, module)
        monkeypatch.delitem(sys.modules, "kernels.measure.peer_cublaslt", raising=False)
        module = importlib.import_module("kernels.measure.peer_cublaslt")
        monkeypatch.setitem(sys.modules, "kernels.measure.peer_cublaslt", module)
        stream = SimpleNamespace(get_current_stream=lambda: SimpleNamespace(ptr=0))
        empty = lambda size, dtype: matrix(1, size, dtype)  # noqa: E731
        monkeypatch.setattr(module, "cupy", SimpleNamespace(empty=empty, cuda=stream))
        return module, library

    return made


def matrix(rows, cols, dtype, by_columns=False):
    made = SimpleNamespace(
        shape=(rows, cols), dtype=np.dtype(dtype), data=SimpleNamespace(ptr=rows * cols)
    )
    if by_columns:
        made.T = matrix(cols, rows, dtype)
    return made


def operands(dtype="float32"):
    return matrix(20, 70, dtype), matrix(70, 30, dtype), matrix(20, 30, "float32")


def test_the_product_is_told_in_columns(peer):
    module, library = peer()
    A, B, C = operands("uint16")
    module.launches(A, B, C)[0]()
    float32, bfloat16 = 0, 14
    assert library.layouts == [
        (bfloat16, 30, 70, 30),
        (bfloat16, 70, 20, 70),
        (float32, 30, 20, 30),
    ]
    (asked,) = library.launched
    b, a, c = (x.data.ptr for x in (B, A, C))
    assert (asked[3:7], asked[8:12]) == ((b, 0, a, 1), (c, 2, c, 2))
    assert library.destroyed == 2


def test_columns_of_bytes_are_told_as_they_lie(peer):
    module, library = peer()
    A, B, C = matrix(20, 70, "uint8"), matrix(70, 30, "uint8", by_columns=True), operands()[2]
    module.launches(A, B, C)[0]()
    float32, e4m3 = 0, 28
    # Columns of 70 for both, the first to be transposed: then Bᵀ is 30×70 and Aᵀ is 70×20.
    assert library.layouts == [(e4m3, 70, 30, 70), (e4m3, 70, 20, 70), (float32, 30, 20, 30)]
    assert library.described == {"TRANSA": bytes([1, 0, 0, 0]), "FAST_ACCUM": b"\1"}


def test_nothing_else_is_described(peer):
    module, library = peer()
    module.launches(*operands("float16"))
    assert library.described == {}


def test_the_fastest_algorithm_that_is_named_stays(peer, monkeypatch):
    module, library = peer()
    size = library.matmul_heuristic_result_dtype.itemsize
    seconds = dict(zip((1000 + i * size for i in range(ALGORITHMS)), (5, 4, 1, 2, 3), strict=True))
    monkeypatch.setattr(module, "seconds", lambda launch: seconds[launch.args[0]])
    module.launch(*operands())()
    assert library.launched[-1][12] == 1000 + 2 * size and library.sums == 68


def test_emulation_asks_for_nine_products_of_bfloat16(peer, monkeypatch):
    module, library = peer()
    monkeypatch.setattr(module, "seconds", lambda launch: 1.0)
    module.emulated(*operands())
    assert library.sums == 78


def test_operands_without_an_algorithm_are_one_line(peer):
    module, _ = peer(named=0)
    with pytest.raises(
        RuntimeError, match="130500 names no algorithm .* 20×30×70, float16"
    ) as caught:
        module.launch(*operands("float16"))
    assert "\n" not in str(caught.value)


def test_it_is_measured_where_its_bindings_are_installed(peer, monkeypatch, tmp_path):
    peer()
    monkeypatch.setattr(peers, "find_spec", lambda name: name == "nvmath" or None)
    monkeypatch.setattr(peers.peer_cutile, "FOLDER", tmp_path)
    named = {"float32": "cublaslt", half.PARTS: "cublas_bf16x9", half.E4M3: "cublaslt"}
    for dtype, name in named.items():
        assert [each for each, _ in peers.others(*operands(), dtype)] == [name]
        assert name in peers.TITLES

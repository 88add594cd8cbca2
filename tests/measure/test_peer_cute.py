"""How the product in CuTe DSL is launched, with a stand-in for CuPy: no GPU answers here."""

from types import SimpleNamespace

import numpy as np
import pytest

from kernels.measure import peer_cute, peers

NAME = "kernel_cutlass_product_of_two_0"


def matrix(rows, cols, dtype):
    return SimpleNamespace(
        shape=(rows, cols), dtype=np.dtype(dtype), data=SimpleNamespace(ptr=4096)
    )


def operands(M=256, N=512, K=192):
    return matrix(M, K, "float16"), matrix(K, N, "float16"), matrix(M, N, "float32")


@pytest.fixture
def launched(monkeypatch, tmp_path):
    """What has been launched, where the product of float16 is compiled."""
    found = []

    class Kernel:
        max_dynamic_shared_size_bytes = 0

        def __call__(self, grid, block, arguments, shared_mem):
            assert shared_mem == self.max_dynamic_shared_size_bytes
            found.append((grid, block, arguments, shared_mem))

    def module(path):
        assert path == str(tmp_path / "float16.cubin")
        return SimpleNamespace(get_function=lambda name: Kernel() if name == NAME else None)

    (tmp_path / "float16.cubin").write_bytes(b"\0.text." + NAME.encode() + b"\0.nv.info\0")
    monkeypatch.setattr(peer_cute, "FOLDER", tmp_path)
    monkeypatch.setattr(peer_cute, "cupy", SimpleNamespace(RawModule=module))
    monkeypatch.setattr(peer_cute, "tensor_map", lambda matrix, *box: (matrix, *box))
    return found


def test_a_tensor_is_passed_with_its_shape_and_c_with_its_pitch(launched):
    A, B, C = operands()
    peer_cute.launch(A, B, C)()
    ((grid, block, arguments, shared),) = launched
    assert (grid, block) == ((2, 2), (384,))
    assert shared == 4 * (128 * 64 + 64 * 256) * 2 + 4 * 16
    map_A, of_A, map_B, of_B, of_C, sums = arguments
    assert map_A == (A, 128, 64, "float16") and map_B == (B, 64, 64, "float16")
    assert of_A.view(np.int32).tolist() == [256, 192]
    assert of_B.view(np.int32).tolist() == [512, 192]
    assert of_C.nbytes == 24 and of_C.view("u8, i4, i4, i8").tolist() == [(4096, 256, 512, 512)]
    assert not sums


@pytest.mark.parametrize("shape", [(255, 512, 192), (256, 384, 192), (256, 512, 200)])
def test_it_takes_whole_tiles_only(launched, shape):
    A, B, _ = operands()
    assert peer_cute.fits(A, B)
    A, B, _ = operands(*shape)
    assert not peer_cute.fits(A, B)


def test_it_is_measured_on_hopper_where_it_is_compiled(launched, monkeypatch, tmp_path):
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    monkeypatch.setattr(peers.peer_cutile, "FOLDER", tmp_path / "none")
    for capability, names in (((9, 0), ["cute"]), ((10, 0), [])):
        gpu = SimpleNamespace(compute_capability=capability)
        for module in (peers, peers.peer_cutile):
            monkeypatch.setattr(module, "device", lambda gpu=gpu: gpu)
        assert [name for name, _ in peers.others(*operands())] == names
    (tmp_path / "float16.cubin").unlink()
    assert not peer_cute.fits(*operands()[:2])

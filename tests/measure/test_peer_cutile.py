"""How the product in cuTile is launched, with a stand-in for CuPy: no GPU answers here."""

from types import SimpleNamespace

import numpy as np
import pytest

from kernels.host import half
from kernels.measure import peer_cutile, peers

FILES = [
    "float16-128x256x64-8warps-aligned", "float16-128x256x64-8warps-any",
    "float16-64x128x64-4warps-aligned", "float32-64x64x16-4warps-aligned",
]  # fmt: skip


@pytest.fixture
def launched(monkeypatch, tmp_path):
    """What has been launched, on a machine of compute capability 9.0 with a few files."""
    found = []

    def module(path):
        def function(name):
            return lambda grid, block, arguments: found.append((path, name, grid, block, arguments))

        return SimpleNamespace(get_function=function)

    monkeypatch.setattr(peer_cutile, "cupy", SimpleNamespace(RawModule=module))
    gpu = SimpleNamespace(compute_capability=(9, 0))
    monkeypatch.setattr(peer_cutile, "device", lambda: gpu)
    monkeypatch.setattr(peer_cutile, "FOLDER", tmp_path)
    (tmp_path / "sm_90").mkdir()
    for name in FILES:
        (tmp_path / "sm_90" / f"{name}.cubin").touch()
    monkeypatch.setattr(peer_cutile, "seconds", lambda launch: launch() or len(found))
    return found


def matrix(rows, cols, dtype, address=256):
    return SimpleNamespace(
        shape=(rows, cols), dtype=np.dtype(dtype), data=SimpleNamespace(ptr=address)
    )


def operands(dtype="float16", M=300, N=520, K=200):
    return matrix(M, K, dtype), matrix(K, N, dtype), matrix(M, N, "float32")


def names(launched):
    return [path.rpartition("/")[2].removesuffix(".cubin") for path, *_ in launched]


def test_one_thread_is_named_a_block_and_a_block_a_tile(launched):
    A, B, C = operands()
    peer_cutile.launch(A, B, C)
    _, function, grid, block, arguments = launched[0]
    assert (function, grid, block) == ("product", (3 * 3, 1, 1), (1, 1, 1))
    assert launched[1][2] == (5 * 5, 1, 1), "tiles of 64×128"
    for which, (array, rows, cols) in enumerate(((A, 300, 200), (B, 200, 520), (C, 300, 520))):
        data, *numbers = arguments[5 * which : 5 * which + 5]
        assert data is array and numbers == [rows, cols, cols, 1]
        assert all(type(number) is np.int32 for number in numbers)


def test_each_size_of_tiles_is_timed_and_the_fastest_stays(launched):
    fastest = peer_cutile.launch(*operands())
    assert names(launched) == [FILES[0], FILES[2]]
    fastest()
    assert names(launched)[-1] == FILES[0], "the stand-in's clock goes up"


@pytest.mark.parametrize(
    "given", [operands(N=521), (matrix(300, 200, "float16", 258), *operands()[1:])]
)
def test_rows_off_16_byte_boundaries_have_code_of_their_own(launched, given):
    peer_cutile.launch(*given)
    assert names(launched) == [FILES[1]]


def test_what_is_not_compiled_is_one_line_with_the_way_out(launched):
    with pytest.raises(
        LookupError, match=r"of bfloat16 .* for sm_90: run python -m .*_product sm_90 where"
    ):
        peer_cutile.launch(*operands("uint16"))
    A, B, _ = operands()
    with pytest.raises(TypeError, match="C holds float16: .* for float32"):
        peer_cutile.launch(A, B, matrix(300, 520, "float16"))


def test_it_is_measured_where_its_product_is_compiled(launched, monkeypatch):
    monkeypatch.setattr(peers, "find_spec", lambda name: None)
    assert [name for name, _ in peers.others(*operands())] == ["cutile"]
    assert list(peers.others(*operands("float32"), half.PARTS)) == []
    other = SimpleNamespace(compute_capability=(8, 0))
    monkeypatch.setattr(peer_cutile, "device", lambda: other)
    assert list(peers.others(*operands())) == [] and "cutile" in peers.TITLES

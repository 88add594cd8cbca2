"""The product in cuTile compiles without a GPU, where its compiler is installed."""

import json

import pytest

pytest.importorskip("cuda.tile", reason="cuda-tile and its compiler are not installed here")

from kernels.measure import cutile_product  # noqa: E402 (it imports cuda.tile)
from kernels.measure.described import FILE, described  # noqa: E402

STORED = json.loads(FILE.read_text(encoding="utf-8"))["cuTile"]["gpus"]


def made(dtype, tiles, aligned=True, gpu="sm_90"):
    code = cutile_product.compiled(dtype, tiles, aligned, gpu)
    return described(*cutile_product.ptx_of(code))


@pytest.mark.parametrize("gpu", cutile_product.GPUS)
def test_what_is_told_of_a_gpu_is_what_the_compiler_makes(gpu):
    assert made("float16", cutile_product.SIXTEEN[0], gpu=gpu) == STORED[gpu]


def test_float32_is_multiplied_as_float32():
    for tiles in cutile_product.FLOAT32:
        found = made("float32", tiles)["instructions"]
        assert found["fma.rn.f32"] >= 16 and "wgmma.mma_async" not in found, "no TF32"


def test_rows_off_16_byte_boundaries_do_without_the_tma_unit():
    tiles = cutile_product.SIXTEEN[-1]
    assert made("bfloat16", tiles)["instructions"]["cp.async.bulk.tensor"]
    assert "cp.async.bulk.tensor" not in made("bfloat16", tiles, aligned=False)["instructions"]


def test_every_version_has_a_name_of_its_own(monkeypatch):
    monkeypatch.setattr(cutile_product, "compiled", lambda *_: b"")
    names = [name for name, _ in cutile_product.versions("sm_90")]
    assert len(set(names)) == len(names) == 2 * (3 + 4 + 4)
    assert "bfloat16-128x256x64-8warps-any.cubin" in names

"""The model that chooses among general kernels: what it weighs, and in which direction."""

import pytest

from kernels.basics import data_sheets
from kernels.rungs.order import GENERAL
from kernels.tuning import chooser, general

H200 = data_sheets.gpu("h200")
SHAPES = ((1, 1, 16), (3, 4096, 4096), (5000, 7, 333), (64, 11008, 4096), (1000, 999, 5000))


@pytest.mark.parametrize("dtype", ("float32", "bfloat16"))
@pytest.mark.parametrize("shape", SHAPES)
def test_every_version_has_a_pace_and_can_be_launched(shape, dtype):
    found = list(general.versions(dtype, *shape, 1, H200))
    assert found
    for rung, engine, options in found:
        rung.launch(*shape[:2], **options)
        assert engine in rung.engines
        assert general.seconds(rung, options, *shape, dtype, 1, H200) > 1e-6


def test_more_work_takes_longer_and_more_bandwidth_less():
    rung = GENERAL["gemm_f32"]
    tiles = rung.default("numba")
    short, long = (general.seconds(rung, tiles, 512, 512, K, "float32", 1, H200) for K in (64, 640))
    assert short < long < general.seconds(rung, tiles, 512, 512, 640, "float32", 2000, H200)
    thin = max(
        (o for r, _, o in general.versions("float32", 1, 9000, 9000, 1, H200)
         if r.name == "gemm_thin" and o["PER"] == 4),
        key=lambda o: o["split"],
    )  # fmt: skip
    on_t4, here = (
        general.seconds(GENERAL["gemm_thin"], thin, 1, 9000, 9000, "float32", 1, gpu)
        for gpu in (data_sheets.gpu("t4"), H200)
    )
    assert on_t4 > 5 * here


def test_a_group_is_no_thin_product_and_a_batch_no_rung_of_the_ladder():
    told = {chooser.choose_general(4, 60000, 300, batch=b, grouped=b > 0).rung for b in (1, 8)}
    assert told == {"gemm_f32"}
    assert chooser.choose_general(8, 4096, 4096, "float16", batch=1).rung in GENERAL

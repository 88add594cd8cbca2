"""The rungs in WGSL through Vulkan, Metal or Direct3D, without a browser: right, checked, timed.

They run where the package `wgpu` finds an adapter: a GPU, or one in software such as lavapipe.
"""

from __future__ import annotations

import numpy as np
import pytest

from kernels.measure import webgpu
from kernels.measure.bench import webgpu as bench
from kernels.rungs.webgpu.ladder import SHADERS, Variant

CHOICES = [Variant(rung, options) for rung in SHADERS.values() for options in rung.choices]
SHAPES = [(1, 1, 1), (133, 141, 37), (65, 33, 129), (1, 130, 7)]


@pytest.fixture(scope="module", params=["software", pytest.param("gpu", marks=pytest.mark.gpu)])
def opened(request):
    """An adapter, in software and on a GPU."""
    try:
        return webgpu.adapter(software=request.param == "software")
    except webgpu.NoGpu as error:
        pytest.skip(str(error))


def operands(M: int, N: int, K: int) -> list[np.ndarray]:
    """Whole numbers, whose sums are exact in any order and in fp16."""
    random = np.random.default_rng(1)
    return [random.integers(-4, 5, shape).astype("float32") for shape in ((M, K), (K, N))]


@pytest.mark.parametrize("choice", CHOICES, ids=lambda c: f"{c.rung.name} {[*c.options.values()]}")
def test_every_choice_is_exact_at_odd_shapes(opened, choice):
    fault = opened.fault(choice)
    if fault:
        assert choice.rung.feature and "\n" not in fault
        pytest.skip(fault)
    for shape in SHAPES:
        A, B = operands(*shape)
        assert (webgpu.multiply(opened, choice, A, B) == A @ B).all(), shape


@pytest.mark.parametrize(
    ("name", "text", "broken"),
    [
        ("naive", "row < p.M && col < p.N", "row < p.M"),
        ("naive", "k < p.K;", "k < p.K - 1;"),
        ("tiled", "row < p.M && k0 + tx < p.K", "row < p.M"),
        (
            "vectorized",
            "kept(A[row * (p.lda / 4) + k / 4], k, p.K)",
            "A[row * (p.lda / 4) + k / 4]",
        ),
        ("warp_tiled", "k0 + BK", "k0"),
    ],
)
def test_a_broken_kernel_is_not_right(opened, monkeypatch, name, text, broken):
    rung = SHADERS[name]
    changed = rung.text.replace(text, broken)
    assert changed != rung.text
    monkeypatch.setattr(type(rung), "text", changed)
    A, B = operands(133, 141, 37)
    product = webgpu.Product(opened, rung.choice(), A, B)
    product.seconds()
    C, untouched = product.result()
    assert not (untouched and (C == A @ B).all())


def test_a_row_of_a_record_says_what_was_measured(opened, monkeypatch):
    monkeypatch.setattr(webgpu, "SAMPLE", 1e-3)
    choices = [SHADERS[name].choice() for name in ("naive", "tiled")]
    rows = list(bench.measured(opened, choices, 96))
    assert [row["rung"] for row in rows] == ["naive", "tiled"]
    for row in rows:
        assert row["correct"] and row["engine"] == "wgsl" and row["M"] == 96
        assert row["seconds"]["q1"] <= row["seconds"]["median"] <= row["seconds"]["q3"]
        assert row["gflops"] == pytest.approx(2e-9 * 96**3 / row["seconds"]["median"], rel=1e-4)


def test_a_wrong_product_is_recorded_as_wrong(opened, monkeypatch):
    monkeypatch.setattr(webgpu, "SAMPLE", 1e-3)
    rung = SHADERS["naive"]
    short = rung.text.replace("k < p.K;", "k < p.K - 1;")
    monkeypatch.setattr(type(rung), "text", short)
    (row,) = bench.measured(opened, [rung.choice()], 96)
    assert row["correct"] is False


@pytest.mark.gpu
def test_the_ladder_climbs():
    try:
        opened = webgpu.adapter()
    except webgpu.NoGpu as error:
        pytest.skip(str(error))
    rows = bench.measured(opened, [rung.choice() for rung in SHADERS.values()], 2048)
    speeds = {row["rung"]: row["gflops"] for row in rows if row["correct"]}
    assert speeds["swapped"] < speeds["naive"] and speeds["tiled"] > 1.3 * speeds["naive"]
    assert speeds["warp_tiled"] > speeds["vectorized"] > speeds["thread_tiled"] > speeds["tiled"]


def test_without_the_package_one_line_says_what_to_do(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "wgpu", None)
    with pytest.raises(webgpu.NoGpu, match="pip install wgpu"):
        webgpu.adapter()

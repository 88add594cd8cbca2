"""Data sheets and claims: complete, consistent, each with its source."""

import pytest

from kernels.lab import data


@pytest.mark.parametrize("name", data.gpus())
def test_a_data_sheet_is_consistent(name):
    gpu = data.gpu(name)
    assert gpu.fp32_peak == pytest.approx(gpu.fp32_tflops * 1e12, rel=0.02)
    assert gpu.threads_per_sm == 32 * gpu.warps_per_sm
    assert gpu.registers_per_sm * 4 == 256 * 1024
    assert 48 * 1024 <= gpu.shared_per_block_optin <= gpu.shared_per_sm
    modern = int(gpu.compute_capability.split(".")[0]) >= 8
    assert gpu.shared_per_sm - gpu.shared_per_block_optin == (1024 if modern else 0)
    assert (gpu.bf16_tensor_tflops is None) == (not modern)
    assert "NVIDIA" in gpu.source
    assert gpu.pcie_bandwidth > 1e10


def test_arithmetic_that_the_chapters_rely_on():
    assert data.gpu("rtx-3090").threads == 125_952
    assert data.gpu("h200").fp32_peak == pytest.approx(66.9e12, rel=1e-3)


@pytest.mark.parametrize(
    "given, name",
    [
        ("NVIDIA H200", "h200"),
        ("Tesla T4", "t4"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA A100-SXM4-80GB", "a100-80gb"),
        ("Tesla V100-SXM2-16GB", "v100"),
        ("NVIDIA GeForce RTX 3090", "rtx-3090"),
        ("NVIDIA L4", "l4"),
        ("h200", "h200"),
    ],
)
def test_a_driver_s_name_finds_its_sheet(given, name):
    assert data.gpu(given) is data.gpus()[name]


@pytest.mark.parametrize("given", ["GeForce RTX 3090 Ti", "NVIDIA H100 PCIe", "GTX 1080", ""])
def test_another_product_has_no_sheet(given):
    with pytest.raises(LookupError, match="there are t4, v100"):
        data.gpu(given)


def test_claims_are_complete():
    every = data.claims()
    assert len({claim.id for claim in every}) == len(every)
    assert set(data.sources()) == {"S0", "S1", "S2", "S3", "S4"}
    assert {claim.source for claim in every} == set(data.sources())
    assert {claim.chapter for claim in every} >= {1, 2, 3, 4}
    for claim in every:
        assert claim.judged_by in {"arithmetic", "data sheet", "definition", "record", "trace"}
        assert claim.id.startswith(claim.source.lower() + "-")
        if claim.judged_by in {"arithmetic", "data sheet", "definition"}:
            assert claim.fact
        assert (claim.low is None) == (not claim.unit)


def test_claims_are_found():
    assert data.claim("s2-speed-up").low == 53
    assert {c.source for c in data.claims(chapter=4, topic="speed")} == {"S1", "S2", "S3"}
    with pytest.raises(LookupError, match="s4-nvprof"):
        data.claim("s9")



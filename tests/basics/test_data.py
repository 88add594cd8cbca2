"""Data sheets: complete, consistent, each with its source."""

from dataclasses import fields

import pytest

from kernels.basics import data_sheets


@pytest.mark.parametrize("name", data_sheets.gpus())
def test_a_data_sheet_is_consistent(name):
    gpu = data_sheets.gpu(name)
    assert gpu.fp32_peak == pytest.approx(gpu.fp32_tflops * 1e12, rel=0.02)
    assert gpu.threads_per_sm == 32 * gpu.warps_per_sm
    assert gpu.registers_per_sm * 4 == 256 * 1024
    assert 48 * 1024 <= gpu.shared_per_block_optin <= gpu.shared_per_sm
    modern = int(gpu.compute_capability.split(".")[0]) >= 8
    assert gpu.shared_per_sm - gpu.shared_per_block_optin == (1024 if modern else 0)
    assert (gpu.bf16_tensor_tflops is None) == (not modern)
    assert "NVIDIA" in gpu.source
    assert gpu.pcie_bandwidth > 1e10


@pytest.mark.parametrize("name", data_sheets.gpus())
def test_the_peak_is_cores_times_two_times_clock(name):
    gpu = data_sheets.gpu(name)
    assert gpu.cores == gpu.sms * gpu.cores_per_sm
    assert gpu.fp32_peak == gpu.cores * 2 * gpu.boost_mhz * 1e6
    stated = gpu.fp32_tflops * 1e12
    assert abs(gpu.fp32_peak - stated) <= 0.01 * stated, "a data sheet rounds, and no more"


@pytest.mark.parametrize("name", data_sheets.gpus())
def test_every_figure_has_its_document(name):
    about = data_sheets.documents(name)
    figures = {field.name for field in fields(data_sheets.Gpu)} - {"name", "source"}
    assert set(about) == figures
    assert all(document.startswith("NVIDIA ") for document in about.values())


def test_the_gpus_of_the_course_are_there():
    named = "t4 v100 a100-40gb a100-80gb rtx-3090 rtx-4090 l4 l40s h100 h200 b200"
    assert set(data_sheets.gpus()) == set(named.split())


@pytest.mark.parametrize("name", data_sheets.gpus())
def test_limits_follow_the_compute_capability(name):
    """The CUDA C++ Programming Guide's table, in full."""
    gpu = data_sheets.gpu(name)
    limits = {
        "7.0": (2048, 32, 96, 96), "7.5": (1024, 16, 64, 64), "8.0": (2048, 32, 164, 163),
        "8.6": (1536, 16, 100, 99), "8.9": (1536, 24, 100, 99), "9.0": (2048, 32, 228, 227),
        "10.0": (2048, 32, 228, 227),
    }  # fmt: skip
    found = (gpu.threads_per_sm, gpu.blocks_per_sm, gpu.shared_per_sm / 1024,
             gpu.shared_per_block_optin / 1024)  # fmt: skip
    assert found == limits[gpu.compute_capability]


def test_arithmetic_that_the_chapters_rely_on():
    assert data_sheets.gpu("rtx-3090").threads == 125_952
    assert data_sheets.gpu("h200").fp32_peak == pytest.approx(66.9e12, rel=1e-3)


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
    assert data_sheets.gpu(given) is data_sheets.gpus()[name]


@pytest.mark.parametrize("given", ["GeForce RTX 3090 Ti", "NVIDIA H100 PCIe", "GTX 1080", ""])
def test_another_product_has_no_sheet(given):
    with pytest.raises(LookupError, match="there are t4, v100"):
        data_sheets.gpu(given)

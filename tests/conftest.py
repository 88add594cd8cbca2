"""What all tests share: those marked `gpu` are skipped, with the reason, where there is no GPU.

`pytest -m gpu` runs them all, and only them, on a machine with an NVIDIA GPU.
"""

import pytest


def pytest_collection_modifyitems(items):
    gpu_tests = [item for item in items if item.get_closest_marker("gpu")]
    if not gpu_tests:
        return
    from kernels.lab.backend import why_cpu

    if why_cpu:
        for item in gpu_tests:
            item.add_marker(pytest.mark.skip(reason=f"needs an NVIDIA GPU: {why_cpu}"))

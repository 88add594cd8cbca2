"""GPUs to play with."""

import pytest

from kernels.distributed import copies, machine
from tests.distributed.fake_gpus import Fakes


@pytest.fixture
def gpus(monkeypatch):
    """A function that plays a number of GPUs."""

    def play(number, **options):
        fakes = Fakes(number, **options)
        for module in (copies, machine):
            monkeypatch.setattr(module, "cupy", fakes)
        monkeypatch.setattr(machine, "on_gpu", True)
        monkeypatch.setattr(copies, "gemm", fakes.gemm)
        return fakes

    return play

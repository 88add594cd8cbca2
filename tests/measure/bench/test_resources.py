"""Occupancy from what the compiler used."""

from kernels.measure.bench import resources


def test_occupancy_follows_from_what_the_compiler_used(monkeypatch):
    class H200:
        name = "NVIDIA H200"

    monkeypatch.setattr(resources, "device", lambda: H200)
    used = {"registers": 32, "shared_bytes": 8192, "local_bytes": 0}
    assert resources.residency(1024, used) == {"blocks_per_sm": 2, "occupancy": 1.0}
    H200.name = "GTX of another maker"
    assert resources.residency(1024, used) == {}

"""Players of small kernels, as tests and a notebook in JupyterLab make them."""

from kernels.lab import pipeline_player
from microscope import trace
from tests.microscope.ptx.async_mutants import MUTANTS
from tests.microscope.ptx.hopper_kernels import copied, persistent, specialized
from tests.microscope.ptx.products import copied_case, persistent_case, specialized_case


def player(landing="mixed", **options):
    """One block of the specialised kernel: a producer, two consumers, three stages, K = 512."""
    kernel = specialized(128, 64, 3)
    launch, _ = specialized_case(128, 64, 512, 128, 64)
    seen = trace(kernel, *launch, shared_bytes=kernel.shared_bytes, landing=landing)
    return pipeline_player(seen, **options)


def broken(name="release by one consumer"):
    """A mutant of it."""
    (one,) = [m for m in MUTANTS if (m.kernel, m.name) == ("specialized", name)]
    kernel = one.compiled()
    launch, _ = one.case()
    return pipeline_player(trace(kernel, *launch, shared_bytes=kernel.shared_bytes))


def in_clusters(**options):
    """Two blocks that stay, and share B."""
    kernel = persistent(64, 128, 2)
    launch, _ = persistent_case(100, 136, 264)
    return pipeline_player(trace(kernel, *launch, shared_bytes=kernel.shared_bytes), **options)


def by_pieces():
    """Copies without an mbarrier, by one warp."""
    kernel = copied()
    launch, _ = copied_case(16, 8, 80)
    return pipeline_player(trace(kernel, *launch, shared_bytes=kernel.shared_bytes))

"""The product in CuTe DSL compiles without a GPU, where the package is installed."""

import json
from importlib.util import find_spec

import pytest

if not find_spec("cutlass"):  # imported first by `cute_product`, which says for which GPU
    pytest.skip("nvidia-cutlass-dsl is not installed here", allow_module_level=True)

from kernels.measure import cute_product, peer_cute  # noqa: E402 (it imports cutlass)
from kernels.measure.described import FILE, described  # noqa: E402


@pytest.mark.parametrize("dtype", cute_product.NUMBERS)
def test_what_is_told_is_what_the_library_makes(dtype):
    code, ptx = cute_product.compiled(dtype)
    stored = json.loads(FILE.read_text(encoding="utf-8"))["CuTe DSL"]["gpus"]["sm_90"]
    assert described(ptx, peer_cute.SHARED) == stored
    assert stored["threads"] == peer_cute.THREADS and code[:4] == b"\x7fELF"
    assert ".local" not in ptx, "all sums stay in registers"


def test_it_is_launched_as_it_is_written():
    for name in ("BM", "BN", "BK", "STAGES"):
        assert getattr(peer_cute, name) == getattr(cute_product, name)

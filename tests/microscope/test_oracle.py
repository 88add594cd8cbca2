"""The microscope against the second engine: outputs, every site's counts, and silence."""

import numpy as np
import pytest

from kernels.lab import trace
from tests.microscope import hardware_kernels, oracle_engine, rung_cases, truth_kernels
from tests.microscope.cases import Case, whole


def small(case: Case, *, M=17, N=21, K=9) -> Case:
    """A matrix product cut down to what one generator a thread can run in a moment."""
    swapped = "swapped" in case.name
    x, y = case.block
    across, down = (M, N) if swapped else (N, M)

    def make():
        C = np.full((M, N), np.nan, np.float32)
        return whole(M, K, seed=2), whole(K, N, seed=3), C

    return Case(
        case.name,
        case.kernel,
        (-(-across // x), -(-down // y)),
        case.block,
        make,
        lambda A, B, C: {2: A @ B},
    )


def all_cases():
    """Every case, matrix products at small sizes."""
    found = [*truth_kernels.cases(), *hardware_kernels.cases(), *rung_cases.cases()]
    products = ("naive", "swapped", "tiled", "rung_naive", "rung_swapped", "rung_tiled")
    return [small(c) if c.name.startswith(products) else c for c in found]


@pytest.mark.parametrize("case", all_cases(), ids=lambda case: case.name)
def test_same_as_the_second_engine(case):
    arguments = case.make()
    reference = oracle_engine.run(
        case.kernel, case.grid, case.block, *arguments, shared_bytes=case.shared_bytes
    )
    seen = trace(case.kernel, case.grid, case.block, *arguments, shared_bytes=case.shared_bytes)
    assert seen.problems == []
    outputs = list(seen.outputs.values())
    arrays = [a for a in reference.arguments if isinstance(a, np.ndarray)]
    for mine, theirs in zip(outputs, arrays, strict=True):
        assert mine.dtype == theirs.dtype
        assert mine.tobytes() == theirs.tobytes()
    for position, right in case.expect(*case.make()).items():
        assert np.array_equal(reference.arguments[position], right)

    expected = reference.counts()
    got = {(s.line, s.column, s.op): s for s in seen.sites if s.space != "local"}
    assert set(got) == set(expected)
    for where, count in expected.items():
        site = got[where]
        assert site.space == count.space
        assert (site.requests, site.lanes) == (count.requests, count.lanes), where
        assert site.bytes_used == count.bytes_used, where
        if count.space == "global":
            assert (site.sectors, site.lines) == (count.sectors, count.lines), where
        else:
            assert site.wavefronts == count.wavefronts, where
    assert seen.barriers == dict(reference.barriers)

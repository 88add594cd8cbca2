"""Pipelines with one thing wrong: the interpreter reports each, and says nothing of sound ones."""

import numpy as np
import pytest

from microscope import trace
from tests.microscope.ptx.async_mutants import MUTANTS, SIZES, case
from tests.microscope.ptx.hopper_kernels import copied, persistent, specialized

MAKERS = {"specialized": specialized, "persistent": persistent, "copied": copied}


@pytest.mark.parametrize("landing", ["earliest", "latest", "mixed"])
@pytest.mark.parametrize("kernel", SIZES)
def test_the_kernels_themselves_are_sound(kernel, landing):
    made = MAKERS[kernel](*SIZES[kernel])
    launch, expected = case(kernel)
    seen = trace(made, *launch, shared_bytes=made.shared_bytes, landing=landing)
    assert not seen.problems
    C = "map_C" if kernel == "persistent" else "C"
    np.testing.assert_array_equal(seen.outputs[C], expected)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: f"{m.kernel}-{m.name}".replace(" ", "-"))
def test_each_is_reported(mutant):
    kernel = mutant.compiled()
    launch, _ = mutant.case()
    seen = trace(kernel, *launch, shared_bytes=kernel.shared_bytes)
    found = {problem.kind for problem in seen.problems}
    assert found & set(mutant.kinds) if mutant.kinds else not found
    assert all(problem.line and problem.message for problem in seen.problems)


def test_there_are_enough_of_them():
    assert len(MUTANTS) >= 60
    assert len({(m.kernel, m.name) for m in MUTANTS}) == len(MUTANTS)

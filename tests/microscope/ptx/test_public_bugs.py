"""Public bugs are reported as they were, whenever things happen, and nothing is when mended."""

import numpy as np
import pytest

from microscope import trace
from microscope.sites import Kind
from tests.microscope.ptx.public_bugs import CASES, handed_back, in_turn

WRONG = [bug for bug in CASES if not bug.mended]
MENDED = [bug for bug in CASES if bug.mended]
LANDINGS = ["earliest", "latest", "mixed"]


def traced(bug, landing):
    kernel, launch, shared_bytes, expected, _ = bug.launched()
    return trace(kernel, *launch, shared_bytes=shared_bytes, landing=landing), expected


@pytest.mark.parametrize("landing", LANDINGS)
@pytest.mark.parametrize("bug", WRONG, ids=lambda bug: bug.make.__name__)
def test_a_bug_is_reported(bug, landing):
    seen, _ = traced(bug, landing)
    assert {problem.kind for problem in seen.problems} & set(bug.kinds)
    assert all(problem.line and problem.message for problem in seen.problems)


@pytest.mark.parametrize("landing", LANDINGS)
@pytest.mark.parametrize("bug", MENDED, ids=lambda bug: bug.make.__name__)
def test_nothing_is_when_it_is_mended(bug, landing):
    seen, expected = traced(bug, landing)
    assert not seen.problems
    for name, value in expected.items():
        np.testing.assert_array_equal(seen.outputs[name], value)


@pytest.mark.parametrize("make", [in_turn, handed_back])
def test_a_missing_proxy_fence_is_all_that_is_said_and_names_the_fence(make):
    (bug,) = [bug for bug in WRONG if bug.make is make]
    seen, _ = traced(bug, "latest")
    assert {problem.kind for problem in seen.problems} == {Kind.PROXY_FENCE}
    assert all("fence_proxy_async()" in problem.message for problem in seen.problems)

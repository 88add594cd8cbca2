"""Where the recorded tools and the microscope differ on wrong kernels, there is a reason."""

import pytest

from tests.microscope.fuzz import explained

CASES = explained.cases()


@pytest.mark.parametrize("tens", range(0, len(CASES), 10))
def test_every_difference_has_a_reason(tens):
    for case in CASES[tens : tens + 10]:
        explained.reasons(case)


def test_what_has_no_reason_is_told():
    clean = next(c for c in CASES if not any(t.problems for t in c.traces))
    tools = {t: {"end": "right", "findings": {"something": 1}} for t in clean.tools}
    with pytest.raises(LookupError, match="memcheck alone reports something"):
        explained.reasons(explained.Case(clean.number, tools, 0))

"""Learners' kernels, and every documented construct, on a GPU."""

import numpy as np
import pytest

from tests.microscope.constructs import rows, verdicts
from tests.microscope.learners import cases

pytestmark = pytest.mark.gpu

ALL = [(theme, one) for theme in cases.THEMES for one in cases.attempts(theme)]
ROWS = rows.everything()


def ids(value) -> str:
    return getattr(value, "name", value)


@pytest.mark.parametrize("theme, one", ALL, ids=ids)
def test_a_gpu_computes_what_numpy_does(theme, one):
    kernel, arguments, wanted = one.make()
    kernel[one.grid, one.block](*arguments)
    for position, expected in wanted.items():
        found = arguments[position]
        assert cases.close(found, np.asarray(expected, found.dtype)), position


@pytest.mark.parametrize("row", [r for r in ROWS if not r.on_host], ids=lambda r: r.construct)
def test_a_construct_gives_the_same_on_a_gpu(row):
    mine = verdicts.here(row)
    if mine.refused:
        pytest.skip(mine.refused)
    theirs = verdicts.on_gpu(row)
    assert theirs.refused == ""
    assert verdicts.difference(mine, theirs, near=verdicts.near(row)) == ""


@pytest.mark.parametrize("row", [r for r in ROWS if r.on_host], ids=lambda r: r.construct)
def test_the_host_side_of_a_gpu_runs(row):
    if verdicts.here(row).refused:
        pytest.skip("the interpreter refuses it")
    verdicts.module_of(row, "numba")

"""Kernels without their guards: what is struck out, and room for what they load."""

import re

import numpy as np
import pytest

from kernels.host import cpp
from kernels.measure.bench import guards
from kernels.rungs.order import LADDER


@pytest.mark.parametrize("name", guards.GUARDED)
def test_guards_can_be_struck_out_of_the_twins(name):
    text, struck = guards.GUARD.subn(" true ", cpp.source(name))
    assert struck
    kept = re.findall(r"\w+ < (?:M|N|K|rows|cols)\b", text)
    assert set(kept) <= {"k < K", "k0 < K"}, "the loops' ends, and nothing else"


@pytest.mark.parametrize("name", guards.GUARDED)
def test_there_is_room_for_what_loads_ahead_without_guards(name):
    matrix = np.arange(12, dtype=np.float32).reshape(3, 4)
    roomy = guards.with_room(matrix)
    np.testing.assert_array_equal(roomy, matrix)
    assert roomy.flags.c_contiguous
    ahead = roomy.base.shape[0] - roomy.shape[0]
    assert ahead >= LADDER[name].default("cpp").get("BK", 32), "a tile beyond the last"

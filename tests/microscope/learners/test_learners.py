"""Learners' kernels in the interpreter, and by Numba's compiler."""

import numpy as np
import pytest

from kernels.backend import on_gpu
from kernels.lab import trace
from microscope import Kind
from tests.microscope.learners import cases
from tests.microscope.numba_compiler import compiler

ALL = [(theme, one) for theme in cases.THEMES for one in cases.attempts(theme)]
THERE = {}


def ids(value) -> str:
    return value.name if isinstance(value, cases.Learner) else value


def agree(after: list, wanted: dict[int, np.ndarray]) -> None:
    for position, expected in wanted.items():
        assert cases.close(after[position], np.asarray(expected, after[position].dtype)), position


def there(theme: str, name: str) -> cases.Learner:
    """The same attempt with Numba's `cuda`."""
    if theme not in THERE:
        THERE[theme] = {one.name: one for one in cases.for_numba(theme)}
    return THERE[theme][name]


def test_their_names_differ():
    assert len({one.name for _, one in ALL}) == len(ALL)


@pytest.mark.parametrize("schedule", ["lockstep", "warps-reversed"])
@pytest.mark.parametrize("theme, one", ALL, ids=ids)
def test_the_interpreter_computes_what_numpy_does(theme, one, schedule):
    kernel, arguments, wanted = one.make()
    seen = trace(kernel, one.grid, one.block, *arguments, schedule=schedule)
    unmeant = [p for p in seen.problems if p.kind != Kind.NEGATIVE_INDEX]
    assert unmeant == []
    after = dict(enumerate(seen.outputs.values()))
    places = [k for k, a in enumerate(arguments) if isinstance(a, np.ndarray)]
    agree({place: after[k] for k, place in enumerate(places)}, wanted)


@pytest.mark.skipif(on_gpu, reason="tests/gpu/test_learners.py launches them")
@pytest.mark.parametrize("theme, one", ALL[::8], ids=ids)
def test_a_plain_launch_changes_its_arguments(theme, one):
    kernel, arguments, wanted = one.make()
    kernel[one.grid, one.block](*arguments)
    agree(arguments, wanted)


@pytest.mark.parametrize("theme, one", ALL, ids=ids)
def test_numba_compiles_it(theme, one):
    pytest.importorskip("numba_cuda")
    from numba import typeof, types

    with compiler() as ptx_of:
        kernel, arguments, _ = there(theme, one.name).make()
        kinds = (
            types.Array(typeof(a).dtype, a.ndim, "C") if isinstance(a, np.ndarray) else typeof(a)
            for a in arguments
        )
        assert ".entry" in ptx_of(kernel.py_func, types.void(*kinds))

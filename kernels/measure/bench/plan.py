"""The steps of the benchmark, in order."""

from kernels.measure.bench import (
    attention,
    broken_kernels,
    counters,
    frameworks,
    guards,
    host,
    indices,
    ladder,
    machine_code,
    memory,
    primitives,
    resources,
    vectors,
    webgpu,
)
from kernels.measure.bench.step import Step

#: What ran before decides how warm a GPU is: the ladder comes first, on a cool one.
MODULES = (
    ladder,
    guards,
    indices,
    resources,
    machine_code,
    counters,
    vectors,
    memory,
    broken_kernels,
    host,
    frameworks,
    primitives,
    attention,
    webgpu,
)


def steps(only: str = "") -> list[Step]:
    """The whole benchmark, or the steps whose names hold a text.

    Raises
    ------
    LookupError
        If no step has such a name: one line with those there are.
    """
    every = [step for module in MODULES for step in module.steps()]
    found = [step for step in every if only in step.name]
    if not found:
        names = ", ".join(step.name for step in every)
        raise LookupError(f"no step of the benchmark has {only!r} in its name: use one of {names}")
    return found

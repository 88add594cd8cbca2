"""The steps of the benchmark, in order."""

from kernels.measure.bench import (
    ablation,
    attention,
    attention_spans,
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
    sustained,
    vectors,
)
from kernels.measure.bench.step import Step

#: What ran before decides how warm a GPU is: the ladder comes first, on a cool one.
MODULES = (
    ladder,
    ablation,
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
    attention_spans,
    sustained,
)


def steps() -> list[Step]:
    """The whole benchmark."""
    return [step for module in MODULES for step in module.steps()]

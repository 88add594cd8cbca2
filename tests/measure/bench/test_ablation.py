"""The versions between two rungs, in the interpreter."""

import numpy as np
import pytest

from kernels.host import half
from kernels.measure import oracle
from kernels.measure.anywhere import trace_rung
from kernels.measure.bench import ablation
from kernels.measure.bench.case import Case


@pytest.mark.parametrize("what, rung, options", ablation.STEPS, ids=lambda part: str(part)[:40])
def test_a_version_is_right_and_sound(what, rung, options):
    sizes = 200, 328, 328  # no multiples of any tile, and more steps than stages
    seen = trace_rung(rung, *sizes, landing="mixed", **options)
    assert not seen.problems
    A, B = map(half.floats, oracle.inputs(*sizes, dtype="bfloat16"))
    C = next(seen.outputs[name] for name in ("C", "map_C") if name in seen.outputs)
    np.testing.assert_allclose(C, A.astype(float) @ B, rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    "what, rung, options", ablation.FP32_STEPS[1:4], ids=lambda part: str(part)[:40]
)
def test_a_version_in_float32_is_right_and_sound(what, rung, options):
    sizes = 150, 260, 41
    seen = trace_rung(rung, *sizes, **options)
    assert not seen.problems
    A, B = oracle.inputs(*sizes)
    np.testing.assert_allclose(seen.outputs["C"], A.astype(float) @ B, rtol=0, atol=1e-4)


def test_all_are_timed_in_turn_with_the_library(monkeypatch):
    monkeypatch.setattr(Case, "library", lambda case: lambda: None)
    in_turn = []
    monkeypatch.setattr(
        Case,
        "measure_in_turn",
        lambda case, launches, *_: (
            in_turn.append(len(launches)) or [{"gflops": float(n)} for n, _ in enumerate(launches)]
        ),
    )
    rows = ablation.measured(128, ablation.STEPS, "bfloat16")
    assert in_turn == [1 + len(ablation.STEPS)]
    assert [(row["what"], row["gflops"]) for row in rows] == [
        (what, float(n)) for n, (what, *_) in enumerate(ablation.STEPS, 1)
    ]
    assert {row["cublas_gflops"] for row in rows} == {0.0}

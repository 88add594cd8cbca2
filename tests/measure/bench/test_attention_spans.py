"""The spans of attention's consumers, from stamps that were made up."""

import numpy as np
import pytest

from kernels.measure.bench import attention_spans
from kernels.primitives.attention_wgmma import make_attention_wgmma


def notes(shift):
    """Two consumers with spans of 100, 60, 10 and 30 cycles, the second later by `shift`."""
    one = np.cumsum(np.tile((100, 60, 10, 30), attention_spans.TILES))
    one = np.concatenate([[0], one[:-1]])
    return np.stack([one, one + shift])[None] + 5


@pytest.mark.parametrize("shift, both", [(0, 1.0), (30, 0.5), (100, 0.0)])
def test_cycles_of_each_span_and_how_often_both_have_their_softmax(shift, both):
    found = attention_spans.spans(notes(shift))
    assert found["cycles"] == {
        "scores": 100, "softmax": 60, "results": 10, "between": 30, "tile": 200,
    }  # fmt: skip
    assert found["both"] == pytest.approx(both)


def test_a_counter_that_wraps_is_carried_on():
    late = (notes(30) + attention_spans.WRAP - 1000) % attention_spans.WRAP
    assert attention_spans.spans(late) == attention_spans.spans(notes(30))


@pytest.mark.parametrize("change", ["stamped", "products", "powers"])
def test_the_kernel_still_has_the_places_that_are_changed(change):
    make = getattr(attention_spans, change)(make_attention_wgmma)
    assert make(128).py_func.__name__ == "attention_wgmma"

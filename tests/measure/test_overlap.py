"""Strips on streams: what is queued where, and how a time line follows from events."""

from types import SimpleNamespace

import numpy as np
import pytest

from kernels.measure import levels, overlap
from kernels.measure.overlap import STRIPS, Pipeline


def test_a_time_line_waits_for_the_engine(monkeypatch):
    """Two streams are ready for their copies at once; the engine takes one after the other."""
    product = object.__new__(Pipeline)
    events = {  # stream, strip, part -> ready, done, in milliseconds
        (0, 0, "copy in"): (0.0, 2.0), (1, 1, "copy in"): (0.0, 4.0),
        (0, 0, "kernel"): (2.0, 7.0), (1, 1, "kernel"): (4.0, 12.0),
        (0, 0, "copy out"): (7.0, 9.0), (1, 1, "copy out"): (12.0, 14.0),
    }  # fmt: skip

    def between(count, parts, mark):
        assert (count, parts) == (2, Pipeline.PARTS)
        for (_, strip, part), times in events.items():
            for time in times:
                mark(SimpleNamespace(record=lambda time=time: time), strip, part)
        return 0.0, 14.0

    clock = SimpleNamespace(get_elapsed_time=lambda first, last: last - first)
    monkeypatch.setattr(product, "between", between, raising=False)
    monkeypatch.setattr(overlap, "cupy", SimpleNamespace(cuda=clock))
    rows = {
        (row["strip"], row["what"]): (row["begins"], row["ends"]) for row in product.timeline(2)
    }
    assert rows == {
        (0, "copy in"): (0.0, 0.002), (1, "copy in"): (0.002, 0.004),
        (0, "kernel"): (0.002, 0.007), (1, "kernel"): (0.007, 0.012),
        (0, "copy out"): (0.007, 0.009), (1, "copy out"): (0.012, 0.014),
    }  # fmt: skip


def test_every_strip_goes_through_its_parts_in_order(monkeypatch):
    done = []

    class Stream:
        def __init__(self, number):
            self.ptr = self.number = number

        def __enter__(self):
            done.append(("on", self.number))

        def __exit__(self, *_):
            pass

    product = object.__new__(Pipeline)
    rows = 4
    product.rows = rows
    product.A = product.C = np.zeros((rows * STRIPS, 2), np.float32)
    product.B = None
    product.kernel = lambda grid, block, arguments: done.append(("kernel", arguments[0].data.ptr))

    class Array:
        def __init__(self):
            self.nbytes, self.data = 8, SimpleNamespace(ptr=id(self))

    def copy(there, here, nbytes, kind, stream):
        done.append((("in", "out")[kind - 1], stream))

    monkeypatch.setattr(overlap, "cupy", SimpleNamespace(
        empty=lambda *_: Array(),
        cuda=SimpleNamespace(runtime=SimpleNamespace(memcpyAsync=copy)),
    ))  # fmt: skip
    marks = []
    product.run([Stream(0), Stream(1)], Pipeline.PARTS, lambda *told: marks.append(told[1:]))
    kinds = [what for what, _ in done]
    assert kinds == ["in", "on", "kernel", "out"] * STRIPS
    assert [stream for what, stream in done if what == "in"] == [0, 1] * (STRIPS // 2)
    assert marks == [(s, part) for s in range(STRIPS) for part in Pipeline.PARTS for _ in "ab"]


def test_the_peak_of_l1_is_a_wavefront_a_clock():
    assert levels.peak(132, 1.98e9) == pytest.approx(33.45e12, rel=1e-3)


@pytest.mark.gpu
def test_overlap_saves_time_and_is_right():
    found = overlap.measure()["overlap"]
    times = {row["streams"]: row["seconds"]["median"] for row in found if row["what"] == "all"}
    assert all(row["correct"] for row in found if row["what"] == "all")
    assert times[3] < times[1]


@pytest.mark.gpu
def test_levels_are_ordered():
    found = {row["level"]: row["bytes_per_second"] for row in levels.levels()}
    from kernels.engine.device import device

    assert found["L2"] < found["L1"] <= 1.02 * levels.peak(device().sms, device().clock)
    assert found["L2"] < found["shared"] <= 1.02 * levels.peak(device().sms, device().clock)

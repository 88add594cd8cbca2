"""The stopwatch: what it measures, and what it says of it."""

from types import SimpleNamespace

import pytest

from kernels import lab, on_gpu
from kernels.measure import timing
from kernels.measure.timing import Timing, time, time_in_turn

cpu_only = pytest.mark.skipif(on_gpu, reason="times the GPU here")


def test_figures_from_a_timing():
    timing = Timing(median=2e-3, q1=1.9e-3, q3=2.2e-3, n=20, flushed=True)
    assert timing.gflops(8e9) == pytest.approx(4000)
    assert timing.bandwidth(6e6) == pytest.approx(3)


@pytest.mark.parametrize(
    "timing, text",
    (
        (Timing(2e-3, 1.9e-3, 2.1e-3, 20, True), "2 ms (quartiles 1.9 to 2.1, n = 20, L2 flushed)"),
        (Timing(3.21, 3.2, 3.3, 3, False), "3.21 s (quartiles 3.2 to 3.3, n = 3, L2 not flushed)"),
        (
            Timing(4.2e-6, 4.1e-6, 4.4e-6, 20, False, batch=250),
            "4.2 µs (quartiles 4.1 to 4.4, n = 20, batches of 250 launches, L2 not flushed)",
        ),
        (
            Timing(5e-7, 4e-7, 6e-7, 5, False, on_gpu=False),
            "0.5 µs (quartiles 0.4 to 0.6, n = 5, time of the CPU interpreter, not of a GPU)",
        ),
    ),
)
def test_it_prints_its_unit_and_how_it_was_measured(timing, text):
    assert repr(timing) == text


@pytest.fixture
def clock(monkeypatch):
    """A clock that only `clock.sleep` moves, in the stopwatch's module too."""
    fake = SimpleNamespace(now=0.0, slept=[])

    def sleep(seconds):
        fake.now += seconds
        fake.slept.append(seconds)

    fake.sleep = sleep
    monkeypatch.setattr(timing, "perf_counter", lambda: fake.now)
    monkeypatch.setattr(timing, "sleep", sleep)
    return fake


@cpu_only
def test_the_interpreter_is_timed_and_said_to_be(clock):
    lasts = iter((5, 5, 5, 1, 2, 3, 4))
    found = time(lambda: clock.sleep(next(lasts)), repeat=4, warmup=3, limit=60)
    assert next(lasts, None) is None and found.n == 4
    assert (found.q1, found.median, found.q3) == (1.75, 2.5, 3.25)
    assert not found.on_gpu and not found.flushed
    assert "time of the CPU interpreter, not of a GPU" in repr(found)


@cpu_only
def test_launches_to_compare_are_timed_in_turn(clock):
    order = []
    fast = lambda: (order.append("a"), clock.sleep(1))  # noqa: E731
    slow = lambda: (order.append("b"), clock.sleep(2))  # noqa: E731
    found = time_in_turn([fast, slow], repeat=3, flush_l2=False)
    assert "".join(order) == "aabb" + "ababab"
    assert [(one.median, one.n) for one in found] == [(1, 3), (2, 3)]
    with pytest.raises(TypeError, match="got NoneType: wrap the"):
        time_in_turn([lambda: None, None])


def test_bad_arguments_are_one_clear_line():
    with pytest.raises(TypeError, match="^time needs a function to call, got NoneType: wrap the"):
        time(None)
    with pytest.raises(ValueError, match="^repeat=0, warmup=2: use at least 1 and at least 0$"):
        time(lambda: None, repeat=0)
    assert lab.time is time


@cpu_only
def test_the_interpreter_has_the_limits_of_a_gpu_and_no_clock():
    device = lab.device()
    assert (device.name, lab.where()) == ("CPU interpreter", "the CPU interpreter")
    assert (device.max_threads_per_block, device.warp_size) == (1024, 32)
    assert device.shared_per_block == 48 * 1024
    assert device.sms is device.clock is device.fp32_peak is device.bandwidth_peak is None

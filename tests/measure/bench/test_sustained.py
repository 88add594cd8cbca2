"""Bursts and launches without a break, as far as they go without a GPU."""

import pytest

from kernels.measure.bench import sustained


class Answer:
    def __init__(self, text):
        self.text = text

    def communicate(self):
        return self.text, ""


def test_the_library_and_each_rung_have_a_row_with_the_median_of_all_rounds(monkeypatch):
    times = iter((1e-3, 4e-3, 3e-3, 2e-3))
    monkeypatch.setattr(sustained, "RUNGS", {"float32": ("naive",)})
    monkeypatch.setattr(
        sustained,
        "without_rest",
        lambda launch, seconds: {"seconds": next(times), "watts": 700.0},
    )
    rung = sustained.LADDER["naive"]
    in_numba = type(rung)(**vars(rung) | {"engines": ("numba",)})
    monkeypatch.setattr(sustained, "LADDER", {"naive": in_numba})
    library, naive = sustained.measured(64, "float32")
    assert (library["rung"], naive["rung"], naive["engine"]) == ("cublas", "naive", "numba")
    assert naive["correct"] and naive["gflops"] > 0
    flop = 2 * 64**3
    assert library["sustained"]["gflops"] == pytest.approx(flop / 2e-3 / 1e9, rel=1e-4)
    assert naive["sustained"]["gflops"] == pytest.approx(flop / 3e-3 / 1e9, rel=1e-4)
    assert naive["sustained"]["watts"] == 700


@pytest.mark.parametrize("smi", [None, Answer("[N/A], [N/A]\n"), Answer("")])
def test_power_is_left_out_where_nobody_tells_it(smi):
    assert sustained.power(smi) == {}


def test_power_and_its_limit_are_read():
    assert sustained.power(Answer("651.20, 700.00\n")) == {"watts": 651.2, "limit": 700}

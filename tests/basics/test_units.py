"""Quantities as text."""

import pytest

from kernels.basics.units import percent, quantity, size


@pytest.mark.parametrize(
    "value, unit, text",
    [
        (8.61e12, "FLOP/s", "8.61 TFLOP/s"),
        (2.9e-5, "s", "29.0 µs"),
        (999.96e9, "B/s", "1.00 TB/s"),
        (999.4e9, "B/s", "999 GB/s"),
        (0, "s", "0 s"),
        (float("nan"), "s", "–"),
        (None, "s", "–"),
        (-1500.0, "B", "-1.50 kB"),
        (1e-12, "s", "0.00100 ns"),
        (1.0, "s", "1.00 s"),
        (1000.0, "s", "1.00 ks"),
        (1e-6, "s", "1.00 µs"),
        (1e15, "B", "1.00 PB"),
        (9.99e17, "B", "999 PB"),
    ],
)
def test_quantities(value, unit, text):
    assert quantity(value, unit) == text


def test_fewer_digits():
    assert quantity(1000.0, "B/s", 1) == "1 kB/s"


@pytest.mark.parametrize(
    "count, text",
    [(49152, "48 KiB"), (1023, "1023 B"), (2**30, "1 GiB"), (1.5 * 2**50, "1536 TiB")],
)
def test_sizes(count, text):
    assert size(count) == text


@pytest.mark.parametrize("share, text", [(0.168, "17 %"), (0.0123, "1.2 %"), (0.0996, "10 %")])
def test_percentages(share, text):
    assert percent(share) == text

"""Quantities as people read them: ``quantity(3.2e12, "B/s")`` is ``"3.20 TB/s"``."""

from __future__ import annotations

import math

PREFIXES = {-9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P"}


def quantity(value: float, unit: str, digits: int = 3) -> str:
    """Write ``value`` with a decimal prefix.

    Parameters
    ----------
    value : float
        In the bare unit: bytes per second, FLOP per second, seconds.
    unit : str
        ``"B/s"``, ``"FLOP/s"``, ``"s"``, ``"B"``…
    digits : int
        Significant digits kept.

    Returns
    -------
    str
        ``"8.61 TFLOP/s"``, ``"29.0 µs"``; ``"–"`` when the value is not a number.
    """
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return f"0 {unit}"
    # 999.96 rounds up to the next prefix, so round first: as text, which no math library alters.
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    step = 3 * (int(exponent) // 3)
    step = min(max(step, min(PREFIXES)), max(PREFIXES))
    above = int(exponent) - step
    decimals = max(0, digits - 1 - above)
    return f"{float(f'{mantissa}e{above}'):.{decimals}f} {PREFIXES[step]}{unit}"


def size(count: float) -> str:
    """Bytes with a binary prefix, as caches are sized: ``size(49152)`` is ``"48 KiB"``."""
    for prefix in ("", "Ki", "Mi", "Gi"):
        if abs(count) < 1024:
            return f"{count:.4g} {prefix}B"
        count /= 1024
    return f"{count:.4g} TiB"


def percent(share: float) -> str:
    """A share as a percentage of two figures: ``percent(0.168)`` is ``"17 %"``."""
    if share is None or not math.isfinite(share):
        return "–"
    return f"{100 * share:.0f} %" if abs(share) >= 0.0995 else f"{100 * share:.1f} %"

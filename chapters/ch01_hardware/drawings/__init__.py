"""The drawings of chapter 1 alone."""

from chapters.ch01_hardware.drawings.chip import dies, mapping
from chapters.ch01_hardware.drawings.flight import in_flight
from chapters.ch01_hardware.drawings.kitchen import kitchen
from chapters.ch01_hardware.drawings.lanes import divergence
from chapters.ch01_hardware.drawings.rates import rates

__all__ = ["dies", "divergence", "in_flight", "kitchen", "mapping", "rates"]

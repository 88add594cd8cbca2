"""The instruments of the course: trace a kernel, check a product, time a launch, ask the device."""

from kernels.lab import exercises
from kernels.lab.device import device
from kernels.lab.microscope import trace
from kernels.lab.occupancy import occupancy
from kernels.lab.oracle import check
from kernels.lab.timing import time

__all__ = ["check", "device", "exercises", "occupancy", "time", "trace"]

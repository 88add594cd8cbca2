"""What a kernel waits for, computed: counts in, cycles per FMA out.

One warp's FMA is 32 multiply-adds; M·N·K / 32 of them make a product. `Counts` says what a kernel
does for each of them, `SmRates` what one SM delivers in each cycle. Their quotients are ceilings:
in cycles of one SM per FMA, none of them can be beaten: the highest is the bound.

>>> budget = Budget(Counts(instructions=25.03, wavefronts=2.0, fp32=1), SmRates(fp32=4, dram=18.4))
>>> budget.verdict, round(budget.cycles, 3)
('issue', 6.258)
>>> round(budget.reached(8.05), 2)
0.78
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["UNITS", "Budget", "Counts", "SmRates"]

#: What each ceiling is called.
UNITS = {
    "issue": "issue slots",
    "wavefronts": "L1 and shared memory",
    "fp32": "FP32 lanes",
    "tensor": "tensor cores",
    "port": "port to L2",
    "l2": "L2",
    "dram": "DRAM",
    "latency": "latency",
}


@dataclass(frozen=True)
class Counts:
    """What a kernel does for one FMA of a warp; None where nobody counted.

    Attributes
    ----------
    instructions : float
        Instructions of warps, the FMA itself included.
    wavefronts : float
        Of L1 and shared memory, 128 bytes each at most: those of loads and stores, and what the
        tensor cores read of shared memory by themselves (`wgmma`).
    fp32 : float
        Multiply-adds of warps on the FP32 lanes: 1, or more where tiles hang over the edge.
    tensor : float
        Cycles in which an SM's tensor cores are busy.
    l2_bytes, dram_bytes : float
        Bytes between the SM and L2, and between L2 and memory, in both directions.
    l2 : float
        Cycles in which the busiest part of L2 itself is busy.
    wait : float
        Cycles that a warp spends on each FMA whoever else is there: waiting for data or for its
        last result, and issuing.
    warps : float
        Warps that an SM holds meanwhile.
    sources : mapping of str to str
        Where each count comes from.
    """

    instructions: float | None = None
    wavefronts: float | None = None
    fp32: float | None = None
    tensor: float | None = None
    l2_bytes: float | None = None
    dram_bytes: float | None = None
    l2: float | None = None
    wait: float | None = None
    warps: float | None = None
    sources: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SmRates:
    """What one SM delivers in each cycle.

    Attributes
    ----------
    fp32 : float
        Multiply-adds of warps: its FP32 lanes over 32.
    dram : float
        Bytes from memory: its share of what the memory delivers.
    port : float
        Bytes from L2: the width of an SM's port to it.
    issue : float
        Instructions of warps: one for each of four schedulers.
    wavefronts : float
        Of L1 and shared memory together.
    tensor : float or None
        Multiply-adds of the tensor cores in the number format at hand.
    """

    fp32: float
    dram: float
    port: float = 64
    issue: float = 4
    wavefronts: float = 1
    tensor: float | None = None


@dataclass(frozen=True)
class Budget:
    """The ceilings of a kernel on a GPU.

    Attributes
    ----------
    counts : Counts
    limits : SmRates
    """

    counts: Counts
    limits: SmRates

    @property
    def ceilings(self) -> dict[str, float]:
        """Cycles that an SM needs per FMA at least, by what it needs them for."""
        counts, limits = self.counts, self.limits
        found = {
            "issue": (counts.instructions, limits.issue),
            "wavefronts": (counts.wavefronts, limits.wavefronts),
            "fp32": (counts.fp32, limits.fp32),
            "tensor": (counts.tensor, 1),
            "port": (counts.l2_bytes, limits.port),
            "l2": (counts.l2, 1),
            "dram": (counts.dram_bytes, limits.dram),
            # Little's law: with w warps in flight, one finishes every 1/w of its own time.
            "latency": (counts.wait, counts.warps),
        }
        return {name: count / limit for name, (count, limit) in found.items() if count and limit}

    @property
    def verdict(self) -> str:
        """The highest ceiling, a key of `UNITS`."""
        ceilings = self.ceilings
        return max(ceilings, key=ceilings.__getitem__)

    @property
    def cycles(self) -> float:
        """The highest ceiling, in cycles of one SM per FMA."""
        return self.ceilings[self.verdict]

    def reached(self, measured: float) -> float:
        """The share of `measured` cycles per FMA that the highest ceiling explains."""
        return self.cycles / measured

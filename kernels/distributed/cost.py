"""How long a schedule takes: the arithmetic, the traffic, and both at the same time.

Two things work in every rank: its arithmetic units and its link. A step's products wait for what
they multiply; its fetches wait for a free buffer, which the products of two steps before gave back.
The slowest rank decides each part of a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from kernels.distributed.schedule import Move, Schedule, Step, nbytes

__all__ = ["Machine", "Prediction", "predict"]


@dataclass(frozen=True)
class Machine:
    """What the prediction knows of the GPUs and of the links between them.

    Attributes
    ----------
    flops : float
        FLOP/s that one GPU reaches in a large product of the number format.
    bandwidth : float
        Bytes per second that a rank sends, and receives at the same time.
    latency : float
        Seconds before the first byte of a move arrives.
    launch : float
        Seconds that a product takes beyond its arithmetic.
    """

    flops: float
    bandwidth: float
    latency: float = 0.0
    launch: float = 0.0


class Moment(NamedTuple):
    """When a step's fetches, products and sums begin and end, in seconds from the start."""

    fetches: tuple[float, float]
    products: tuple[float, float]
    sums: tuple[float, float]


@dataclass(frozen=True)
class Prediction:
    """Predicted times of one product, in seconds.

    Attributes
    ----------
    arithmetic, traffic : float
        Each alone.
    seconds : float
        Both, overlapped as far as the schedule allows.
    timeline : tuple of Moment
        By step.
    """

    arithmetic: float
    traffic: float
    seconds: float
    timeline: tuple[Moment, ...]

    @property
    def in_turn(self) -> float:
        """The time without overlap: first what moves, then what is multiplied, in each step."""
        return self.arithmetic + self.traffic

    @property
    def exposed(self) -> float:
        """The part of the traffic that arithmetic does not hide."""
        return self.seconds - self.arithmetic


def predict(schedule: Schedule, machine: Machine, itemsize: int = 4) -> Prediction:
    """Predict the time of a schedule on a machine; `itemsize` is that of A and B, in bytes."""
    arithmetic = traffic = link = units = 0.0
    timeline: list[Moment] = []
    for number, step in enumerate(schedule.steps):
        fetching = _moving(step.fetches, schedule.grid.size, machine, itemsize)
        multiplying = _multiplying(step, machine)
        summing = _moving(step.sums, schedule.grid.size, machine, itemsize)
        before = timeline[number - 2] if number > 1 else Moment((0, 0), (0, 0), (0, 0))
        fetch = max(link, before.products[1]) if step.fetches else link
        fetched = fetch + fetching
        begin = max(units, fetched if step.fetches else 0.0, before.sums[1] if step.sums else 0.0)
        units = begin + multiplying
        send = max(fetched, units) if step.sums else fetched
        link = send + summing
        timeline.append(Moment((fetch, fetched), (begin, units), (send, link)))
        arithmetic, traffic = arithmetic + multiplying, traffic + fetching + summing
    return Prediction(arithmetic, traffic, max(link, units), tuple(timeline))


def _moving(moves: tuple[Move, ...], ranks: int, machine: Machine, itemsize: int) -> float:
    """Seconds until the rank that sends or receives most is done; links work both ways at once."""
    if not moves:
        return 0.0
    sent, received = [0] * ranks, [0] * ranks
    for move in moves:
        sent[move.source] += nbytes(move.tile, itemsize)
        received[move.to] += nbytes(move.tile, itemsize)
    return machine.latency + max(sent + received) / machine.bandwidth


def _multiplying(step: Step, machine: Machine) -> float:
    """Seconds until the rank that multiplies most is done."""
    flop: dict[int, float] = {}
    for product in step.products:
        flop[product.rank] = flop.get(product.rank, 0.0) + product.flop
    return machine.launch + max(flop.values()) / machine.flops

"""How long a schedule takes: the arithmetic, the traffic, and both at the same time.

Two things work in every rank: its arithmetic units and its link. A step's products wait for what
they multiply; its fetches wait for a free buffer, which the products of two steps before gave back.
The slowest rank decides each part of a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

from kernels.distributed.schedule import Move, Schedule, Step, Tile, nbytes

__all__ = ["Machine", "Prediction", "broadcast", "collective", "overlapped", "predict"]


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
    start : float
        Seconds that a collective takes beyond its steps.
    """

    flops: float
    bandwidth: float
    latency: float = 0.0
    launch: float = 0.0
    start: float = 0.0


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
    """Seconds until the rank that sends or receives most is done; links work both ways at once.

    A tile that several ranks get goes from each of them to the next, in pieces.
    """
    chains: dict[tuple[Tile, int], list[int]] = {}
    for move in moves:
        chains.setdefault((move.tile, move.source), []).append(move.to)
    sent, received, start = [0] * ranks, [0] * ranks, 0.0
    for (tile, source), chain in chains.items():
        size = nbytes(tile, itemsize)
        for here, there in zip([source, *chain], chain, strict=False):
            sent[here] += size
            received[there] += size
        alone = broadcast(size, len(chain), machine)
        start = max(start, alone - size / machine.bandwidth)
    return start + max(sent + received) / machine.bandwidth


def broadcast(size: int, receivers: int, machine: Machine) -> float:
    """Seconds until a chain of ranks has passed on `size` bytes, in the best number of pieces.

    With s pieces and h receivers it takes s + h - 1 steps of one piece each.
    """
    if not receivers:
        return 0.0
    whole, latency = size / machine.bandwidth, machine.latency
    pieces = sqrt((receivers - 1) * whole / latency) if latency else float("inf")
    if pieces <= 1:
        return receivers * (latency + whole)
    return whole + (receivers - 1) * latency + 2 * sqrt((receivers - 1) * latency * whole)


#: Steps of a ring for each collective, as multiples of p - 1; each moves a p-th of the array.
ROUNDS = {"all_reduce": 2, "reduce_scatter": 1, "all_gather": 1, "all_to_all": 1}


def collective(kind: str, size: int, ranks: int, machine: Machine) -> float:
    """Seconds of a collective from latency and bandwidth: in each step, every rank sends a part.

    Parameters
    ----------
    kind : str
        ``"all_reduce"``, ``"reduce_scatter"``, ``"all_gather"``, ``"all_to_all"``: p - 1 steps
        with a p-th of the array each, twice as many for the first. Or ``"exchange"``: one step.
    size : int
        Bytes of the whole array: of each rank's sum, or of all gathered parts together.
    ranks : int
    machine : Machine
    """
    if ranks == 1:
        return 0.0
    if kind == "exchange":
        return machine.start + machine.latency + size / machine.bandwidth
    steps = ROUNDS[kind] * (ranks - 1)
    return machine.start + steps * (machine.latency + size / ranks / machine.bandwidth)


def overlapped(products: Sequence[float], transfers: Sequence[float]) -> Prediction:
    """Products and transfers in seconds: transfer i waits for product i and for transfer i - 1."""
    units = link = 0.0
    timeline: list[Moment] = []
    for product, transfer in zip(products, transfers, strict=True):
        begin, units = units, units + product
        send = max(link, units)
        link = send + transfer
        timeline.append(Moment((begin, begin), (begin, units), (send, link)))
    return Prediction(sum(products), sum(transfers), link, tuple(timeline))


def _multiplying(step: Step, machine: Machine) -> float:
    """Seconds until the rank that multiplies most is done."""
    flop: dict[int, float] = {}
    for product in step.products:
        flop[product.rank] = flop.get(product.rank, 0.0) + product.flop
    return machine.launch + max(flop.values()) / machine.flops

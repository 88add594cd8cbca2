"""Ranks without a GPU: processes that send each other tiles as files in the folder they share."""

from __future__ import annotations

import os
from itertools import count
from time import sleep
from typing import Any

import numpy as np

from kernels.distributed import machine, simulation
from kernels.distributed.executor import Executor
from kernels.distributed.processes import Team
from kernels.distributed.schedule import Move, Product, Schedule, Tile
from kernels.distributed.store import Store

__all__ = ["Mailbox"]

PAUSE = 0.002  #: seconds between two looks into the folder


class Mailbox:
    """One rank's end: every message has the number of its kind between the same two ranks."""

    def __init__(self, team: Team) -> None:
        self.team, self.numbers = team, {}

    def _path(self, source: int, to: int) -> Any:
        number = next(self.numbers.setdefault((source, to), count()))
        return self.team.folder / f"{source}-{to}-{number}.npy"

    def send(self, array: np.ndarray, to: int) -> None:
        """Send an array: it is there whole, or not yet."""
        path = self._path(self.team.rank, to)
        part = path.with_suffix(".part")
        with open(part, "wb") as file:
            np.save(file, array)
        os.replace(part, path)

    def receive(self, source: int) -> np.ndarray:
        """Wait for the next array of a rank."""
        path = self._path(source, self.team.rank)
        while not path.exists():
            sleep(PAUSE)
        array = np.load(path)
        path.unlink()
        return array

    def barrier(self) -> None:
        """Wait for all ranks."""
        others = [rank for rank in range(self.team.ranks) if rank != self.team.rank]
        for rank in others:
            self.send(np.empty(0), rank)
        for rank in others:
            self.receive(rank)

    def executor(self, job: Any, plan: Schedule) -> MailboxExecutor:
        return MailboxExecutor(self, plan, job)

    def block(self, executor: Executor) -> np.ndarray:
        return executor.stores[self.team.rank].C

    def close(self) -> None:
        """Nothing is open between messages."""


class MailboxExecutor(Executor):
    """One rank's part of a schedule, with NumPy."""

    def __init__(self, mailbox: Mailbox, schedule: Schedule, job: Any) -> None:
        self.mailbox, self.schedule, self.rank = mailbox, schedule, mailbox.team.rank
        dtype, out = str(job.matrix("A").dtype), str(machine.stored(job.out_dtype))
        store = Store(schedule, self.rank, simulation.poisoned, dtype, out)
        self.stores = {self.rank: store}
        self.sent = self.received = 0

    def fill(self, store: Store, A: Any, B: Any) -> None:
        store.fill(np.copyto, A, B)

    def transfer(self, number: int, moves: tuple[Move, ...]) -> None:
        store = self.stores[self.rank]
        for tile, source, to in moves:
            if source == self.rank:
                here = store.outgoing(tile, number)
                self.mailbox.send(here, to)
                self.sent += here.nbytes
        for tile, source, to in moves:
            if to == self.rank:
                there = store.incoming(tile, number)
                np.copyto(there, self.mailbox.receive(source))
                self.received += there.nbytes

    def multiply(self, number: int, product: Product) -> None:
        store = self.stores[self.rank]
        target, add = store.target(product.c, number)
        simulation.gemm(store.tile(product.a), store.tile(product.b), target, add)

    def add(self, number: int, rank: int, tile: Tile) -> None:
        simulation.add(self.stores[rank], tile, number)

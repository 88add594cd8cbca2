"""One process for each rank: started together, watched, and ended together.

Whatever happens, no process stays: not when a rank dies, not when one fails or waits for ever, not
when the caller is interrupted; and a rank whose caller is gone ends itself.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import monotonic
from typing import Any

__all__ = ["Team", "together"]

#: Seconds that a rank has to end by itself before it is killed.
GRACE = 5.0


@dataclass(frozen=True)
class Team:
    """What a rank knows of the others.

    Attributes
    ----------
    rank, ranks : int
    folder : Path
        An empty folder that all of them share; it is gone when they are.
    tell : callable
        Sends a value to the caller at once.
    """

    rank: int
    ranks: int
    folder: Path
    tell: Callable[[Any], None]


def together(
    work: Callable[..., Any],
    ranks: int,
    *arguments: Any,
    seconds: float,
    heard: Callable[[int, Any], None] = lambda rank, told: None,
) -> list[Any]:
    """Call ``work(team, *arguments)`` in one process for each rank; what each returned.

    Parameters
    ----------
    work : callable
        A function of a module, so that another process can import it.
    ranks : int
    *arguments
        For all ranks alike; they are pickled.
    seconds : float
        How long the whole may take.
    heard : callable
        Called with the rank and the value for each that a rank tells before it is done.

    Raises
    ------
    RuntimeError
        In one line: a rank died or failed. The others have been ended then.
    TimeoutError
        In one line: not all ranks were done in time.
    """
    context, end = multiprocessing.get_context("spawn"), monotonic() + seconds
    processes, pipes = [], {}
    with tempfile.TemporaryDirectory(prefix="kernels-") as folder:
        try:
            for rank in range(ranks):
                here, there = context.Pipe()
                arguments_of = (work, rank, ranks, folder, there, arguments)
                process = context.Process(target=_begin, args=arguments_of, daemon=True)
                process.start()
                there.close()
                processes.append(process)
                pipes[here] = rank
            return _listen(processes, pipes, end, seconds, heard)
        finally:
            _end(processes)


def _listen(
    processes: list[Any],
    pipes: dict[Connection, int],
    end: float,
    seconds: float,
    heard: Callable[[int, Any], None],
) -> list[Any]:
    """Collect what the ranks return, until all have or one cannot."""
    results: dict[int, Any] = {}
    while len(results) < len(processes):
        waiting = [pipe for pipe, rank in pipes.items() if rank not in results]
        ready = wait(waiting, max(0.0, end - monotonic()))
        if not ready:
            missing = ", ".join(str(pipes[pipe]) for pipe in waiting)
            raise TimeoutError(
                f"rank {missing} of {len(processes)} was not done within {seconds:.0f} s, and all"
                " were ended: allow more time, or use smaller sizes"
            )
        for pipe in ready:
            rank = pipes[pipe]
            try:
                kind, value = pipe.recv()
            except (EOFError, OSError):
                processes[rank].join(GRACE)
                raise RuntimeError(
                    f"rank {rank} of {len(processes)} died ({_how(processes[rank].exitcode)}), and"
                    " the others were ended: run it again"
                ) from None
            if kind == "failed":
                raise RuntimeError(f"rank {rank} of {len(processes)}: {value}")
            if kind == "done":
                results[rank] = value
            else:
                heard(rank, value)
    return [results[rank] for rank in range(len(processes))]


def _how(exitcode: int | None) -> str:
    if exitcode is None:
        return "it hangs"
    return f"signal {-exitcode}" if exitcode < 0 else f"exit code {exitcode}"


def _end(processes: list[Any]) -> None:
    """End all processes that are still there, and wait until they are gone."""
    for process in processes:
        process.terminate()
    end = monotonic() + GRACE
    for process in processes:
        process.join(max(0.0, end - monotonic()))
        if process.is_alive():
            process.kill()
            process.join()


def _begin(
    work: Callable[..., Any], rank: int, ranks: int, folder: str, pipe: Connection, arguments: tuple
) -> None:
    """What a rank's process runs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the caller hears it, and ends all ranks
    threading.Thread(target=_end_with_caller, args=(pipe,), daemon=True).start()
    team = Team(rank, ranks, Path(folder), lambda told: pipe.send(("told", told)))
    try:
        pipe.send(("done", work(team, *arguments)))
    except Exception as error:
        pipe.send(("failed", " ".join(f"{error}".split()) or type(error).__name__))


def _end_with_caller(pipe: Connection) -> None:
    """End this process as soon as its caller is gone: the caller sends nothing, so EOF says it."""
    try:
        pipe.recv()
    except (EOFError, OSError):
        os._exit(1)

"""One run of the benchmark of several GPUs, which resumes an interrupted one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernels.basics.files import ROOT, slug
from kernels.distributed import lock, machine
from kernels.distributed.grid import Grid
from kernels.measure.bench import run
from kernels.measure.bench.provenance import versions as packages
from kernels.measure.bench.step import Step
from kernels.measure.distributed import collectives, ladder, links, peers, traffic

__all__ = ["kept", "measured", "name", "steps"]

#: Where finished steps are kept.
KEPT = ROOT / "_build" / "bench-gpus.json"


def name(gpu: str, gpus: int) -> str:
    """The record of several GPUs of a kind: ``"h200x2"``."""
    return f"{slug(gpu)}x{gpus}"


def kept(only: str = "") -> Path:
    """Where finished steps wait: a part leaves an interrupted whole run alone."""
    return KEPT.with_stem(f"{KEPT.stem}-part") if only else KEPT


def steps(gpus: int) -> list[Step]:
    """The links first, then the products."""
    return [
        Step("links", lambda: links.measure(gpus)),
        Step("traffic", lambda: traffic.measure(gpus)),
        Step("collectives", lambda: collectives.measure(gpus)),
        *ladder.steps(gpus),
    ]


def measured(
    gpus: int,
    about: dict[str, Any],
    facts: dict[str, Any],
    folder: Path | None = None,
    report: Callable[[str, int, int], None] = lambda step, done, total: None,
    only: str = "",
) -> Path:
    """Measure everything on this many GPUs, or the steps with `only` in their names; the file.

    Parameters
    ----------
    gpus : int
    about, facts : dict
        Provenance, and what the driver says of one GPU.
    folder, report
        As in `kernels.measure.bench.run.run`.

    Raises
    ------
    RuntimeError, ValueError
        In one line: too few GPUs, another run is alive, or no step of that name.
    """
    machine.check_gpus(Grid(gpus))
    todo, record = run.named(steps(gpus), only), name(about["gpu"], gpus)
    about = {
        **about,
        "gpu": f"{gpus} × {about['gpu']}",
        "versions": {**about["versions"], **libraries()},
    }
    missing = peers.cublasmp_missing()
    if missing:
        about["missing"] = missing
    with lock.alone():
        return run.run(
            todo, about=about, facts=facts, kept=kept(only), folder=folder, report=report,
            name=record,
        )  # fmt: skip


def libraries() -> dict[str, str]:
    """Versions of what only several GPUs need."""
    found = packages(("torch", "nvmath-python"))
    version = peers.nccl_version()
    return found | ({"nccl": version} if version else {})

"""Clusters: blocks that start together, know their rank and reach each other."""

from __future__ import annotations

import numpy as np

from ..errors import KernelError
from ..sites import Kind
from .blocks import Wait, active, here


def rank(run, n, m):
    """``cluster_ctarank()``."""
    return np.uint32(here(run).block.rank)


def arrive(run, n, m):
    """``cluster_arrive()``."""
    warp = here(run)
    cluster = warp.block.cluster
    if warp.at == cluster.phase:
        message = "cluster_arrive() twice without cluster_wait() between: call it once a phase"
        cluster.problem(Kind.ARRIVALS, n.lineno, message, warp.block.number, warp.thread(0))
        return
    warp.at = cluster.phase
    cluster.arrived[warp] = warp.tell()
    complete(cluster)


def complete(cluster) -> None:
    """Let the warps of a cluster pass its barrier where all that have not ended are there."""
    warps = [w for b in cluster.blocks for w in b.warps if not w.ended]
    if not cluster.arrived or any(w not in cluster.arrived for w in warps):
        return
    cluster.told = [np.maximum.reduce(c) for c in zip(*cluster.arrived.values(), strict=True)]
    cluster.arrived = {}
    cluster.phase += 1


def wait(run, n, m):
    """``cluster_wait()`` (a generator)."""
    warp = here(run)
    cluster, mine = warp.block.cluster, warp.at
    if mine is None:
        message = "cluster_wait() without cluster_arrive() before it"
        cluster.problem(Kind.ARRIVALS, n.lineno, message, warp.block.number, warp.thread(0))
        return

    def missing() -> str:
        behind = sum(w not in cluster.arrived for b in cluster.blocks for w in b.warps)
        return f"the barrier of the cluster, to which {behind} warps have not come"

    yield Wait(n.lineno, lambda: cluster.phase > mine, missing)
    warp.learn(*cluster.told)


def sync(run, n, m):
    """``cluster_sync()`` (a generator)."""
    if not active(run, m).all():
        raise KernelError(f"line {n.lineno}: cluster_sync() is called by all threads of a warp")
    arrive(run, n, m)
    yield from wait(run, n, m)


def dims(run, n, m, *, blocks: int):
    """``cluster_dims(blocks)()``: the launch has seen to it."""


def registers(run, n, m, count):
    """``setmaxnreg_inc(count)`` and ``setmaxnreg_dec``: checked, nothing else."""
    if count % 8 or not 24 <= count <= 256:
        raise KernelError(f"line {n.lineno}: {count} registers: use a multiple of 8, 24 to 256")
    together_by_groups(run, n, m)


def together_by_groups(run, n, m) -> None:
    """``setmaxnreg`` is for whole warpgroups."""
    if active(run, m).all():
        return
    warp = here(run)
    message = "setmaxnreg is called by all threads of a warpgroup, and some take another way"
    warp.block.cluster.problem(
        Kind.DIVERGENT_BARRIER, n.lineno, message, warp.block.number, warp.thread(0)
    )


def nothing(run, n, m):
    """What has no meaning for one launch alone."""


FUNCTIONS = {
    "cluster_ctarank": rank,
    "cluster_arrive": arrive,
    "cluster_dims": dims,
    "setmaxnreg_inc": registers,
    "setmaxnreg_dec": registers,
    "griddepcontrol_wait": nothing,
    "griddepcontrol_launch_dependents": nothing,
}
WAITS = {"cluster_wait": wait, "cluster_sync": sync}

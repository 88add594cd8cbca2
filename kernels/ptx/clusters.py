"""Clusters: blocks that start together, and reach each other's shared memory.

Source: NVIDIA, *PTX ISA*, sections "Cluster of Cooperative Thread Arrays", "barrier.cluster",
"mapa" and "st.async".
"""

from functools import cache

from kernels.ptx.instruction import Instruction, assembly, made
from kernels.ptx.operands import f32, u32

__all__ = [
    "cluster_arrive",
    "cluster_ctarank",
    "cluster_dims",
    "cluster_sync",
    "cluster_wait",
    "mapa",
    "st_async_v4_f32",
]


class _Dims(Instruction):
    """What makes clusters of a kernel: no instruction, but a note to the compiler."""

    intrinsic = "cluster_dims"


@cache
def cluster_dims(blocks: int):
    """Return a function of no arguments: a kernel that calls it runs in clusters; sm_90.

    Parameters
    ----------
    blocks : int
        Blocks of a cluster, neighbours in x: 1 to 8. The grid's width is a multiple of it.

    Raises
    ------
    ValueError
        If no GPU has such clusters.
    """
    if not 1 <= blocks <= 8:
        raise ValueError(f"a cluster of {blocks} blocks is more than every GPU has: use 1 to 8")
    return made(_Dims("ptx.cluster_dims", "", {}, least=(9, 0), choices={"blocks": blocks}))


@assembly("mov.u32 <0>, %cluster_ctarank;", gives=(u32,), least=(9, 0), memory=False)
def cluster_ctarank():
    """Return the number of this block in its cluster, from 0; sm_90."""


@assembly("barrier.cluster.arrive.release.aligned;", least=(9, 0))
def cluster_arrive():
    """Arrive at the barrier of the cluster; all threads of all its blocks call it, sm_90."""


@assembly("barrier.cluster.wait.acquire.aligned;", least=(9, 0))
def cluster_wait():
    """Wait until all threads of the cluster have arrived; all of them call it, sm_90."""


@assembly(
    "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;", least=(9, 0)
)
def cluster_sync():
    """Arrive and wait: ``syncthreads`` of a whole cluster; sm_90."""


@assembly(
    "mapa.shared::cluster.u32 <0>, <address>, <rank>;", gives=(u32,), least=(9, 0), memory=False
)
def mapa(address: u32, rank: u32):
    """Return the address of the same place in the shared memory of block `rank`; sm_90."""


@assembly(
    "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32"
    " [<to>], {<a>, <b>, <c>, <d>}, [<bar>];",
    least=(9, 0),
)
def st_async_v4_f32(to: u32, a: f32, b: f32, c: f32, d: f32, bar: u32):
    """Store four floats in another block's shared memory; an mbarrier there counts 16 bytes; sm_90.

    `to` and `bar` are addresses of `mapa`, of one block; `to` on a 16-byte boundary.
    """

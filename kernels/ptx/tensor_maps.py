"""Copies of whole tiles by the TMA unit: one thread asks, the unit computes all addresses.

A *tensor map* (`kernels.host.tma.tensor_map`) says what the unit has to know of a matrix: address,
shape, pitch, the box that is copied at once, and how its rows are swizzled in shared memory: the
16-byte chunk c of row r, of 128 bytes, lies at chunk c ^ (r % 8). A box starts on a 1024-byte
boundary. What lies beyond the edges of the matrix is filled with zeros when loaded and dropped when
stored; an mbarrier counts all bytes of the box either way.

Source: NVIDIA, *PTX ISA*, section "cp.async.bulk.tensor".
"""

from kernels.ptx.instruction import assembly
from kernels.ptx.operands import Literal, TensorMap, i32, u16, u32

__all__ = [
    "cp_async_bulk_commit_group",
    "cp_async_bulk_prefetch_tensor_3d",
    "cp_async_bulk_tensor_2d_load",
    "cp_async_bulk_tensor_2d_load_multicast",
    "cp_async_bulk_tensor_2d_store",
    "cp_async_bulk_tensor_3d_load",
    "cp_async_bulk_tensor_3d_load_multicast",
    "cp_async_bulk_tensor_3d_store",
    "cp_async_bulk_wait_group",
    "cp_async_bulk_wait_group_read",
    "fence_proxy_async",
    "prefetch_tensormap",
]

LOAD = "shared::cluster.global.mbarrier::complete_tx::bytes"
STORE = "global.shared::cta.bulk_group"


@assembly("prefetch.tensormap [<map>];", least=(9, 0))
def prefetch_tensormap(map: TensorMap):
    """Fetch a tensor map itself, before the first copy needs it; sm_90. One thread calls it."""


@assembly("cp.async.bulk.prefetch.tensor.3d.L2.global.tile [<map>, {<x>, <y>, <z>}];", least=(9, 0))
def cp_async_bulk_prefetch_tensor_3d(map: TensorMap, x: i32, y: i32, z: i32):
    """Ask for a box to come into L2; no one waits. One thread calls it, sm_90."""


@assembly(f"cp.async.bulk.tensor.2d.{LOAD} [<to>], [<map>, {{<x>, <y>}}], [<bar>];", least=(9, 0))
def cp_async_bulk_tensor_2d_load(to: u32, map: TensorMap, x: i32, y: i32, bar: u32):
    """Load the box whose first element is in column `x`, row `y`; sm_90. One thread calls it.

    `to` is an address in shared memory on a 1024-byte boundary; the mbarrier at `bar` counts the
    bytes of the box as they arrive (`mbarrier_arrive_expect_tx` announces them).
    """


@assembly(
    f"cp.async.bulk.tensor.3d.{LOAD} [<to>], [<map>, {{<x>, <y>, <z>}}], [<bar>];", least=(9, 0)
)
def cp_async_bulk_tensor_3d_load(to: u32, map: TensorMap, x: i32, y: i32, z: i32, bar: u32):
    """As `cp_async_bulk_tensor_2d_load`, of matrix `z` of several; sm_90."""


@assembly(
    f"cp.async.bulk.tensor.2d.{LOAD}.multicast::cluster"
    " [<to>], [<map>, {<x>, <y>}], [<bar>], <ranks>;",
    least=(9, 0),
)
def cp_async_bulk_tensor_2d_load_multicast(
    to: u32, map: TensorMap, x: i32, y: i32, bar: u32, ranks: u16
):
    """Load a box into every block of the cluster whose bit in `ranks` is set; sm_90.

    It goes to the same place in the shared memory of each, and the mbarrier at the same place in
    each counts its bytes. L2 is read once for all. One thread of one block calls it.
    """


@assembly(
    f"cp.async.bulk.tensor.3d.{LOAD}.multicast::cluster"
    " [<to>], [<map>, {<x>, <y>, <z>}], [<bar>], <ranks>;",
    least=(9, 0),
)
def cp_async_bulk_tensor_3d_load_multicast(
    to: u32, map: TensorMap, x: i32, y: i32, z: i32, bar: u32, ranks: u16
):
    """As `cp_async_bulk_tensor_2d_load_multicast`, of matrix `z` of several; sm_90."""


@assembly(f"cp.async.bulk.tensor.2d.{STORE} [<map>, {{<x>, <y>}}], [<source>];", least=(9, 0))
def cp_async_bulk_tensor_2d_store(map: TensorMap, x: i32, y: i32, source: u32):
    """Store a box from shared memory at column `x`, row `y`; sm_90. One thread calls it.

    What lies beyond the last column or row is dropped; a box may not start before the first. What
    ordinary stores wrote to the box is seen only after `fence_proxy_async` and a barrier.
    """


@assembly(f"cp.async.bulk.tensor.3d.{STORE} [<map>, {{<x>, <y>, <z>}}], [<source>];", least=(9, 0))
def cp_async_bulk_tensor_3d_store(map: TensorMap, x: i32, y: i32, z: i32, source: u32):
    """As `cp_async_bulk_tensor_2d_store`, to matrix `z` of several; sm_90."""


@assembly("cp.async.bulk.commit_group;", least=(9, 0))
def cp_async_bulk_commit_group():
    """Close a group: all stores that this thread has asked for since the last; sm_90."""


@assembly("cp.async.bulk.wait_group <pending>;", least=(9, 0))
def cp_async_bulk_wait_group(pending: Literal):
    """Wait until at most `pending` of this thread's groups of stores are unfinished; sm_90."""


@assembly("cp.async.bulk.wait_group.read <pending>;", least=(9, 0))
def cp_async_bulk_wait_group_read(pending: Literal):
    """Wait until at most `pending` of this thread's groups still read shared memory; sm_90."""


@assembly("fence.proxy.async.shared::cta;", least=(9, 0))
def fence_proxy_async():
    """Let the TMA and wgmma see what this thread wrote to shared memory; sm_90.

    Every thread that wrote calls it, then a barrier, and then one thread asks for the copy.
    """

"""Barriers in shared memory that count arrivals and bytes, and barriers of some warps of a block.

An *mbarrier* is 8 bytes of shared memory, on an 8-byte boundary. It counts arrivals, and bytes that
copies still owe. When both are settled its phase is over and the next begins; a waiting thread
names the parity (0, 1, 0, 1, …) of the phase it waits for.

Source: NVIDIA, *PTX ISA*, sections "Parallel Synchronization and Communication Instructions:
mbarrier" and "bar, barrier".
"""

from kernels.ptx.instruction import assembly
from kernels.ptx.operands import u32

__all__ = [
    "bar_arrive",
    "bar_sync",
    "fence_mbarrier_init",
    "mbarrier_arrive",
    "mbarrier_arrive_cluster",
    "mbarrier_arrive_expect_tx",
    "mbarrier_init",
    "mbarrier_wait_parity",
]


@assembly("mbarrier.init.shared::cta.b64 [<bar>], <count>;", least=(8, 0))
def mbarrier_init(bar: u32, count: u32):
    """Make a barrier whose phases end after `count` arrivals. One thread calls it; sm_80.

    `bar` is the address in shared memory of 8 bytes on an 8-byte boundary. The block has to pass
    ``syncthreads`` before anyone else uses it.
    """


@assembly("fence.mbarrier_init.release.cluster;", least=(9, 0))
def fence_mbarrier_init():
    """Show the barriers that this thread made to the TMA and to the cluster's blocks; sm_90."""


@assembly("mbarrier.arrive.shared::cta.b64 _, [<bar>];", least=(9, 0))
def mbarrier_arrive(bar: u32):
    """Arrive at a barrier of this block, once for each thread that calls; sm_90."""


@assembly("mbarrier.arrive.expect_tx.shared::cta.b64 _, [<bar>], <bytes>;", least=(9, 0))
def mbarrier_arrive_expect_tx(bar: u32, bytes: u32):
    """Arrive, and announce how many bytes copies will deliver in this phase; sm_90."""


@assembly(
    "{ .reg .b32 remote;\n"
    "  mapa.shared::cluster.u32 remote, <bar>, <rank>;\n"
    "  mbarrier.arrive.shared::cluster.b64 _, [remote]; }",
    least=(9, 0),
)
def mbarrier_arrive_cluster(bar: u32, rank: u32):
    """Arrive at the barrier at the same place in block `rank` of the cluster (0: the first); sm_90.

    `bar` is its address in the shared memory of this block. The arrival releases at the scope of
    this block: it says that something was read, not that something was written.
    """


@assembly(
    "{ .reg .pred done;\n"
    "again:\n"
    "  mbarrier.try_wait.parity.shared::cta.b64 done, [<bar>], <parity>;\n"
    "  @done bra over;\n"
    "  bra again;\n"
    "over: }",
    least=(9, 0),
)
def mbarrier_wait_parity(bar: u32, parity: u32):
    """Wait until the phase of this parity (0 or 1) is over; sm_90. Each thread waits for itself.

    The first phase has parity 0, and the one before it, of parity 1, counts as over.
    """


@assembly("bar.sync <number>, <threads>;")
def bar_sync(number: u32, threads: u32):
    """Wait at named barrier `number` (1 to 15; 0 is ``syncthreads``) for `threads` threads.

    Whole warps call it: `threads` is a multiple of 32, those that call `bar_arrive` included.
    """


@assembly("bar.arrive <number>, <threads>;")
def bar_arrive(number: u32, threads: u32):
    """Arrive at named barrier `number`, and go on: `threads` as in `bar_sync`."""

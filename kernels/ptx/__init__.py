"""PTX instructions that Numba lacks, as functions of kernels: ``from kernels import ptx``.

One meaning each in two places: on a GPU they are Numba intrinsics, inline assembly in the machine
code; without one the microscope runs them. They are called as PTX calls them, ``.`` and ``::`` as
``_``. Addresses in shared memory are uint32, in bytes, in global memory uint64. An argument that
cannot be is one line when the kernel is compiled: an instruction that the GPU lacks, a number that
has to be a constant, columns that wgmma does not have.

================  ==================================================================
file              instructions
================  ==================================================================
`addresses`       addresses of arrays; loads and stores of several registers
`copies`          ``cp.async``: 4, 8 or 16 bytes a thread, from sm_80 on
`barriers`        mbarriers, and named barriers of some warps
`tensor_maps`     TMA: loads, multicast and stores of whole tiles, sm_90
`fragments`       ``ldmatrix``, ``stmatrix``: how a warp holds small matrices
`mma`             the matrix product of a warp, from sm_75 on
`wgmma`           the matrix product of a warpgroup, sm_90a
`registers`       ``setmaxnreg``: registers from one warpgroup to another, sm_90a
`clusters`        blocks that reach each other's shared memory, sm_90
`launches`        programmatic dependent launch, sm_90
`arithmetic`      packed conversions, ``dp4a``, ``redux``, ``ex2``
================  ==================================================================
"""

from kernels.ptx.addresses import (
    global_address,
    ld_acquire_gpu_u32,
    ld_global_cg_v4_f32,
    ld_global_u32,
    ld_global_v4_u32,
    ld_shared_u32,
    ld_shared_v4_f32,
    shared_address,
    st_global_cg_v4_f32,
    st_global_u16,
    st_global_u32,
    st_global_v2_u32,
    st_release_gpu_u32,
    st_shared_u32,
    st_shared_v2_f32,
    st_shared_v4_f32,
    st_shared_v4_u32,
    store_pair,
)
from kernels.ptx.arithmetic import (
    cvt_f32_f16x2,
    cvt_rn_bf16x2,
    cvt_rn_f16x2,
    dp4a,
    ex2_approx,
    float_as_uint,
    fma_rn_bf16x2,
    prmt,
    rcp_approx,
    redux_sync_add,
    redux_sync_max,
    redux_sync_min,
    uint_as_float,
)
from kernels.ptx.barriers import (
    bar_arrive,
    bar_sync,
    fence_mbarrier_init,
    mbarrier_arrive,
    mbarrier_arrive_cluster,
    mbarrier_arrive_expect_tx,
    mbarrier_init,
    mbarrier_wait_parity,
)
from kernels.ptx.clusters import (
    cluster_arrive,
    cluster_ctarank,
    cluster_dims,
    cluster_sync,
    cluster_wait,
    mapa,
    st_async_v4_f32,
)
from kernels.ptx.copies import (
    cp_async_4,
    cp_async_8,
    cp_async_16,
    cp_async_commit_group,
    cp_async_wait_group,
)
from kernels.ptx.fragments import (
    ldmatrix_x1,
    ldmatrix_x1_trans,
    ldmatrix_x2,
    ldmatrix_x2_trans,
    ldmatrix_x4,
    ldmatrix_x4_trans,
    stmatrix_x1,
    stmatrix_x1_trans,
    stmatrix_x2,
    stmatrix_x2_trans,
    stmatrix_x4,
    stmatrix_x4_trans,
)
from kernels.ptx.launches import griddepcontrol_launch_dependents, griddepcontrol_wait
from kernels.ptx.mma import mma
from kernels.ptx.registers import setmaxnreg_dec, setmaxnreg_inc
from kernels.ptx.tensor_maps import (
    cp_async_bulk_commit_group,
    cp_async_bulk_prefetch_tensor_3d,
    cp_async_bulk_tensor_2d_load,
    cp_async_bulk_tensor_2d_load_multicast,
    cp_async_bulk_tensor_2d_store,
    cp_async_bulk_tensor_3d_load,
    cp_async_bulk_tensor_3d_load_multicast,
    cp_async_bulk_tensor_3d_store,
    cp_async_bulk_wait_group,
    cp_async_bulk_wait_group_read,
    fence_proxy_async,
    prefetch_tensormap,
)
from kernels.ptx.wgmma import (
    matrix_descriptor,
    settle,
    wgmma,
    wgmma_commit_group,
    wgmma_fence,
    wgmma_wait_group,
)

__all__ = [
    "bar_arrive",
    "bar_sync",
    "cluster_arrive",
    "cluster_ctarank",
    "cluster_dims",
    "cluster_sync",
    "cluster_wait",
    "cp_async_16",
    "cp_async_4",
    "cp_async_8",
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
    "cp_async_commit_group",
    "cp_async_wait_group",
    "cvt_f32_f16x2",
    "cvt_rn_bf16x2",
    "cvt_rn_f16x2",
    "dp4a",
    "ex2_approx",
    "fence_mbarrier_init",
    "fence_proxy_async",
    "float_as_uint",
    "fma_rn_bf16x2",
    "global_address",
    "ld_acquire_gpu_u32",
    "ld_global_cg_v4_f32",
    "griddepcontrol_launch_dependents",
    "griddepcontrol_wait",
    "ld_global_u32",
    "ld_global_v4_u32",
    "ld_shared_u32",
    "ld_shared_v4_f32",
    "ldmatrix_x1",
    "ldmatrix_x1_trans",
    "ldmatrix_x2",
    "ldmatrix_x2_trans",
    "ldmatrix_x4",
    "ldmatrix_x4_trans",
    "mapa",
    "matrix_descriptor",
    "mbarrier_arrive",
    "mbarrier_arrive_cluster",
    "mbarrier_arrive_expect_tx",
    "mbarrier_init",
    "mbarrier_wait_parity",
    "mma",
    "prefetch_tensormap",
    "prmt",
    "rcp_approx",
    "redux_sync_add",
    "redux_sync_max",
    "redux_sync_min",
    "setmaxnreg_dec",
    "setmaxnreg_inc",
    "settle",
    "shared_address",
    "st_async_v4_f32",
    "st_global_cg_v4_f32",
    "st_global_u16",
    "st_global_u32",
    "st_global_v2_u32",
    "st_release_gpu_u32",
    "st_shared_u32",
    "st_shared_v2_f32",
    "st_shared_v4_f32",
    "st_shared_v4_u32",
    "stmatrix_x1",
    "stmatrix_x1_trans",
    "stmatrix_x2",
    "stmatrix_x2_trans",
    "stmatrix_x4",
    "stmatrix_x4_trans",
    "store_pair",
    "uint_as_float",
    "wgmma",
    "wgmma_commit_group",
    "wgmma_fence",
    "wgmma_wait_group",
]

"""A matrix product in CuTe DSL for Hopper: the pipeline of `specialized`, in the library's words.

Its author still says who loads and who multiplies, how many stages there are and when one is
released. The library computes layouts, descriptors and which thread holds what. It multiplies
whole tiles only. This file needs the package nvidia-cutlass-dsl and no GPU; give it an environment
of its own. `peer_cute` launches what it writes. ::

    python -m venv cute && cute/bin/pip install nvidia-cutlass-dsl==4.8.1
    cute/bin/python -m kernels.measure.cute_product
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

os.environ.setdefault("CUTE_DSL_ARCH", "sm_90a")  # without a GPU, nothing else says for which

import cutlass  # noqa: E402
from cutlass import cute, pipeline  # noqa: E402
from cutlass.cute.nvgpu import cpasync, warpgroup  # noqa: E402
from cutlass.memory import SmemAllocator  # noqa: E402
from cutlass.tensor_utils import LayoutEnum  # noqa: E402
from cutlass.utils import hopper_helpers as hopper  # noqa: E402

from kernels.measure.described import described, store  # noqa: E402

#: Where the machine code goes.
FOLDER = Path(__file__).resolve().parents[2] / "_build" / "cute" / "sm_90"
NUMBERS = {"float16": cutlass.Float16, "bfloat16": cutlass.BFloat16}

BM, BN, BK = 128, 256, 64
STAGES, CONSUMERS, GROUP = 4, 2, 16


def pairs(tensor):
    """A tensor with its first two modes, a tile's rows and columns, as one."""
    return cute.group_modes(tensor, 0, 2)


@cute.kernel
def product(
    load_A: cute.CopyAtom, A: cute.Tensor, load_B: cute.CopyAtom, B: cute.Tensor, C: cute.Tensor,
    mma: cute.TiledMma, in_A: cute.ComposedLayout, in_B: cute.ComposedLayout,
    number: cutlass.Constexpr,
):  # fmt: skip
    tid, _, _ = cute.arch.thread_idx()
    role = cute.arch.make_warp_uniform(tid // 128)
    # Blocks that run together share tiles in L2: GROUP rows of tiles first.
    (x, y, _), (across, down, _) = cute.arch.block_idx(), cute.arch.grid_dim()
    block = y * across + x
    first = block // (GROUP * across) * GROUP
    height = cutlass.min(down - first, GROUP)
    within = block - first * across
    row, col = first + within % height, within // height

    shared = SmemAllocator()
    tiles_A = shared.allocate_tensor(number, in_A.outer, 1024, in_A.inner)
    tiles_B = shared.allocate_tensor(number, in_B.outer, 1024, in_B.inner)
    rows, cols = (
        cute.local_tile(A, (BM, BK), (row, None)),
        cute.local_tile(B, (BN, BK), (col, None)),
    )
    to_A, from_A = cpasync.tma_partition(
        load_A, 0, cute.make_layout(1), pairs(tiles_A), pairs(rows)
    )
    to_B, from_B = cpasync.tma_partition(
        load_B, 0, cute.make_layout(1), pairs(tiles_B), pairs(cols)
    )
    producer, consumer = pipeline.PipelineTmaAsync.create(
        num_stages=STAGES,
        producer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread),
        consumer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread, 4 * CONSUMERS),  # warps
        tx_count=2 * BK * (BM + BN),
        barrier_storage=shared.allocate_array(cutlass.Int64, 2 * STAGES),
        cta_layout_vmnk=cute.make_layout((1, 1, 1, 1)),
    ).make_participants()

    steps = cute.size(rows, mode=[2])
    if role == 0:
        cute.arch.setmaxregister_decrease(40)
        if cute.arch.warp_idx() == 0:
            for step in cutlass.range(steps, unroll=1):
                to = producer.acquire_and_advance()
                cute.copy(load_A, from_A[None, step], to_A[None, to.index], tma_bar_ptr=to.barrier)
                cute.copy(load_B, from_B[None, step], to_B[None, to.index], tma_bar_ptr=to.barrier)
    else:
        cute.arch.setmaxregister_increase(232)
        mine = mma.get_slice(tid - 128)
        a = mma.make_fragment_A(mine.partition_A(tiles_A))
        b = mma.make_fragment_B(mine.partition_B(tiles_B))
        c = mine.partition_C(cute.local_tile(C, (BM, BN), (row, col)))
        acc = cute.make_rmem_tensor(c.shape, cutlass.Float32)
        mma.set(warpgroup.Field.ACCUMULATE, False)  # the first product finds no sums
        previous = consumer.clone()
        for step in cutlass.range(steps, unroll=1):
            at = consumer.wait_and_advance().index
            warpgroup.fence()
            for k in cutlass.range_constexpr(cute.size(a, mode=[2])):
                cute.gemm(mma, acc, a[None, None, k, at], b[None, None, k, at], acc)
                mma.set(warpgroup.Field.ACCUMULATE, True)
            warpgroup.commit_group()
            warpgroup.wait_group(1)
            if step > 0:
                previous.release()
                previous.advance()
        warpgroup.wait_group(0)
        cute.autovec_copy(acc, c)


@cute.jit
def launch(A: cute.Tensor, B: cute.Tensor, C: cute.Tensor):
    """C = A·B, row-major: A is M×K, B is K×N; C is M×N, of float32, and of whole tiles."""
    B = cute.make_tensor(B.iterator, cute.select(B.layout, mode=[1, 0]))  # CuTe's B is N×K
    number, tile = A.element_type, (BM, BN, BK)
    of_A, of_B = LayoutEnum.from_tensor(A), LayoutEnum.from_tensor(B)
    mma = hopper.make_trivial_tiled_mma(
        number, number, of_A.sm90_mma_major_mode(), of_B.sm90_mma_major_mode(),
        cutlass.Float32, (CONSUMERS, 1, 1), (64, BN),
    )  # fmt: skip
    in_A = hopper.make_smem_layout_a(of_A, tile, number, STAGES)
    in_B = hopper.make_smem_layout_b(of_B, tile, number, STAGES)
    one_A, one_B = (cute.slice_(layout, (None, None, 0)) for layout in (in_A, in_B))
    load_A, A = cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileG2SOp(), A, one_A, (BM, BK))
    load_B, B = cpasync.make_tiled_tma_atom(cpasync.CopyBulkTensorTileG2SOp(), B, one_B, (BN, BK))
    product(load_A, A, load_B, B, C, mma, in_A, in_B, number).launch(
        grid=(C.shape[1] // BN, C.shape[0] // BM, 1), block=(128 * (1 + CONSUMERS), 1, 1)
    )


def compiled(dtype: str) -> tuple[bytes, str]:
    """Return the product's machine code for Hopper, and its PTX, for two matrices of `NUMBERS`."""
    M, N, K = (cute.sym_int(divisibility=size) for size in (BM, BN, BK))
    shapes = ((NUMBERS[dtype], (M, K)), (NUMBERS[dtype], (K, N)), (cutlass.Float32, (M, N)))
    matrices = [
        cute.runtime.make_fake_compact_tensor(
            number, shape, stride_order=(1, 0), assumed_align=16, use_32bit_stride=False
        )
        for number, shape in shapes
    ]
    with TemporaryDirectory() as folder:
        cute.compile(launch, *matrices, options=f"--keep-cubin --keep-ptx --dump-dir={folder}")
        (code,), (ptx,) = (sorted(Path(folder).glob(f"*.{kind}")) for kind in ("cubin", "ptx"))
        return code.read_bytes(), ptx.read_text(encoding="utf-8").rstrip("\0")


def main(words: list[str]) -> None:
    """Compile for each number format, or with ``describe`` say what the code holds."""
    if words == ["describe"]:
        shared = STAGES * (2 * BK * (BM + BN) + 2 * 8)
        found = {"sm_90": described(compiled("float16")[1], shared)}
        store("CuTe DSL", ("nvidia-cutlass-dsl",), found)
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in NUMBERS:
        code, _ = compiled(name)
        (FOLDER / f"{name}.cubin").write_bytes(code)
        print(f"{name}.cubin: {len(code)} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])

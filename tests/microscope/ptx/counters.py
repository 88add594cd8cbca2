"""What a GPU counts of tensor-core kernels, beside what a trace counts of the same launches.

``python -m tests.microscope.ptx.counters FILE`` launches every case once under Nsight Compute and
writes provenance and the profiler's figures under our names.
"""

import json
import os
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from kernels import ptx, uint32
from kernels.backend import cuda, uint8
from kernels.measure import ncu
from kernels.measure.bench.provenance import provenance
from tests.microscope.counters import REPOSITORY

int32 = cuda.int32
#: What each figure is called by the profiler; operations by format, a multiply-add counting as two.
METRICS = {
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared_load_bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_store_bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "shared_store_instructions": "smsp__inst_executed_op_shared_st.sum",
    "ldmatrix_instructions": "smsp__inst_executed_op_ldsm.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "tma_load_sectors": "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld.sum",
    "tma_store_sectors": "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st.sum",
    "l2_read_sectors": "lts__t_sectors_srcunit_tex_op_read.sum",
    "bfloat16": "sm__ops_path_tensor_src_bf16_dst_fp32.sum",
    "float16": "sm__ops_path_tensor_src_fp16.sum",
    "tf32": "sm__ops_path_tensor_src_tf32_dst_fp32.sum",
    "e4m3": "sm__ops_path_tensor_src_fp8.sum",
}


@cuda.jit
def rows_of_128_bytes(out, swizzled):
    """``ldmatrix`` of 16 rows of 128 bytes, their pieces swizzled or not, behind wide stores."""
    memory = cuda.shared.array(0, uint8, alignment=1024)
    start = ptx.shared_address(memory)
    lane = int32(cuda.threadIdx.x)
    for k in range(4):
        at = start + uint32(lane * 64 + 16 * k)
        ptx.st_shared_v4_f32(at, 1, 2, 3, 4)
    cuda.syncwarp()
    row, chunk = lane % 16, lane // 16
    if swizzled:
        chunk = chunk ^ row % 8
    parts = ptx.ldmatrix_x4(start + uint32(row * 128 + chunk * 16))
    out[lane] = parts[0] + parts[1] + parts[2] + parts[3]


@dataclass(frozen=True)
class Case:
    """A launch; `launch` begins with grid and block."""

    name: str
    kernel: object
    launch: tuple
    shared_bytes: int


def cases() -> list[Case]:
    """Launches of each kind of instruction: copies, fragments, products, stores."""
    import numpy as np

    from tests.microscope.ptx import hopper_kernels, products, test_formats, test_rungs

    found = []
    for swizzled in (False, True):
        launch = 1, 32, np.zeros(32, np.uint32), swizzled
        found.append(Case(f"rows_of_128_bytes {swizzled}", rows_of_128_bytes, launch, 2048))
    for columns, dtype, a_in, transposed in test_formats.CASES:
        kernel, launch, _ = test_formats.case(columns, dtype, a_in, transposed)
        name = f"one_product {columns} {dtype} {a_in} {transposed}"
        found.append(Case(name, kernel, launch, kernel.shared_bytes))
    for options, case in {
        ("copied",): products.copied_case(40, 24, 80),
        ("copied", 16): products.copied_case(64, 64, 128),
        ("specialized", 128, 256, 4): products.specialized_case(128, 256, 512),
        ("specialized", 64, 128, 3): products.specialized_case(100, 136, 200, 64, 128),
        ("persistent", 64, 128, 2, 2): products.persistent_case(100, 136, 264),
        ("persistent", 64, 128, 2, 2, "one tile a block"): products.persistent_case(
            100, 136, 264, 4
        ),
        ("persistent", 64, 128, 3, 1): products.persistent_case(130, 130 // 8 * 8, 128, 3),
    }.items():
        sizes = [n for n in options if isinstance(n, int)]
        kernel = getattr(hopper_kernels, options[0])(*sizes)
        found.append(Case(" ".join(map(str, options)), kernel, case[0], kernel.shared_bytes))
    for name in test_rungs.RUNGS:
        launch, shared_bytes, _ = test_rungs.launch(name)
        kernel = getattr(test_rungs.RUNGS[name], f"make_{name}")()
        found.append(Case(f"rung {name}", kernel, launch, shared_bytes))
    return found


def traced(case: Case) -> dict[str, int]:
    """What a trace counts of a case, under the names of `METRICS`, zeros left out.

    ``tma_load_sectors`` are those of the matrix; ``tma_box_sectors`` those of whole boxes, their
    rows beyond its edge too, once for each block that they go to.
    """
    from microscope import trace

    seen = trace(case.kernel, *case.launch, shared_bytes=case.shared_bytes)
    shared = {op: seen.count(space="shared", op=op) for op in ("load", "store")}
    found = Counter({
        f"shared_{op}_{ours}": shared[op][theirs]
        for op in ("load", "store")
        for ours, theirs in {"wavefronts": "wavefronts", "bank_conflicts": "conflicts"}.items()
    })  # fmt: skip
    for site in seen.sites:
        if site.unit == "TMA":
            found[f"tma_{site.op}_sectors"] += site.sectors
        elif (site.space, site.op) == ("global", "store"):
            found["global_store_requests"] += site.requests
            found["global_store_sectors"] += site.sectors
        elif "ldmatrix" in site.expr:
            found["ldmatrix_instructions"] += site.requests
        elif "st_shared" in site.expr:
            found["shared_store_instructions"] += site.requests
    found["tma_box_sectors"] = seen.asynchronous.get("tma_delivered_bytes", 0) // 32
    for what, n in seen.asynchronous.items():
        pipe, _, dtype = what.partition(" ")
        if dtype:
            found[dtype] += 2 * n
    return {name: n for name, n in found.items() if n}


# ------------------------------------------------------------------------------- on the GPU
def launch_all() -> None:
    """What the profiler runs."""
    import numpy as np

    from kernels.backend import cupy
    from tests.microscope.ptx.hardware import prepared

    for case in cases():
        whole = np.int32 if case.name.startswith("rung") else np.int64
        launch, _ = prepared(case.kernel, case.launch, case.shared_bytes, whole)
        cupy.cuda.Device().synchronize()
        cupy.cuda.runtime.profilerStart()
        launch()
        cupy.cuda.Device().synchronize()
        cupy.cuda.runtime.profilerStop()


def main(out: Path) -> None:
    """Profile all cases, and write what was counted."""
    os.environ.setdefault("KERNELS_BACKEND", "gpu")
    command = [sys.executable, "-m", __spec__.name, "launch"]
    metrics = list(METRICS.values())
    launches = ncu.profile(command, metrics, folder=REPOSITORY, marked=True, timeout=85)
    pairs = zip(cases(), launches, strict=True)
    rows = {case.name: named(seen.metrics) for case, seen in pairs}
    written = {"provenance": provenance(), "metrics": METRICS, "cases": rows}
    out.write_text(json.dumps(written, indent=1) + "\n")
    print(f"{len(rows)} launches counted")


def named(metrics: dict) -> dict[str, int]:
    """The profiler's figures under our names, zeros left out."""
    return {ours: metrics[theirs] for ours, theirs in METRICS.items() if metrics.get(theirs)}


if __name__ == "__main__":
    if sys.argv[1] == "launch":
        launch_all()
    else:
        main(Path(sys.argv[1]))

"""What a GPU counts of tensor-core kernels, beside what a trace counts of the same launches.

``python -m tests.microscope.ptx.counters FILE`` launches every case once under Nsight Compute and
writes provenance, the profiler's figures under our names, and all others that it knew of the kind.
"""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from kernels import ptx, uint32
from kernels.engine import cuda, uint8
from kernels.measure import ncu
from tests.microscope.counters import REPOSITORY, provenance

int32 = cuda.int32
#: Of what `ncu --query-metrics` lists: these are read, their sums over the GPU.
WANTED = re.compile(
    r"smsp__inst_executed_pipe_tensor\w*|smsp__inst_executed_op_(?:shared|ldsm|tma|ublk)\w*|"
    r"sm__inst_executed_pipe_(?:tensor|uniform_datapath)\w*|"
    r"sm__ops_path_tensor\w*|smsp__sass_inst_executed_op_(?:shared|ldsm|ldgsts|global|tma)\w*|"
    r"l1tex__data_pipe_lsu_wavefronts_mem_shared(?:_op_(?:ld|st))?|"
    r"l1tex__data_bank_conflicts_pipe_lsu_mem_shared(?:_op_(?:ld|st))?|"
    r"l1tex__t_(?:requests|sectors)_pipe_lsu_mem_global_op_(?:ld|st|ldgsts\w*)|"
    r"l1tex__m_xbar2l1tex_read_(?:bytes|sectors)|l1tex__m_l1tex2xbar_(?:write_bytes|req_cycles\w*)|"
    r"lts__t_(?:sectors|requests)_srcunit_tex(?:_op_(?:read|write))?|"
    r"(?:l1tex|sm|smsp|tma)__\w*tma\w*"
)
#: Metrics whose sum is asked for whether or not they are listed, by the name that we compare.
METRICS = {
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared_load_bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_store_bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "shared_load_instructions": "smsp__inst_executed_op_shared_ld.sum",
    "shared_store_instructions": "smsp__inst_executed_op_shared_st.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "l2_read_sectors": "lts__t_sectors_srcunit_tex_op_read.sum",
    "l2_write_sectors": "lts__t_sectors_srcunit_tex_op_write.sum",
    "l1_read_bytes": "l1tex__m_xbar2l1tex_read_bytes.sum",
    "tensor_instructions": "smsp__inst_executed_pipe_tensor.sum",
    "tensor_instructions_sm": "sm__inst_executed_pipe_tensor.sum",
    "instructions": "smsp__inst_executed.sum",
}
MOST = 150  # metrics: each dozen of them is one more run of the kernel


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
        ("persistent", 64, 128, 3, 1): products.persistent_case(130, 130 // 8 * 8, 128, 3),
    }.items():
        kernel = getattr(hopper_kernels, options[0])(*options[1:])
        found.append(Case(" ".join(map(str, options)), kernel, case[0], kernel.shared_bytes))
    for name in test_rungs.RUNGS:
        launch, shared_bytes, _ = test_rungs.launch(name)
        kernel = getattr(test_rungs.RUNGS[name], f"make_{name}")()
        found.append(Case(f"rung {name}", kernel, launch, shared_bytes))
    return found


def traced(case: Case) -> dict[str, int]:
    """What a trace counts of a case, under the names of `METRICS` and by pipe."""
    from microscope import trace

    seen = trace(case.kernel, *case.launch, shared_bytes=case.shared_bytes)
    shared = {op: seen.count(space="shared", op=op) for op in ("load", "store")}
    tma = {"load": 0, "store": 0}
    requests = sectors = 0
    for site in seen.sites:
        if site.unit == "TMA":
            tma[site.op] += site.sectors
        elif (site.space, site.op) == ("global", "store"):
            requests, sectors = requests + site.requests, sectors + site.sectors
    found = {
        f"shared_{op}_{ours}": shared[op][theirs]
        for op in ("load", "store")
        for ours, theirs in {
            "instructions": "requests", "wavefronts": "wavefronts", "bank_conflicts": "conflicts",
        }.items()
    }  # fmt: skip
    return found | {
        "global_store_requests": requests, "global_store_sectors": sectors,
        "tma_load_sectors": tma["load"], "tma_store_sectors": tma["store"],
        **seen.asynchronous,
    }  # fmt: skip


# ------------------------------------------------------------------------------- on the GPU
def launch_all() -> None:
    """What the profiler runs."""
    import numpy as np

    from kernels.engine import cupy
    from tests.microscope.ptx.hardware import prepared

    for case in cases():
        whole = np.int32 if case.name.startswith("rung") else np.int64
        launch, _ = prepared(case.kernel, case.launch, case.shared_bytes, whole)
        cupy.cuda.Device().synchronize()
        cupy.cuda.runtime.profilerStart()
        launch()
        cupy.cuda.Device().synchronize()
        cupy.cuda.runtime.profilerStop()


def listed() -> list[str]:
    """What the profiler can count here of the kind, by its base name."""
    said = subprocess.run(["ncu", "--query-metrics"], capture_output=True, text=True, timeout=60)
    names = {line.split()[0] for line in said.stdout.splitlines() if "__" in line[:120]}
    return sorted(name for name in names if WANTED.fullmatch(name))


def main(out: Path) -> None:
    """Profile all cases, and write what was counted."""
    os.environ.setdefault("KERNELS_ENGINE", "gpu")
    known = listed()
    metrics = list(dict.fromkeys([*METRICS.values(), *(f"{n}.sum" for n in known)]))[:MOST]
    command = [sys.executable, "-m", __spec__.name, "launch"]
    launches = ncu.profile(command, metrics, folder=REPOSITORY, marked=True, timeout=85)
    rows = {}
    for case, seen in zip(cases(), launches, strict=True):
        named = {ours: seen.metrics[n] for ours, n in METRICS.items() if n in seen.metrics}
        others = {n: v for n, v in seen.metrics.items() if n not in METRICS.values() and v}
        rows[case.name] = {"kernel": seen.kernel, "counted": named, "others": others}
    written = {"provenance": provenance(), "metrics": METRICS, "listed": known, "cases": rows}
    out.write_text(json.dumps(written, indent=1) + "\n")
    print(f"{len(rows)} launches counted, {len(metrics)} metrics asked")


if __name__ == "__main__":
    if sys.argv[1] == "launch":
        launch_all()
    else:
        main(Path(sys.argv[1]))

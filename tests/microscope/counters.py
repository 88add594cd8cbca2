"""Read the hardware counters of every case on a GPU, and record them.

``python -m tests.microscope.counters --out FILE`` launches every case once under
Nsight Compute (one process; ``--only vector_kernels`` those of one module), adds the hashes of
the outputs, the accesses that the compiler left in PTX and SASS, and where all this was
measured, and writes one JSON file.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import sys
from collections import Counter
from pathlib import Path

from kernels.measure import ncu
from kernels.measure.bench.provenance import provenance

# What each figure is called by the profiler, the first name that this version knows.
METRICS = {
    "global_load_requests": ["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"],
    "global_load_sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"],
    "global_store_requests": ["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"],
    "global_store_sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"],
    "global_red_requests": ["l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"],
    "global_red_sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"],
    "global_atom_requests": ["l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"],
    "global_atom_sectors": ["l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum"],
    "shared_load_instructions": [
        "smsp__inst_executed_op_shared_ld.sum",
        "smsp__sass_inst_executed_op_shared_ld.sum",
    ],
    "shared_store_instructions": [
        "smsp__inst_executed_op_shared_st.sum",
        "smsp__sass_inst_executed_op_shared_st.sum",
    ],
    "shared_atomic_instructions": [
        "smsp__inst_executed_op_shared_atom.sum",
        "smsp__sass_inst_executed_op_shared_atom.sum",
    ],
    "shared_load_wavefronts": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"],
    "shared_store_wavefronts": ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"],
    "shared_load_bank_conflicts": ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"],
    "shared_store_bank_conflicts": ["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"],
    "local_load_requests": ["l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum"],
    "local_store_requests": ["l1tex__t_requests_pipe_lsu_mem_local_op_st.sum"],
    "ffma_thread_instructions": ["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"],
    "fadd_thread_instructions": ["smsp__sass_thread_inst_executed_op_fadd_pred_on.sum"],
    "fmul_thread_instructions": ["smsp__sass_thread_inst_executed_op_fmul_pred_on.sum"],
    "dfma_thread_instructions": ["smsp__sass_thread_inst_executed_op_dfma_pred_on.sum"],
    "dadd_thread_instructions": ["smsp__sass_thread_inst_executed_op_dadd_pred_on.sum"],
    "dmul_thread_instructions": ["smsp__sass_thread_inst_executed_op_dmul_pred_on.sum"],
}
PTX_ACCESS = re.compile(r"^\s*(?:@!?%\w+\s+)?((?:ld|st|atom|red|shfl|vote|bar)\.[\w.:]+)", re.M)
SASS_ACCESS = re.compile(
    r"\b((?:LDG|STG|LD|ST|LDS|STS|LDL|STL|LDC|ATOM|ATOMG|ATOMS|RED|REDG|SHFL|VOTE|BAR)"
    r"(?:\.[A-Z0-9_]+)*)\b"
)
REPOSITORY = Path(__file__).resolve().parents[2]


def all_cases(only: str = "") -> list:
    """Every recorded launch: the first ten, the varied kernels, 16-byte accesses, the rungs.

    With `only` those of one module.
    """
    from tests.microscope import hardware_kernels, rung_cases, vector_kernels

    modules = (hardware_kernels, vector_kernels, rung_cases)
    found = [case for m in modules if m.__name__.endswith(only) for case in m.cases()]
    names = [case.name for case in found]
    if len(set(names)) != len(names):
        raise ValueError(f"two cases share a name: {Counter(names).most_common(1)[0][0]}")
    return found


def digest(array) -> str:
    """SHA-256 of an array's type, shape and bytes in row-major order."""
    head = f"{array.dtype.str} {array.shape} ".encode()
    return hashlib.sha256(head + array.tobytes()).hexdigest()


def output_hashes(case, args) -> dict[str, str]:
    """Hash of each output of a finished launch, by the position of the argument."""
    return {str(position): digest(args[position]) for position in case.outputs}


# ------------------------------------------------------------------------------- on the GPU
def launch(case) -> tuple:
    """Run one case on the GPU; returns its arguments as they are afterwards."""
    import numpy as np
    from numba import cuda

    host = case.make()
    device = [cuda.to_device(a) if isinstance(a, np.ndarray) else a for a in host]
    case.kernel[case.grid, case.block, 0, case.shared_bytes](*device)
    cuda.synchronize()
    return tuple(a.copy_to_host() if hasattr(a, "copy_to_host") else a for a in device)


def accesses(case) -> dict[str, dict[str, int]]:
    """Memory instructions in a compiled kernel's PTX, and in its SASS where nvdisasm is there."""
    found = {"ptx": _tally(PTX_ACCESS, case.kernel.inspect_asm())}
    if shutil.which("nvdisasm"):
        try:
            found["sass"] = _tally(SASS_ACCESS, case.kernel.inspect_sass())
        except RuntimeError as error:
            print(f"{case.name}: no SASS: {error}", file=sys.stderr)
    return found


def _tally(pattern: re.Pattern, listings: dict) -> dict[str, int]:
    text = "\n".join(listings.values())
    return dict(sorted(Counter(op for op in pattern.findall(text) if ".param" not in op).items()))


# ------------------------------------------------------------------------------- matching
def named(values: dict[str, int]) -> dict[str, int]:
    """The figures under our names, from the profiler's."""
    found = {}
    for ours, theirs in METRICS.items():
        known = [name for name in theirs if name in values]
        if known:
            found[ours] = values[known[0]]
    return found


def assign(cases, launches: list[ncu.ProfiledLaunch]) -> dict[str, dict[str, int]]:
    """Match profiled launches to cases, by order, checking the kernels' names."""
    if len(cases) != len(launches):
        raise ValueError(
            f"{len(cases)} cases but {len(launches)} profiled launches: "
            f"{[launch.kernel for launch in launches]}"
        )
    pairs = list(zip(cases, launches, strict=True))
    for case, launch in pairs:
        if case.function.__name__ not in launch.kernel:
            raise ValueError(
                f"case {case.name} expects {case.function.__name__}, got {launch.kernel}"
            )
    return {case.name: named(launch.metrics) for case, launch in pairs}


def main() -> None:
    """Command line: ``--out FILE`` records; ``--launch`` is what the profiler runs."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--launch", action="store_true")
    parser.add_argument("--only", default="", help="one module of cases, such as rung_cases")
    options = parser.parse_args()
    os.environ.setdefault("KERNELS_BACKEND", "gpu")
    os.chdir(REPOSITORY)
    cases = all_cases(options.only)
    if options.launch:
        for case in cases:
            launch(case)
        return
    if options.out is None:
        parser.error("--out FILE is needed")
    for tool in ("ncu", "nvidia-smi"):
        if shutil.which(tool) is None:
            raise SystemExit(f"{tool} is not on PATH: counters need an NVIDIA GPU and its tools")

    record = {
        "provenance": provenance(),
        "metrics": METRICS,
        "cases": {},
        "outputs": {},
        "compiled": {},
    }
    for case in cases:
        record["outputs"][case.name] = output_hashes(case, launch(case))
        record["compiled"][case.name] = accesses(case)
    command = [sys.executable, "-m", "tests.microscope.counters", "--launch"]
    command += ["--only", options.only] if options.only else []
    metrics = [name for names in METRICS.values() for name in names]
    record["cases"] = assign(cases, ncu.profile(command, metrics, folder=REPOSITORY))
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(record, indent=1) + "\n")
    print(f"{len(cases)} launches recorded in {options.out}")


if __name__ == "__main__":
    main()

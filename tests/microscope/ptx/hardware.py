"""Pipelines and mutants on a real GPU of sm_90, each in a process of its own under a watchdog.

``python -m tests.microscope.ptx.hardware OUT`` writes OUT/async.json: of every random pipeline and
every mutant what the interpreter says (its problems, whether C is right) and what the GPU does
("right", "wrong", "hangs", "fails"). A sound pipeline must be right on both; of a mutant the GPU
shows what it shows.
"""

import fcntl
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

PIPELINES = 60
WORKERS = 14
SECONDS_OF_A_LAUNCH = 2  # a pipeline of this size takes microseconds
SECONDS_OF_A_PROCESS = 60
SECONDS_OF_ALL = 225
LOCK = "/tmp/tile-by-tile-hardware.lock"


def cases() -> list[str]:
    """The names of all cases: ``pipeline N`` and ``mutant N``."""
    from tests.microscope.ptx.async_mutants import MUTANTS

    return [f"mutant {k}" for k in range(len(MUTANTS))] + [
        f"pipeline {k}" for k in range(PIPELINES)
    ]


def of(name: str):
    """The kernel of a case, its launch, what C should be, and words for it."""
    from tests.microscope.ptx.async_mutants import MUTANTS
    from tests.microscope.ptx.pipelines import pipelines

    kind, _, number = name.partition(" ")
    if kind == "mutant":
        mutant = MUTANTS[int(number)]
        return mutant.compiled(), *mutant.case(), f"{mutant.kernel}: {mutant.name}"
    one = pipelines(PIPELINES)[int(number)]
    return one.made, *one.case(), str(one)


def interpreted(name: str) -> dict:
    """What the interpreter says of a case."""
    from microscope import trace

    kernel, launch, expected, words = of(name)
    seen = trace(kernel, *launch, shared_bytes=kernel.shared_bytes)
    C = seen.outputs.get("C", seen.outputs.get("map_C"))
    return {
        "case": words,
        "kinds": sorted({problem.kind for problem in seen.problems}),
        "first": str(seen.problems[0]) if seen.problems else "",
        "interpreter_right": bool(np.array_equal(C, expected)),
        "hash": hashlib.sha256(C.tobytes()).hexdigest()[:16],
    }


def on_gpu(name: str) -> dict:
    """What the GPU does with a case; a kernel that hangs ends the process."""
    from kernels.engine import cupy
    from kernels.host.numba_launch import launcher
    from kernels.host.tma import tensor_map
    from microscope.ptx import TensorMap

    kernel, (grid, block, *arguments), expected, _ = of(name)
    arrays, given = {}, []
    for a in arguments:
        array = a.array if isinstance(a, TensorMap) else a
        if isinstance(array, np.ndarray):
            array = arrays.setdefault(id(array), cupy.asarray(array))
        if isinstance(a, TensorMap):
            given.append(tensor_map(array, *a.box, a.dtype))
        else:
            given.append(np.int64(array) if isinstance(array, int) else array)
    C = next(a for a in arrays.values() if a.dtype == np.float32)
    grid = grid if isinstance(grid, tuple) else (grid,)
    launch = launcher(kernel, grid, (block,), tuple(given), kernel.shared_bytes)
    cupy.cuda.Device().synchronize()
    with open(LOCK, "w") as lock:  # one kernel at a time: one that hangs must not slow another
        fcntl.flock(lock, fcntl.LOCK_EX)
        launch()
        done, end = cupy.cuda.Event(), time.monotonic() + SECONDS_OF_A_LAUNCH
        done.record()
        while not done.done:
            if time.monotonic() > end:
                print(json.dumps({"gpu": "hangs"}), flush=True)
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(0.001)
        cupy.cuda.Device().synchronize()
        result = C.get()
    right = np.array_equal(result, expected)
    return {
        "gpu": "right" if right else "wrong",
        "gpu_hash": hashlib.sha256(result.tobytes()).hexdigest()[:16],
    }


def asked(name: str, what: str, end: float) -> dict:
    """One case in a process of its own, without a GPU ("cpu") or with it ("gpu")."""
    left = min(SECONDS_OF_A_PROCESS, end - time.monotonic())
    if left < 5:
        return {} if what == "cpu" else {"gpu": "no time"}
    command = [sys.executable, "-m", __spec__.name, "--one", name]
    environment = os.environ | {"KERNELS_ENGINE": what}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=left, env=environment
        )
    except subprocess.TimeoutExpired:
        return {} if what == "cpu" else {"gpu": "hangs"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if lines:
        return json.loads(lines[-1])
    why = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    return {"interpreter_error": why[:300]} if what == "cpu" else {"gpu": "fails", "why": why[:300]}


def all_of(folder: Path, gpu: bool = True) -> list[dict]:
    """Every case on both; the file is written as results come in."""
    end, rows = time.monotonic() + SECONDS_OF_ALL, {}

    def one(name: str) -> None:
        row = {"name": name} | asked(name, "cpu", end) | (asked(name, "gpu", end) if gpu else {})
        rows[name] = row

    with ThreadPoolExecutor(WORKERS) as pool:
        list(pool.map(one, cases()))
    found = [rows[name] for name in cases()]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "async.json").write_text(json.dumps(found, indent=1))
    return found


def told(rows: list[dict]) -> str:
    """A summary in words."""
    lines = []
    for kind in ("pipeline", "mutant"):
        some = [r for r in rows if r["name"].startswith(kind)]
        counts: dict[str, int] = {}
        for r in some:
            silent = "silent" if not r.get("kinds") else "reported"
            key = f"{r.get('gpu', '-')} on the GPU, {silent} in the interpreter"
            counts[key] = counts.get(key, 0) + 1
        equal = sum("hash" in r and r["hash"] == r.get("gpu_hash") for r in some)
        lines.append(f"{kind}s: {len(some)}, equal bit for bit {equal}; {counts}")
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        engine = os.environ["KERNELS_ENGINE"]
        print(json.dumps((on_gpu if engine == "gpu" else interpreted)(sys.argv[2])), flush=True)
    else:
        print(told(all_of(Path(sys.argv[1]), gpu="--cpu" not in sys.argv)))

"""Pipelines and mutants on a real GPU of sm_90, under a watchdog, beside what the interpreter says.

``python -m tests.microscope.ptx.hardware interpret FILE`` writes what the interpreter says of every
case, or of those of the kinds named behind it: its problems, whether C is right, a hash of it.
``… run FILE OUT SECONDS`` runs them on the GPU and writes both to OUT, with racecheck's answer for
public bugs. A sound pipeline must be right, bit for bit; of a mutant the GPU shows what it shows:
"right", "wrong", "hangs" or "fails".
"""

import fcntl
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np

PIPELINES, SEED = 300, 26
WORKERS = 14
SECONDS_OF_A_LAUNCH = float(os.environ.get("SECONDS_OF_A_LAUNCH", 2))  # it takes microseconds
SECONDS_OF_A_CASE = 40  # compiling included
LOCK = "/tmp/tile-by-tile-hardware.lock"
KINDS = ("pipeline", "mutant", "rung", "bug")


def cases(kinds=KINDS) -> list[str]:
    """The names of all cases of some kinds: what they are, and their number."""
    from tests.microscope.ptx import async_mutants, public_bugs, test_rungs

    counts = {
        "pipeline": PIPELINES,
        "mutant": len(async_mutants.MUTANTS),
        "rung": len(test_rungs.MUTANTS),
        "bug": len(public_bugs.CASES),
    }
    return [f"{kind} {k}" for kind in kinds for k in range(counts[kind])]


def of(name: str):
    """The kernel of a case, its launch, its shared memory, what comes out of it, and words for it.

    The last but one maps the name of an argument to what it should hold.
    """
    from tests.microscope.ptx import async_mutants, pipelines, public_bugs, test_rungs

    kind, _, number = name.partition(" ")
    number = int(number)
    if kind == "bug":
        return public_bugs.CASES[number].launched()
    if kind == "rung":
        rung, before, after, _ = test_rungs.MUTANTS[number]
        launch, shared_bytes, expected = test_rungs.launch(rung)
        words = f"{rung}: {' '.join(before.split())} → {after}"
        out = "map_C" if rung == "persistent" else "C"
        return test_rungs.mutant(number), launch, shared_bytes, {out: expected}, words
    if kind == "mutant":
        one = async_mutants.MUTANTS[number]
        kernel, words = one.compiled(), f"{one.kernel}: {one.name}"
    else:
        one = pipelines.pipelines(PIPELINES, SEED)[number]
        kernel, words = one.made, str(one)
    launch, expected = one.case()
    out = "map_C" if one.kernel == "persistent" else "C"
    return kernel, launch, kernel.shared_bytes, {out: expected}, words


def interpreted(name: str) -> dict:
    """What the interpreter says of a case."""
    from microscope import trace

    kernel, launch, shared_bytes, expected, words = of(name)
    seen = trace(kernel, *launch, shared_bytes=shared_bytes)
    right = all(np.array_equal(seen.outputs[key], value) for key, value in expected.items())
    return {
        "case": words,
        "kinds": sorted({problem.kind for problem in seen.problems}),
        "first": str(seen.problems[0]) if seen.problems else "",
        "interpreter_right": right,
        "hash": digest(seen.outputs[key] for key in expected),
    }


def digest(arrays) -> str:
    """A hash of some arrays' bytes."""
    return hashlib.sha256(b"".join(a.tobytes() for a in arrays)).hexdigest()[:16]


def prepared(kernel, launch, shared_bytes: int, whole=np.int64):
    """A function that launches a kernel on the GPU, and what reads its arguments' arrays by name.

    `whole` is the type that whole numbers go over as.
    """
    from inspect import signature

    from kernels.backend import cupy
    from kernels.host import follow
    from kernels.host.tma import tensor_map
    from microscope.ptx import TensorMap

    grid, block, *arguments = launch
    arrays, given, named = {}, [], {}
    for key, a in zip(signature(kernel.py_func).parameters, arguments, strict=True):
        array = a.array if isinstance(a, TensorMap) else a
        if isinstance(array, np.ndarray):
            array = named[key] = arrays.setdefault(id(array), cupy.asarray(array))
        if isinstance(a, TensorMap):
            given.append(tensor_map(array, *a.box, a.dtype))
        else:
            given.append(whole(array) if isinstance(array, (bool, int)) else array)
    grid, block = (n if isinstance(n, tuple) else (n,) for n in (grid, block))
    return follow.prepared(kernel, grid, block, tuple(given), shared_bytes), named


def on_gpu(name: str) -> dict:
    """What the GPU does with a case; a kernel that hangs ends the process."""
    from kernels.backend import cupy

    kernel, launch, shared_bytes, expected, _ = of(name)
    whole = np.int32 if name.startswith("rung") else np.int64
    go, arrays = prepared(kernel, launch, shared_bytes, whole)
    cupy.cuda.Device().synchronize()
    with open(LOCK, "w") as lock:  # one kernel at a time: one that hangs must not slow another
        fcntl.flock(lock, fcntl.LOCK_EX)
        go()
        done, end = cupy.cuda.Event(), time.monotonic() + SECONDS_OF_A_LAUNCH
        done.record()
        while not done.done:
            if time.monotonic() > end:
                print(json.dumps({"name": name, "gpu": "hangs"}), flush=True)
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(0.001)
        cupy.cuda.Device().synchronize()
        results = {key: arrays[key].get() for key in expected}
    wrong = [k for k, v in results.items() if not np.array_equal(v, expected[k])]
    row = {"name": name, "gpu": "wrong" if wrong else "right", "gpu_hash": digest(results.values())}
    for key in wrong:
        off = np.atleast_2d(results[key] != expected[key])
        row["rows"] = sorted({int(r) // 16 for r in np.nonzero(off)[0]})  # of 16, as warps have
    return row


def worker(names: list[str]) -> None:
    """Run cases one after the other, a line of JSON each."""
    for name in names:
        try:
            row = on_gpu(name)
        except Exception as error:
            why = " ".join(f"{type(error).__name__}: {error}".split())[:200]
            row = {"name": name, "gpu": "fails", "why": why}
        print(json.dumps(row), flush=True)
        if row["gpu"] == "fails":  # the context may be lost
            return


def watch(process, heard: list[float], end: float) -> None:
    """End a worker that has said nothing for long, or whose time is over."""
    while process.poll() is None:
        if time.monotonic() > min(heard[-1] + SECONDS_OF_A_CASE, end):
            process.kill()
        time.sleep(0.1)


def attended(names: list[str], rows: dict, end: float) -> None:
    """Keep a worker going until it has been through its cases, or the time is over."""
    left = list(names)
    while left and time.monotonic() < end:
        command = [sys.executable, "-m", __spec__.name, "worker", *left]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=os.environ | {"KERNELS_BACKEND": "gpu"},
        )  # fmt: skip
        heard, name = [time.monotonic()], ""
        watcher = threading.Thread(target=watch, args=(process, heard, end))
        watcher.start()
        for line in process.stdout:
            heard.append(time.monotonic())
            row = json.loads(line)
            name = row["name"]
            rows[name] = row
            left.remove(name)
        process.wait()
        watcher.join()
        ended_itself = process.returncode == 0 or rows.get(name, {}).get("gpu") == "hangs"
        if left and not ended_itself and time.monotonic() < end:
            late = time.monotonic() - heard[-1] >= SECONDS_OF_A_CASE
            why = "no word" if late else f"exit status {process.returncode}"
            rows[left[0]] = {"name": left[0], "gpu": "hangs" if late else "fails", "why": why}
            left.pop(0)


def run(interpreted_file: Path, out: Path, seconds: float) -> list[dict]:
    """Every case on the GPU, beside what the interpreter says; written as results come in."""
    known = json.loads(interpreted_file.read_text())
    end, rows = time.monotonic() + seconds, {}
    names = [name for name in cases() if name in known]

    def made_of(name: str):
        kind, _, number = name.partition(" ")
        if kind != "pipeline":
            return kind, int(number)
        text = known[name]["case"]
        return kind, text[: text.index("sizes")]  # those of one kernel side by side

    for kind in (("pipeline",), ("mutant", "rung", "bug")):
        some = [n for n in names if n.partition(" ")[0] in kind]
        if not some:
            continue
        if kind == ("pipeline",):
            some.sort(key=made_of)
            size = -(-len(some) // WORKERS)
            shares = [some[k : k + size] for k in range(0, len(some), size)]
        else:
            shares = [some[k::WORKERS] for k in range(WORKERS)]
        threads = [threading.Thread(target=attended, args=(s, rows, end)) for s in shares if s]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        print(f"{'/'.join(kind)}: {end - time.monotonic():.0f} s left", flush=True)
        found = [{"name": n} | known[n] | rows.get(n, {"gpu": "no time"}) for n in names]
        out.write_text(json.dumps(found, indent=1))
    bugs = [row for row in found if row["name"].startswith("bug")]
    if bugs and shutil.which("compute-sanitizer"):
        with ThreadPoolExecutor(WORKERS) as pool:
            said = pool.map(racecheck, [row["name"] for row in bugs])
            for row, words in zip(bugs, said, strict=True):
                row["racecheck"] = words
        out.write_text(json.dumps(found, indent=1))
    return found


def racecheck(name: str) -> str:
    """What compute-sanitizer's racecheck says of a case, in its own last words."""
    command = ["compute-sanitizer", "--tool", "racecheck", sys.executable, "-m", __spec__.name]
    try:
        done = subprocess.run(
            [*command, "worker", name], capture_output=True, text=True, timeout=SECONDS_OF_A_CASE,
            env=os.environ | {"KERNELS_BACKEND": "gpu", "SECONDS_OF_A_LAUNCH": "25"},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"no word in {SECONDS_OF_A_CASE} s"
    said = [line for line in (done.stdout + done.stderr).splitlines() if "SUMMARY" in line]
    return " ".join(said[-1].strip("= ").split()) if said else f"exit status {done.returncode}"


def told(rows: list[dict]) -> str:
    """A summary in words."""
    lines = []
    for kind in KINDS:
        some = [r for r in rows if r["name"].startswith(kind)]
        counts: dict[str, int] = {}
        for r in some:
            silent = "reported" if r["kinds"] else "silent"
            key = f"{r['gpu']} on the GPU, {silent} in the interpreter"
            counts[key] = counts.get(key, 0) + 1
        equal = sum(r["hash"] == r.get("gpu_hash") for r in some)
        lines.append(f"{kind}: {len(some)}, equal bit for bit {equal}; {counts}")
        if kind == "bug":
            lines += [
                f"  {r['case']}: here {', '.join(r['kinds']) or 'silent'}; GPU {r['gpu']}; "
                f"{r.get('racecheck', '')}"
                for r in some
            ]
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1] == "worker":
        worker(sys.argv[2:])
    elif sys.argv[1] == "interpret":
        names = cases(sys.argv[3:] or KINDS)
        with ProcessPoolExecutor(max(1, (os.cpu_count() or 1) - 2)) as pool:
            found = dict(zip(names, pool.map(interpreted, names, chunksize=4), strict=True))
        Path(sys.argv[2]).write_text(json.dumps(found))
    else:
        print(told(run(Path(sys.argv[2]), Path(sys.argv[3]), float(sys.argv[4]))))

"""Run compute-sanitizer on every mutant, on a GPU, and record its verdict beside ours.

``python -m tests.microscope.sanitize --out FILE`` starts, for each tool, several processes
that each launch a share of the mutants. A process that a mutant brings down is replaced by one
that goes on with the next mutant; one that hangs is ended.
"""

import argparse
import json
import os
import re
import select
import shutil
import subprocess
import sys
import time
import types
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from kernels.measure.sanitizer import finding, reports
from tests.microscope import mutants
from tests.microscope.counters import REPOSITORY, provenance

MODULE = "tests.microscope.sanitize"
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
SHARE = 8  # mutants a process: few enough that a crash costs little
SILENCE = 30  # seconds without a word after which a process is taken to hang
ORIGINALS = {-1 - n: rung for n, rung in enumerate(mutants.FILES)}  # controls: must stay clean


# ------------------------------------------------------------------------------- in the sandbox
def compiled(number: int):
    """A mutant (or, below zero, an untouched rung) under a name of its own, with line numbers."""
    from numba import cuda

    if number < 0:
        kernel = mutants.original(ORIGINALS[number])
    else:
        kernel = mutants.kernel(mutants.mutants()[number])
    found = kernel.py_func
    name = f"original_{-number}" if number < 0 else f"mutant_{number}"
    function = types.FunctionType(
        found.__code__, found.__globals__, name, found.__defaults__, found.__closure__
    )
    function.__qualname__ = name
    return cuda.jit(function, lineinfo=True)


def launch(number: int) -> bool:
    """Run one mutant in all its trials on the GPU; was any result wrong?"""
    import numpy as np
    from numba import cuda

    rung = ORIGINALS[number] if number < 0 else mutants.mutants()[number].rung
    kernel = compiled(number)
    wrong = False
    for trial in mutants.trials(rung):
        arguments = [cuda.to_device(a) for a in trial.arguments]
        kernel[trial.grid, trial.block](*arguments)
        cuda.synchronize()
        wrong |= not np.array_equal(arguments[-1].copy_to_host(), trial.expected)
    return bool(wrong)


def worker(numbers: list[int], launch=launch) -> None:
    """Launch kernels one after another, saying where it stands, as long as the GPU answers."""
    from numba import cuda

    for number in numbers:
        print(f"@begin {number}", flush=True)
        try:
            verdict = "wrong" if launch(number) else "right"
        except Exception as error:
            verdict = "error " + " ".join(f"{type(error).__name__}: {error}".split())[:200]
        print(f"@end {number} {verdict}", flush=True)
        try:
            cuda.synchronize()
        except Exception:
            return


# ------------------------------------------------------------------------------- outside
def _listen(process: subprocess.Popen) -> tuple[str, bool]:
    """What a process prints until it ends or falls silent for too long."""
    heard = b""
    while True:
        ready, _, _ = select.select([process.stdout], [], [], SILENCE)
        if not ready:
            process.kill()
            process.wait()
            return heard.decode(errors="replace"), True
        piece = os.read(process.stdout.fileno(), 65536)
        if not piece:
            process.wait()
            return heard.decode(errors="replace"), False
        heard += piece


@cache
def _survive() -> tuple[str, ...]:
    """The option that lets a process go on after a bad access, where this version has it."""
    text = subprocess.run(["compute-sanitizer", "--help"], capture_output=True, text=True).stdout
    return ("--destroy-on-device-error", "kernel") if "destroy-on-device-error" in text else ()


def sandbox(tool: str, numbers: list[int], module: str = MODULE) -> tuple[str, dict[int, str]]:
    """Run a share of the mutants under one tool; its whole output and how each launch ended.

    A mutant that ends its process, or hangs, is tried once more in a process of its own.
    """
    groups, text, ends = [list(numbers)], [], {}
    while groups:
        group = groups.pop(0)
        process = subprocess.Popen(
            [
                "compute-sanitizer",
                "--tool",
                tool,
                "--print-limit",
                "100000",
                *_survive(),
                sys.executable,
                "-m",
                module,
                "--run",
                *map(str, group),
            ],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        heard, hung = _listen(process)
        text.append(heard)
        ends |= {int(n): how for n, how in re.findall(r"^@end (-?\d+) (.*)$", heard, re.M)}
        if f"@begin {group[0]}\n" not in heard:
            raise RuntimeError(f"compute-sanitizer --tool {tool} did not run: {heard[-1500:]}")
        rest = [n for n in group if n not in ends]
        if rest and f"@begin {rest[0]}\n" in heard:  # the one that ended the process
            if len(group) == 1:
                ends[rest[0]] = "hung" if hung else "crashed"
                continue
            groups.append(rest[:1])
            rest = rest[1:]
        if rest:
            groups.append(rest)
    return "\n".join(text), ends


def parse(text: str) -> dict[int, Counter]:
    """What the tool said of each mutant: ``{number: {finding: times}}``.

    A report names the kernel, and the kernel's name carries the mutant's number.
    """
    found: dict[int, Counter] = {}
    for report in reports(text):
        name = re.search(r"(mutant|original)_(\d+)", "\n".join(report))
        if name:
            number = int(name[2]) if name[1] == "mutant" else -int(name[2])
            found.setdefault(number, Counter())[finding(report)] += 1
    return found


def record(tool: str, numbers: list[int], processes: int, module: str = MODULE) -> dict[int, dict]:
    """One tool's verdict on every mutant, several processes at a time.

    `module` is run with ``--run N…`` to launch them.
    """
    shares = [numbers[i : i + SHARE] for i in range(0, len(numbers), SHARE)]
    with ThreadPoolExecutor(processes) as pool:
        texts, ends = [], {}
        for text, ended in pool.map(lambda share: sandbox(tool, share, module), shares):
            texts.append(text)
            ends |= ended
    said = parse("\n".join(texts))
    folder = os.environ.get("SANITIZER_LOGS")
    if folder:
        Path(folder, f"{tool}.log").write_text("\n".join(texts))
    return {
        n: {"end": ends[n], "findings": dict(sorted(said.get(n, Counter()).items()))}
        for n in numbers
    }


def main() -> None:
    """Command line: ``--out FILE`` records; ``--run N…`` is what compute-sanitizer runs."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--processes", type=int, default=max(1, (os.cpu_count() or 2) - 1))
    parser.add_argument("--only", type=int, nargs="*", help="numbers of some mutants")
    parser.add_argument("--run", type=int, nargs="*")
    options = parser.parse_args()
    os.environ.setdefault("KERNELS_ENGINE", "gpu")
    os.chdir(REPOSITORY)
    if options.run is not None:
        worker(options.run)
        return
    if options.out is None:
        parser.error("--out FILE is needed")
    if shutil.which("compute-sanitizer") is None:
        raise SystemExit("compute-sanitizer is not on PATH: it comes with the CUDA toolkit")

    made = mutants.mutants()
    numbers = [*ORIGINALS, *(options.only or range(len(made)))]
    began = time.monotonic()
    verdicts = {}
    for tool in TOOLS:
        verdicts[tool] = record(tool, numbers, options.processes)
        print(f"{tool}: {time.monotonic() - began:.0f} s", flush=True)
    version = subprocess.run(["compute-sanitizer", "--version"], capture_output=True, text=True)
    about = provenance() | {"tool": version.stdout.strip().splitlines()[-1]}
    about.pop("ncu", None)

    def row(n):
        tools = {tool: verdicts[tool][n] for tool in TOOLS}
        if n < 0:
            return {"rung": ORIGINALS[n], "tools": tools}
        m = made[n]
        return {
            "key": m.key,
            "rung": m.rung,
            "kind": m.kind,
            "line": m.line,
            "before": m.before,
            "after": m.after,
            "tools": tools,
        }

    result = {
        "provenance": about,
        "originals": [row(n) for n in numbers if n < 0],
        "mutants": [row(n) for n in numbers if n >= 0],
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    flagged = sum(any(t["findings"] for t in m["tools"].values()) for m in result["mutants"])
    print(f"{len(result['mutants'])} mutants, {flagged} reported, in {options.out}")


if __name__ == "__main__":
    main()

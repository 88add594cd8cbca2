"""Run compute-sanitizer on many kernels, on a GPU, and read its verdict.

`record` starts several processes that each launch a share of the kernels. A process that a kernel
brings down is replaced by one that goes on with the next; one that hangs is ended.
"""

import os
import re
import select
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from kernels.measure.sanitizer import finding, reports
from tests.microscope.counters import REPOSITORY

SHARE = 8  # kernels a process: few enough that a crash costs little
SILENCE = 30  # seconds without a word after which a process is taken to hang


# ------------------------------------------------------------------------------- in the sandbox
def worker(numbers: list[int], launch) -> None:
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


def sandbox(tool: str, numbers: list[int], module: str) -> tuple[str, dict[int, str]]:
    """Run a share of the kernels under one tool; its whole output and how each launch ended.

    A kernel that ends its process, or hangs, is tried once more in a process of its own.
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
        ends |= {int(n): how for n, how in re.findall(r"^@end (\d+) (.*)$", heard, re.M)}
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
    """What the tool said of each kernel: ``{number: {finding: times}}``.

    A report names the kernel, and the kernel's name carries its number.
    """
    found: dict[int, Counter] = {}
    for report in reports(text):
        name = re.search(r"mutant_(\d+)", "\n".join(report))
        if name:
            found.setdefault(int(name[1]), Counter())[finding(report)] += 1
    return found


def record(tool: str, numbers: list[int], processes: int, module: str) -> dict[int, dict]:
    """One tool's verdict on every kernel, several processes at a time.

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

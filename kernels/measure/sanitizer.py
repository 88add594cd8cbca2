"""compute-sanitizer: run the broken kernels under each of its tools, and read what it says.

``python -m kernels.measure.sanitizer NAME`` launches one of them; that is what the tools watch.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from kernels.backend import cuda
from kernels.basics.files import ROOT
from kernels.measure.broken import CASES

__all__ = ["TOOLS", "SanitizerError", "finding", "reports", "verdict", "verdicts"]

TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
SECONDS = 60  # after which a launch under a tool is taken to hang


class SanitizerError(RuntimeError):
    """compute-sanitizer is missing or does not run: one line says."""


def verdicts() -> list[dict[str, Any]]:
    """Every broken kernel under every tool, several processes at a time.

    Returns
    -------
    list of dict
        Rows for a record's table ``sanitizer``: ``kernel``, ``tool``, how it ``end``-ed ("right",
        "wrong", or the error), the ``findings`` and how often each, and the ``lines`` they name.

    Raises
    ------
    SanitizerError
        Without compute-sanitizer, or where it does not run.
    """
    if shutil.which("compute-sanitizer") is None:
        raise SanitizerError("compute-sanitizer is not on PATH: it comes with the CUDA toolkit")
    pairs = [(name, tool) for name in CASES for tool in TOOLS]
    with ThreadPoolExecutor(min(16, os.cpu_count() or 2)) as pool:
        return list(pool.map(lambda pair: verdict(*pair), pairs))


def verdict(name: str, tool: str) -> dict[str, Any]:
    """One broken kernel under one tool."""
    command = ["compute-sanitizer", "--tool", tool, sys.executable, "-m", __name__, name]
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS,
            env={**os.environ, "KERNELS_BACKEND": "gpu"},
        )  # fmt: skip
        text = done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return {"kernel": name, "tool": tool, "end": "hung", "findings": {}, "lines": []}
    if f"@launch {name}" not in text:
        last = text.strip().splitlines()[-1:] or ["no output"]
        raise SanitizerError(f"compute-sanitizer --tool {tool} did not run: {last[0][:200]}")
    ended = re.search(r"^@end (.*)$", text, re.M)
    about = [report for report in reports(text) if name in "\n".join(report)]
    lines = {int(line) for report in about for line in _lines(report)}
    return {
        "kernel": name, "tool": tool, "end": ended[1] if ended else "stopped",
        "findings": dict(sorted(Counter(map(finding, about)).items())), "lines": sorted(lines),
    }  # fmt: skip


def reports(text: str) -> Iterator[list[str]]:
    """The reports in a tool's output, each as its lines.

    A report is a run of lines that begin with ``=========``, parted from the next by a bare one.
    """
    report: list[str] = []
    for line in text.splitlines():
        if not line.startswith("========="):
            continue
        words = line.lstrip("=").rstrip()
        if report and (not words.strip() or re.match(r" \S", words)):
            yield report
            report = []
        if words.strip():
            report.append(words)
    if report:
        yield report


def finding(report: list[str]) -> str:
    """A report in a few words: the heading without addresses, kernel names and places."""
    heading = report[0].strip()
    if "Race reported" in heading:
        level = heading.split(":")[0]
        ways = re.findall(r"(Read|Write) access", "\n".join(report))
        return f"{level}: race {' and '.join(dict.fromkeys(w.lower() for w in ways))}"
    return re.sub(r"\s+(at|by) .*$", "", heading)


def _lines(report: list[str]) -> list[str]:
    """Lines of the kernel's file that a report names for the device's side."""
    device = "\n".join(report).partition("Host Frame")[0].partition("host backtrace")[0]
    return re.findall(r"broken\.py:(\d+)", device)


# What the tools watch -----------------------------------------------------------------------


def launch(name: str) -> str:
    """Launch one broken kernel on the GPU; say whether its numbers were right."""
    case = CASES[name]
    kernel = cuda.jit(case.function, lineinfo=True)
    a = cuda.to_device(case.a())
    out = cuda.device_array(case.outputs, np.float32)
    if name != "never_cleared":
        out.copy_to_device(np.full(case.outputs, np.nan, np.float32))
    print(f"@launch {name}", flush=True)
    kernel[case.blocks, 64](a, out)
    cuda.synchronize()
    right = np.array_equal(out.copy_to_host(), case.expected(case.a()))
    return "right" if right else "wrong"


if __name__ == "__main__":
    try:
        told = launch(sys.argv[1])
    except Exception as error:
        told = " ".join(f"{type(error).__name__}: {error}".split())[:120]
    print(f"@end {told}", flush=True)

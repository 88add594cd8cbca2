"""Hardware counters: run a command under Nsight Compute and read what it counted."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kernels.records.counters import Launch

__all__ = ["ProfilerError", "missing", "parse", "profile"]


class ProfilerError(RuntimeError):
    """Nsight Compute is missing, may not read counters, or counted nothing: one line says."""


def missing() -> str:
    """Say what keeps counters from being read here; empty if nothing obvious does."""
    return "" if shutil.which("ncu") else "ncu (Nsight Compute) is not on PATH"


def profile(
    command: Sequence[str],
    metrics: Sequence[str],
    kernels: str = "",
    folder: Path | None = None,
    *,
    marked: bool = False,
    timeout: float = 600,
) -> list[Launch]:
    """Run a command under the profiler, with the clocks left as they are.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    metrics : sequence of str
        Names as ``ncu --query-metrics`` lists them; those this version does not know are left out.
    kernels : str
        Regular expression that the compiled name of a profiled kernel matches somewhere; empty
        profiles all.
    folder : Path, optional
        Where the command runs.
    marked : bool
        Profile only what the program launches between ``cudaProfilerStart`` and
        ``cudaProfilerStop``.
    timeout : float
        Seconds after which the command is given up.

    Returns
    -------
    list of Launch
        In the order of the launches.

    Raises
    ------
    ProfilerError
        If there is no ncu, counters are not permitted, or the command fails or hangs.
    """
    if missing():
        raise ProfilerError(f"{missing()}: it comes with the CUDA toolkit")
    asked = list(metrics)
    chosen = ["-k", f"regex:{kernels}"] if kernels else []
    chosen += ["--profile-from-start", "off"] if marked else []
    while True:
        with tempfile.TemporaryDirectory() as temporary:
            log = Path(temporary, "ncu.csv")
            try:
                done = subprocess.run(
                    ["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--print-units",
                     "base", "--metrics", ",".join(asked), *chosen, "--log-file", str(log),
                     *command],
                    cwd=folder, capture_output=True, text=True, timeout=timeout,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                raise ProfilerError(f"ncu was not done after {timeout:.0f} s: use less") from None
            text = log.read_text(encoding="utf-8") if log.exists() else ""
        said = text + done.stdout + done.stderr
        unknown = [name for name in asked if _unknown(name, said)]
        if not unknown or len(unknown) == len(asked):
            break
        asked = [name for name in asked if name not in unknown]
    if "ERR_NVGPUCTRPERM" in said:
        raise ProfilerError(
            "this machine does not let users read GPU counters (ERR_NVGPUCTRPERM): ask its"
            " administrator, or read the recorded counters"
        )
    if done.returncode:
        last = said.strip().splitlines()[-1:] or ["no output"]
        raise ProfilerError(f"ncu ended with {done.returncode}: {last[0][:200]}")
    return parse(text)


def _unknown(name: str, said: str) -> bool:
    pattern = rf"^==.*(?:fail|unknown|invalid|not).*{re.escape(name)}(?![\w.])"
    return re.search(pattern, said, re.IGNORECASE | re.MULTILINE) is not None


def parse(text: str) -> list[Launch]:
    """Read the profiler's raw CSV.

    Lines before the table (``==PROF== …``) and the row of units are skipped; a metric that could
    not be read ("n/a" or empty) is left out.

    Raises
    ------
    ProfilerError
        If there is no table.
    """
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        raise ProfilerError("the profiler counted nothing: no kernel of that name was launched")
    launches = []
    for row in csv.DictReader(lines[start:]):
        if (row["ID"] or "").isdigit():
            named = {name: value for name, value in row.items() if "__" in (name or "")}
            values = {name: _number(value) for name, value in named.items() if _readable(value)}
            grid = tuple(map(int, re.findall(r"\d+", row.get("Grid Size") or "")))
            launches.append(Launch(row["Kernel Name"], values, grid))
    return launches


def _readable(value: str | None) -> bool:
    return bool(value) and re.fullmatch(r"[\d,]+(\.\d+)?", value) is not None


def _number(value: str) -> float:
    found = float(value.replace(",", ""))
    return int(found) if found.is_integer() else found

"""Hardware counters: run a command under Nsight Compute and read what it counted."""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from kernels.backend import cuda, cupy
from kernels.basics.files import ROOT
from kernels.records.counters import COUNTS, LARGEST, SHARES, ProfiledLaunch

__all__ = [
    "ProfilerError", "add_counts", "details", "launch_marked", "missing", "parse", "profile",
]  # fmt: skip


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
) -> list[ProfiledLaunch]:
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
    asked = list(metrics)
    while True:
        wanted = ["--csv", "--page", "raw", "--print-units", "base", "--metrics", ",".join(asked)]
        code, text, said = _run(command, wanted, kernels, folder, marked, timeout)
        unknown = [name for name in asked if _unknown(name, said)]
        if not unknown or len(unknown) == len(asked):
            break
        asked = [name for name in asked if name not in unknown]
    _check(code, said)
    return parse(text)


def details(
    command: Sequence[str],
    kernels: str = "",
    folder: Path | None = None,
    *,
    marked: bool = False,
    timeout: float = 600,
) -> str:
    """Run a command under ``ncu --set full``; return the profiler's own report, as it prints it.

    Parameters, errors : as in `profile`.

    Returns
    -------
    str
        A header for each launch, then its sections: tables with units, and the profiler's advice.
    """
    code, text, said = _run(command, ["--set", "full"], kernels, folder, marked, timeout)
    _check(code, said)
    return text


def add_counts(
    rows: list[dict[str, Any]], module: str, table: str, names: Iterable[str],
    kernels: str = "", engines: tuple[str, ...] = ("numba",),
) -> list[dict[str, Any]]:  # fmt: skip
    """Add to the rows of some engines what the profiler counts; a warning where it may not.

    Parameters
    ----------
    rows : list of dict
        Each with its ``engine`` and the number of its ``launches`` (1). They are changed.
    module, table : str
        ``python -m module table`` launches these kernels, in this order, with `launch_marked`.
    names : iterable of str
        Keys of `kernels.records.counters`: of `COUNTS`, added up over the launches of a row; of
        `SHARES`, their mean; of `LARGEST`, the most.
    kernels : str
        As in `profile`.
    engines : tuple of str

    Raises
    ------
    ProfilerError
        If another number of launches was counted.
    """
    metrics = {ours: (COUNTS | SHARES | LARGEST)[ours] for ours in names}
    counted = [row for row in rows if row["engine"] in engines]
    expected = sum(row.get("launches", 1) for row in counted)
    try:
        command = [sys.executable, "-m", module, table]
        asked = list(metrics.values())
        launches = profile(command, asked, kernels=kernels, folder=ROOT, marked=True)
    except ProfilerError as error:
        warnings.warn(f"no hardware counters: {error}", stacklevel=2)
        return rows
    if len(launches) != expected:
        raise ProfilerError(f"expected {expected} launches, counted {len(launches)}")
    rest = iter(launches)
    for row in counted:
        own = [next(rest).metrics for _ in range(row.get("launches", 1))]
        for ours, name in metrics.items():
            if all(name in one for one in own):
                found = [one[name] for one in own]
                if ours in COUNTS:
                    row[ours] = sum(found)
                else:
                    row[ours] = max(found) if ours in LARGEST else sum(found) / len(found) / 100
    return rows


def launch_marked(launches: Iterable[Callable[[], object]]) -> None:
    """Call each twice, the second time between the marks that `profile` looks for."""
    for launch in launches:
        launch()  # the first compiles
        cuda.synchronize()
        cupy.cuda.runtime.profilerStart()
        launch()
        cuda.synchronize()
        cupy.cuda.runtime.profilerStop()


def _run(
    command: Sequence[str],
    wanted: Sequence[str],
    kernels: str,
    folder: Path | None,
    marked: bool,
    timeout: float,
) -> tuple[int, str, str]:
    """Run a command under the profiler: its exit code, its report, and all that was said."""
    if missing():
        raise ProfilerError(f"{missing()}: it comes with the CUDA toolkit")
    chosen = ["-k", f"regex:{kernels}"] if kernels else []
    chosen += ["--profile-from-start", "off"] if marked else []
    with tempfile.TemporaryDirectory() as temporary:
        log = Path(temporary, "ncu.txt")
        try:
            done = subprocess.run(
                ["ncu", "--clock-control", "none", *wanted, *chosen, "--log-file", str(log),
                 *command],
                cwd=folder, capture_output=True, text=True, timeout=timeout,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise ProfilerError(f"ncu was not done after {timeout:.0f} s: use less") from None
        text = log.read_text(encoding="utf-8") if log.exists() else ""
    return done.returncode, text, text + done.stdout + done.stderr


def _check(code: int, said: str) -> None:
    """Raise ProfilerError unless the profiler ended well."""
    if "ERR_NVGPUCTRPERM" in said:
        raise ProfilerError(
            "this machine does not let users read GPU counters (ERR_NVGPUCTRPERM): ask its"
            " administrator, or read the recorded counters"
        )
    if code:
        last = said.strip().splitlines()[-1:] or ["no output"]
        raise ProfilerError(f"ncu ended with {code}: {last[0][:200]}")


def _unknown(name: str, said: str) -> bool:
    pattern = rf"^==.*(?:fail|unknown|invalid|not).*{re.escape(name)}(?![\w.])"
    return re.search(pattern, said, re.IGNORECASE | re.MULTILINE) is not None


def parse(text: str) -> list[ProfiledLaunch]:
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
            launches.append(ProfiledLaunch(row["Kernel Name"], values, grid))
    return launches


def _readable(value: str | None) -> bool:
    return bool(value) and re.fullmatch(r"[\d,]+(\.\d+)?", value) is not None


def _number(value: str) -> float:
    found = float(value.replace(",", ""))
    return int(found) if found.is_integer() else found

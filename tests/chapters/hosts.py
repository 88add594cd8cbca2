"""Run every chapter as other machines would: `make test-hosts` (half an hour; not in `make test`).

No stored output may depend on the machine. So the chapters run with the kernels that OpenBLAS has
for other processors, without the vector instructions that NumPy can do without, with one BLAS
thread and two, in other locales and time zones, and with every Python between the oldest and the
newest supported that `PATH` has. Prints a table: a row a machine, a column a chapter, and in it the
number of cells that printed something else than is stored.
"""

from __future__ import annotations

import argparse
import locale
import os
import platform
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

from authoring.notebooks import chapters
from book import env
from kernels.basics.files import ROOT
from kernels.lab.pages import is_deeper
from tests.chapters.compare import compare

ARM = platform.machine().lower() in ("arm64", "aarch64")
#: OpenBLAS' names of processors, oldest first, and what NumPy calls the instructions they need.
X86 = {"Prescott": "SSE3", "Nehalem": "SSE42", "Sandybridge": "AVX", "Haswell": "AVX2"}
X86 |= {"SkylakeX": "AVX512F"}
NEEDS = {"ARMV8": "ASIMD", "NEOVERSEN1": "ASIMDDP"} if ARM else X86
#: Adds up one product of matrices and one array, and prints what came out to the last bit.
SUMS = """
import hashlib, numpy as np
A, B = np.random.default_rng(0).random((2, 300, 300))
parts = (A @ B, (A @ B[0]), A.sum(), A.sum(axis=0))
print(hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()[:6])
"""


@dataclass(frozen=True)
class Host:
    """A machine to play.

    Attributes
    ----------
    name : str
        As the table shows it.
    environment : dict
        The environment variables that make this machine behave like it.
    python : str
        The interpreter, one that has what the tests need.
    """

    name: str
    environment: dict[str, str] = field(default_factory=dict)
    python: str = sys.executable


#: The instruction sets that this machine has, and those that NumPy can be told to do without.
HAS = {name for name, here in __cpu_features__.items() if here}
OPTIONAL = [name for name in __cpu_dispatch__ if name in HAS]
CORES = [name for name, needed in NEEDS.items() if needed in HAS]


def core(name: str, threads: int) -> dict[str, str]:
    """What makes OpenBLAS take the kernels of another processor."""
    return {"OPENBLAS_CORETYPE": name, "OPENBLAS_NUM_THREADS": str(threads)}


#: What keeps NumPy to the instructions that every processor has.
PLAIN = {"NPY_DISABLE_CPU_FEATURES": " ".join(OPTIONAL)}
#: The oldest and the newest processor that this machine can play.
EXTREMES = (
    Host(f"{CORES[0]}, no vectors, 1 thread", core(CORES[0], 1) | PLAIN),
    Host(f"{CORES[-1]}, 2 threads", core(CORES[-1], 2)),
)


def speaks(name: str) -> bool:
    """Whether the machine has a locale."""
    before = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, name)
    except locale.Error:
        return False
    locale.setlocale(locale.LC_ALL, before)
    return True


def hosts() -> list[Host]:
    """All that this machine can play, with its own Python."""
    found = [Host("this machine"), *EXTREMES, Host("NumPy without vectors", PLAIN)]
    found += [Host(f"OpenBLAS for {name}", core(name, 1)) for name in CORES]
    found += [Host("locale C, Tonga's time", {"LC_ALL": "C", "TZ": "Pacific/Tongatapu"})]
    german = "de_DE.UTF-8"
    if speaks(german):
        settings = {"LC_ALL": german, "LANGUAGE": "de", "TZ": "Asia/Kolkata"}
        found.append(Host("German, India's time", settings))
    else:
        print(f"left out: the machine has no locale {german}", file=sys.stderr)
    return found


def pythons(folder: Path) -> list[Host]:
    """The other supported Pythons on `PATH`, each with an environment of its own in `folder`."""
    found = []
    for minor in range(env.OLDEST[1], env.NEWEST[1] + 1):
        name = f"python3.{minor}"
        if minor == sys.version_info.minor:
            continue
        if env.version_of(name) is None:
            print(f"left out: no {name} on PATH", file=sys.stderr)
            continue
        code = "import sys; print(sys.executable)"
        made = subprocess.run(
            [shutil.which(name), str(ROOT / "book" / "env.py"), "--test", "-c", code],
            env={**os.environ, "TILE_VENV": str(folder / name)},
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        found.append(Host(f"Python 3.{minor}", python=made.stdout.split()[-1]))
    return found


def sums(host: Host) -> str:
    """Six digits that change when NumPy's sums do."""
    done = subprocess.run(
        [host.python, "-W", "ignore", "-c", SUMS],
        env={**os.environ, **host.environment},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout.strip()


def short(path: Path) -> str:
    """``"04"`` for the core page of chapter 4, ``"04+"`` for a deeper one."""
    return path.stem[:2] + "+" * is_deeper(path.stem)


def main(arguments: list[str]) -> int:
    """Run them all, print the table, and return 1 if any cell differs."""
    parser = argparse.ArgumentParser(prog="make test-hosts", description=__doc__.split("\n")[0])
    parser.add_argument("--chapter", help="only this one: 08")
    parser.add_argument("--host", default="", help="only those whose name contains this")
    parser.add_argument("--folder", type=Path, default=ROOT / "_build", help="where Pythons go")
    parser.add_argument("-n", type=int, default=os.cpu_count(), help="how many at a time")
    options = parser.parse_args(arguments)

    paths = chapters(options.chapter)
    played = [*hosts(), *pythons(options.folder)]
    played = [host for host in played if options.host.lower() in host.name.lower()]
    wide = max(len(host.name) for host in played)
    print(f"{'':{wide}}  sums  ", *(f"{short(path):>4}" for path in paths), flush=True)
    different = []
    with ThreadPoolExecutor(options.n) as pool:
        runs = [[pool.submit(compare, p, h.environment, python=h.python) for p in paths]
                for h in played]  # fmt: skip
        for host, row in zip(played, runs, strict=True):
            results = [run.result() for run in row]
            shown = [0 if one.right else len(one.cells) or "?" for one in results]
            print(f"{host.name:{wide}}  {sums(host)}", *(f"{n:>4}" for n in shown), flush=True)
            for path, one in zip(paths, results, strict=True):
                if not one.right:
                    cells = ", ".join(one.cells) or one.told[-2000:]
                    different.append(f"{host.name}: {path.stem}: {cells}")
    print("", *different or ["Every chapter prints on each of them what it stores."], sep="\n")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

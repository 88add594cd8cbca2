"""Write the hashed locks in `locks/` from `pyproject.toml`: `make lock` (needs uv).

What a lock pins stays as it is while `pyproject.toml` allows it; `make lock ARGS=--upgrade` takes
the newest of everything. One lock serves Linux, macOS and Windows with Python 3.11 to 3.14. All
but the CUDA 12 lock are resolved under the pins of the widest one, so that the tests run what the
reader runs. The locks of Colab's images come from dependency groups, since Colab's versions are
not the course's.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "locks"
LOCKS = {
    "course.lock": [],
    "cuda12.lock": ["cuda12"],
    "cuda13.lock": ["cuda13"],
    "test.lock": ["test"],
}
GROUPS = {"colab.lock": "colab", "colab-cpu.lock": "colab-cpu"}


def resolve(output: Path, *wanted: str) -> None:
    """Resolve what uv's options ask of `pyproject.toml` into one hashed lock without addresses.

    Parameters
    ----------
    output : Path
        Where to write it; the pins of a file that is there already are kept where they can be.
    wanted : str
        Options and arguments of `uv pip compile`.
    """
    command = ["uv", "pip", "compile", *wanted, "--universal", "--python-version", "3.11"]
    command += [
        "--generate-hashes",
        "--no-emit-index-url",
        "--no-annotate",
        "--no-header",
        "--quiet",
    ]
    if subprocess.run([*command, "--output-file", str(output)], cwd=ROOT).returncode:
        sys.exit(f"{output.name} could not be resolved; the locks are as they were")


def main(upgrade: bool = False) -> None:
    """Resolve every lock, then replace them together."""
    if not shutil.which("uv"):
        sys.exit("make lock needs uv: `pip install uv`, then again")
    with tempfile.TemporaryDirectory() as folder:
        course = ("pyproject.toml",)
        widest = Path(folder, "all.lock")
        if not upgrade:
            for name in (*LOCKS, *GROUPS):
                shutil.copy(FOLDER / name, folder)
            pins = [Path(folder, name).read_text("utf-8") for name in ("cuda13.lock", "test.lock")]
            widest.write_text("".join(pins), encoding="utf-8")
        resolve(widest, *course, "--extra=cuda13", "--extra=test")
        for name, extras in LOCKS.items():
            pins = () if "cuda12" in extras else (f"--constraints={widest}",)
            resolve(Path(folder, name), *course, *(f"--extra={extra}" for extra in extras), *pins)
        for name, group in GROUPS.items():
            resolve(Path(folder, name), f"--group={group}")
        titles = {
            name: [f"the extra {extra!r}" for extra in extras] for name, extras in LOCKS.items()
        }
        titles |= {name: [f"the group {group!r}"] for name, group in GROUPS.items()}
        for name, parts in titles.items():
            title = " with ".join([f"# {name}: written by `make lock`", *parts])
            text = Path(folder, name).read_text(encoding="utf-8")
            (FOLDER / name).write_bytes(f"{title}\n{text}".encode())


if __name__ == "__main__":
    main(upgrade=sys.argv[1:] == ["--upgrade"])

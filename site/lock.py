"""Write the hashed locks from `pyproject.toml`: `make lock` (needs uv).

One lock serves Linux, macOS and Windows with Python 3.11 to 3.13. All but the CUDA 12 lock are
resolved under the pins of the widest one, so that the tests run what the reader runs. The locks
of Colab's images come from dependency groups, since Colab's versions are not the course's.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCKS = {
    "requirements.lock": [],
    "requirements-cuda12.lock": ["cuda12"],
    "requirements-cuda13.lock": ["cuda13"],
    "requirements-test.lock": ["test"],
}
GROUPS = {"requirements-colab.lock": "colab", "requirements-colab-cpu.lock": "colab-cpu"}


def resolve(output: Path, *wanted: str) -> None:
    """Resolve what uv's options ask of `pyproject.toml` into one hashed lock without addresses."""
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


def main() -> None:
    """Resolve every lock, then replace them together."""
    if not shutil.which("uv"):
        sys.exit("make lock needs uv: `pip install uv`, then again")
    with tempfile.TemporaryDirectory() as folder:
        course = ("pyproject.toml",)
        widest = Path(folder, "all.lock")
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
            (ROOT / name).write_bytes(f"{title}\n{text}".encode())


if __name__ == "__main__":
    main()

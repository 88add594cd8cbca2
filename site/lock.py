"""Write the hashed locks from `pyproject.toml`: `make lock` (needs uv).

One lock serves Linux, macOS and Windows with Python 3.11 to 3.13. All but the CUDA 12 lock are
resolved under the pins of the widest one, so that the tests run what the reader runs.
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


def resolve(output: Path, extras: list[str], constraints: Path | None = None) -> None:
    """Resolve `pyproject.toml` with some extras into one hashed lock, free of index addresses."""
    command = ["uv", "pip", "compile", "pyproject.toml", "--universal", "--python-version", "3.11"]
    command += [
        "--generate-hashes",
        "--no-emit-index-url",
        "--no-annotate",
        "--no-header",
        "--quiet",
    ]
    command += [part for extra in extras for part in ("--extra", extra)]
    command += ["--constraints", str(constraints)] if constraints else []
    if subprocess.run([*command, "--output-file", str(output)], cwd=ROOT).returncode:
        sys.exit(f"{output.name} could not be resolved; the locks are as they were")


def main() -> None:
    """Resolve every lock, then replace them together."""
    if not shutil.which("uv"):
        sys.exit("make lock needs uv: `pip install uv`, then again")
    with tempfile.TemporaryDirectory() as folder:
        widest = Path(folder, "all.lock")
        resolve(widest, ["cuda13", "test"])
        for name, extras in LOCKS.items():
            resolve(Path(folder, name), extras, None if "cuda12" in extras else widest)
        for name, extras in LOCKS.items():
            title = f"# {name}: written by `make lock`"
            title += f" with the extra {extras[0]!r}" if extras else ""
            text = Path(folder, name).read_text(encoding="utf-8")
            (ROOT / name).write_bytes(f"{title}\n{text}".encode())


if __name__ == "__main__":
    main()

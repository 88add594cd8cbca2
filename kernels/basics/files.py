"""Files: written whole or not at all, known by what is in them, and named after a GPU."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

__all__ = ["ROOT", "check_folder", "digest", "replace_text", "slug"]


#: The folder of the course: of ``kernels/``, ``chapters/``, ``book/``.
ROOT = Path(__file__).resolve().parents[2]


def slug(gpu: str) -> str:
    """The file name of a GPU: ``"NVIDIA H200"`` is ``"h200"``, ``"Tesla T4"`` is ``"t4"``."""
    words = re.findall(r"[a-z0-9]+", gpu.lower())
    return "-".join(word for word in words if word not in {"nvidia", "tesla", "geforce"})


def check_folder(path: Path) -> None:
    """Make a folder if it is missing; OSError, in one line, if no file can be made in it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()
    except OSError as error:
        raise OSError(
            f"cannot write to the folder {path} ({error.strerror}): name another, or allow it"
        ) from None


def digest(files: Iterable[Path]) -> str:
    """A short hash of what is in the files, in their order."""
    parts = (hashlib.sha256(file.read_bytes()).digest() for file in files)
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


def replace_text(path: Path, text: str) -> None:
    """Replace a file's text atomically, with Unix newlines."""
    check_folder(path.parent)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        # mkstemp makes files private; a tracked file is not.
        os.chmod(temporary, path.stat().st_mode & 0o777 if path.exists() else 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise

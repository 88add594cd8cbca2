"""Files that are written whole or not at all, and what a GPU's own file is called."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

__all__ = ["check_folder", "replace_text", "slug"]


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

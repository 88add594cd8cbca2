"""One run on all GPUs at a time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows has no such locks; there a second run is not noticed
    fcntl = None  # type: ignore[assignment]

__all__ = ["alone"]

#: The file, while this process itself holds the GPUs: what it calls may use them.
_held: list[Any] = []


def lock_file() -> Path:
    """The file whose lock a run holds."""
    return Path(tempfile.gettempdir()) / f"kernels-gpus-{os.environ.get('USER', 'user')}.lock"


@contextmanager
def alone() -> Iterator[None]:
    """Hold the GPUs of this machine; the system lets go of them when the process ends.

    Raises
    ------
    RuntimeError
        In one line, if another process of this user holds them.
    """
    if fcntl is None or _held:
        yield
        return
    with open(lock_file(), "a+", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise RuntimeError(
                f"another run uses the GPUs (process {holder}): wait until it ends, or end it"
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        _held.append(file)
        try:
            yield
        finally:
            file.truncate(0)
            _held.clear()

"""Archives that are the same bytes for the same files."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable


def archive(files: Iterable[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """One zip file."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as made:
        for name, data in files:
            entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
            made.writestr(entry, data, method, 9)
    return packed.getvalue()


def slim(packed: bytes, without: re.Pattern[str]) -> bytes:
    """A wheel, or another archive, without the files of some names."""
    with zipfile.ZipFile(io.BytesIO(packed)) as files:
        kept = [name for name in files.namelist() if not without.search(name) and name[-1] != "/"]
        return archive((name, files.read(name)) for name in kept)

"""Tile sizes that `python -m kernels tune` found on this machine, kept in one file per GPU.

The files are the reader's own. They lie in the course's folder (`kernels.basics.application`), or
in the one that ``KERNELS_TUNED`` names. A rung that is called without options takes those found
here for its language, its number format and the class of its shape; options that are given always
win.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from math import log2
from pathlib import Path
from time import monotonic
from typing import Any

from kernels.backend import on_gpu
from kernels.backend.device import device
from kernels.basics.application import application_folder
from kernels.basics.files import replace_text, slug

__all__ = [
    "Stamp",
    "Tuned",
    "TunedError",
    "folder",
    "known",
    "options",
    "path",
    "read",
    "shape_class",
    "stamp",
    "write",
]

FORMAT = 1
#: Sizes outside are classed with these: smaller and larger matrices behave alike.
SMALLEST, LARGEST = 64, 16384


class TunedError(ValueError):
    """A file of tuned options that is no such file, or not this GPU's; one line says which."""


@dataclass(frozen=True)
class Tuned:
    """What was found best for one rung, language, number format and class of shapes.

    Attributes
    ----------
    rung, engine, dtype : str
    shape : str
        The class, as `shape_class` names it.
    options : dict of str to int
    size : list of int
        M, N and K that were measured.
    seconds, default_seconds : float
        Median time of these options, and of the rung's defaults in the same search.
    tried : int
        How many sets of options were measured.
    provenance : dict
        GPU, driver, versions and date.
    """

    rung: str
    engine: str
    dtype: str
    shape: str
    options: dict[str, int]
    size: list[int]
    seconds: float
    default_seconds: float
    tried: int
    provenance: dict[str, Any]

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What the options are for."""
        return self.rung, self.engine, self.dtype, self.shape


def folder() -> Path:
    """The folder of the files: the reader's own, or what ``KERNELS_TUNED`` names."""
    named = os.environ.get("KERNELS_TUNED")
    return Path(named) if named else application_folder() / "tuned"


def path(gpu: str | None = None) -> Path:
    """The file of a GPU, by default of the one here."""
    return folder() / f"{slug(gpu or device().name)}.json"


def shape_class(M: int, N: int, K: int) -> str:
    """The class of a shape: each size rounded to a power of two, such as ``"128x8192x8192"``."""
    return "x".join(str(min(max(2 ** round(log2(n)), SMALLEST), LARGEST)) for n in (M, N, K))


def read(file: Path, gpu: str) -> list[Tuned]:
    """What a file holds for a GPU; nothing if there is no such file.

    Raises
    ------
    TunedError
        For half a file, a file of something else, or one of another GPU.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise TunedError(f"{file} cannot be read ({error}): delete it and tune again") from None
    try:
        held = json.loads(text)
    except ValueError as error:
        raise TunedError(f"{file} is not whole JSON ({error}): delete it and tune again") from None
    if not isinstance(held, dict) or held.get("format") != FORMAT:
        raise TunedError(
            f"{file} holds no tuned options of format {FORMAT}: delete it and tune again"
        )
    if held.get("gpu") != gpu:
        raise TunedError(
            f"{file} was tuned on {held.get('gpu')!r}, and this GPU is {gpu!r}: "
            "delete it and tune here"
        )
    try:
        return [_checked(entry) for entry in held["tuned"]]
    except (KeyError, TypeError, ValueError) as error:
        raise TunedError(
            f"{file} holds an entry that tune did not write ({_line(error)}): "
            "delete it and tune again"
        ) from None


def _checked(entry: Mapping[str, Any]) -> Tuned:
    """An entry, its types looked at: what comes from a file may hold anything."""
    found = Tuned(**entry)
    wrong = [name for name in ("rung", "engine", "dtype", "shape") if type(getattr(found, name))
             is not str]  # fmt: skip
    if wrong:
        raise ValueError(f"{wrong[0]} is not text")
    if type(found.options) is not dict or not all(
        type(name) is str and type(value) is int for name, value in found.options.items()
    ):
        raise ValueError("options are not whole numbers by name")
    if shape_class(*found.size) != found.shape:
        raise ValueError(f"size {found.size} is not of class {found.shape}")
    if not 0 < found.seconds < 3600 or type(found.provenance) is not dict:
        raise ValueError(f"seconds are {found.seconds}")
    return found


def _line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:160]


def write(found: Tuned, gpu: str) -> Path:
    """Store what was found for a GPU beside what its file holds; the same key is replaced."""
    file = path(gpu)
    kept = {entry.key: entry for entry in read(file, gpu)} | {found.key: found}
    text = {"format": FORMAT, "gpu": gpu, "tuned": [asdict(entry) for entry in kept.values()]}
    replace_text(file, json.dumps(text, indent=1, ensure_ascii=False) + "\n")
    global _looked
    _looked = 0.0, None
    return file


def options(rung: str, engine: str, dtype: str, M: int, N: int, K: int) -> dict[str, int]:
    """The options tuned for this GPU, empty if there are none."""
    wanted = (rung, engine, dtype, shape_class(M, N, K))
    return next((dict(entry.options) for entry in known() if entry.key == wanted), {})


def known() -> tuple[Tuned, ...]:
    """All that was tuned on this GPU; a file that is none is left out with a warning, once."""
    if not on_gpu:
        return ()
    found = stamp()
    return _read_once(found, device().name) if found else ()


#: The name of a file, when it was last written (in nanoseconds), and its bytes.
Stamp = tuple[str, int, int] | None


#: Seconds for which the file and its place count as unchanged: to look costs more than a launch.
LOOK_AGAIN = 0.2
#: Until when the answer holds, and the answer.
_looked: tuple[float, Stamp] = 0.0, None


def stamp() -> Stamp:
    """What changes with the file of this GPU's options; None while there is no such file.

    Whoever keeps something that follows from the options keeps it with this.
    """
    global _looked
    if not on_gpu:
        return None
    until, found = _looked
    if monotonic() < until:
        return found
    file = _file(os.environ.get("KERNELS_TUNED"), device().name)
    try:
        about = os.stat(file)
        found = file, about.st_mtime_ns, about.st_size
    except OSError:
        found = None
    _looked = monotonic() + LOOK_AGAIN, found
    return found


@lru_cache(maxsize=4)
def _file(folder: str | None, gpu: str) -> str:
    """The name of a GPU's file, found once: every product asks whether it has changed."""
    return str(path(gpu))


@lru_cache(maxsize=4)
def _read_once(stamp: tuple[str, int, int], gpu: str) -> tuple[Tuned, ...]:
    """What a file holds, read again when it changes."""
    try:
        return tuple(read(Path(stamp[0]), gpu))
    except TunedError as error:
        warnings.warn(f"tuned options are left out: {error}", stacklevel=4)
        return ()

"""The folder where the operating system keeps what this course stores for its reader."""

from pathlib import Path

from platformdirs import user_data_path

__all__ = ["application_folder"]


def application_folder() -> Path:
    """``~/.local/share/tile-by-tile`` on Linux, and what macOS and Windows have instead."""
    return user_data_path("tile-by-tile", appauthor=False)
